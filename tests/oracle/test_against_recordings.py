"""The oracle against the real Kueue: candidates in order, and every set that it would accept."""

import pytest

from tests import recorded
from tests.conftest import TEST_ALL
from tests.oracle.cluster import Cluster, UnsupportedError
from tests.oracle.greedy import kueue
from tests.oracle.objectives import legal_sets
from tests.oracle.question import Question, ask

FILES = {
    "small-classical-flat": 0.8,
    "small-classical-nocohort": 0.8,
    "small-classical-hier": 0.8,
    "small-fair-flat": 0.8,
    "small-fair-hier": 0.7,
    "small-edge": 0.5,
    "small-flavors": 0.3,
}
"""How many of the lines of a file have nothing that the oracle does not know, at least."""

EVERY = 1 if TEST_ALL else 6


CLASSICAL = [name for name in FILES if name.startswith("small-classical")]
CLASSICAL += [name.removeprefix("small-") for name in CLASSICAL]


def asked(line: recorded.Line) -> Question:
    """Put the question of a line."""
    pod_sets = line["expect"]["assignment"]["podSets"]
    flavors = {each["name"]: each["flavors"] or {} for each in pod_sets}
    cluster = Cluster(line["state"]["items"], line["now"])
    return ask(cluster, line["pending"], flavors)


@pytest.mark.parametrize("name", FILES)
def test_legal_sets_are_those_recorded(name: str) -> None:
    compared = known = 0
    for line in recorded.lines(name, EVERY):
        exhaustive = line["expect"].get("exhaustive")
        if not exhaustive or exhaustive.get("minimalOnly"):
            continue
        compared += 1
        try:
            found = legal_sets(asked(line))
        except UnsupportedError:
            continue
        known += 1
        keys = [each["workload"] for each in exhaustive["candidates"] or ()]
        assert found.keys(-1) == keys, line["id"]
        masks = {mask for each in exhaustive["attempts"] or () for mask in each["legal"] or ()}
        recorded_sets = {
            frozenset(key for bit, key in enumerate(keys) if mask >> bit & 1) for mask in masks
        }
        assert {frozenset(found.keys(mask)) for mask in found.sets} == recorded_sets, line["id"]
    assert known >= FILES[name] * compared > 0


@pytest.mark.parametrize("name", CLASSICAL)
def test_targets_are_those_recorded_in_order(name: str) -> None:
    known = 0
    for line in recorded.lines(name, EVERY):
        if line["expect"]["assignment"]["mode"] != "Preempt":
            continue
        try:
            targets = kueue(asked(line))
        except UnsupportedError:
            continue
        known += 1
        assert targets == [each["workload"] for each in line["expect"]["targets"] or ()], line["id"]
    assert known >= 10
