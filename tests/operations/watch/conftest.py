"""The cluster that a watch is tested on."""

import pytest

from tests.cli.running import cluster
from tests.cluster import PENDING
from tests.operations.kubectl.served import versioned
from tests.operations.watch.stage import UID, Cluster


@pytest.fixture
def kueue() -> Cluster:
    items = versioned(cluster()["items"])
    found = Cluster(items)
    found.find(PENDING)["metadata"]["uid"] = UID
    return found
