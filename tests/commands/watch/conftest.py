"""The cluster that a watch is tested on."""

import pytest

from tests.cli.running import cluster
from tests.cluster import PENDING
from tests.commands.apply.stage import versioned
from tests.commands.watch.stage import UID, Cluster


@pytest.fixture
def kueue() -> Cluster:
    items = versioned(cluster()["items"])
    found = Cluster(items)
    found.find(PENDING)["metadata"]["uid"] = UID
    return found
