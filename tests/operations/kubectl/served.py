"""A cluster behind the real kubectl: objects with versions, and a configuration file."""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from planner.operations.kubectl.kueue_resource import RESOURCES
from tests.operations.kubectl.api_server import api_server
from tests.stand_in import Object

NEEDED = tuple(one for one in RESOURCES if not one.missing or one.single)
"""What a plan needs: each is a kubectl, and test_real.py has tests of all."""


def versioned(items: list[Object]) -> list[Object]:
    """Return objects as an API server has them, with a version and a place each."""
    found = copy.deepcopy(items)
    for item in found:
        item.setdefault("metadata", {})["resourceVersion"] = "1"
    return found


@contextmanager
def served(items: list[Object], folder: Path, **hooks: Any) -> Iterator[Path]:
    """Serve objects; give the configuration file with which kubectl finds the cluster."""
    with api_server(items, **hooks) as server:
        cluster = {"name": "this", "cluster": {"server": server}}
        context = {"name": "this", "context": {"cluster": "this", "user": ""}}
        whole: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster]}
        whole |= {"contexts": [context], "current-context": "this"}
        config = folder / "config"
        config.write_text(json.dumps(whole), encoding="utf-8")
        yield config
