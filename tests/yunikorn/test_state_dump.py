"""Full state dumps of the real core, next to the instances they were made from.

A dump lacks the extra keys of docs/semantics/yunikorn.md §14: opt-outs are put back before the two
are compared.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.quota.yunikorn.cluster import find_ask, prepare
from planner.reader.yunikorn import read_yunikorn_objects
from planner.reference.yunikorn.decision import decide
from tests.conftest import recorded_root

Json = dict[str, Any]

FOLDER = (recorded_root() or Path()) / "yunikorn" / "statedump"
NAMES = sorted(path.name.removesuffix(".instance.json") for path in FOLDER.glob("*.instance.json"))
if not NAMES:
    NAMES = [pytest.param("", marks=pytest.mark.skip(reason="no state dumps here"))]  # type: ignore[list-item]


def answer(value: Json, instance: Json) -> tuple[bool, str | None, list[str]]:
    """Decide for the ask of the instance in a value, which is the instance or its dump."""
    state = read_yunikorn_objects(value, where="test", now=instance["now"])
    cluster = prepare(state)
    decision = decide(cluster, find_ask(cluster, instance["ask"]["allocationKey"]))
    return decision.triggered, decision.node, list(decision.victim_keys)


def claims_of(value: Json) -> dict[str, Json]:
    """Return all asks and allocations by key."""
    return {
        claim["allocationKey"]: claim
        for application in value["applications"]
        for part in ("allocations", "requests")
        for claim in application.get(part) or ()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_dump_decides_as_its_instance(name: str) -> None:
    instance = json.loads((FOLDER / f"{name}.instance.json").read_text())
    dump = json.loads((FOLDER / f"{name}.dump.json").read_text())
    expected = instance["expect"]
    recorded = (expected["triggered"], expected["node"], expected["victims"])
    claims = claims_of(instance)
    for key, claim in claims_of(dump).items():
        claim["x"] = claims[key]["x"]
    assert answer(instance, instance) == recorded
    assert answer(dump, instance) == recorded
    del dump["config"]
    assert answer(dump, instance) == recorded
