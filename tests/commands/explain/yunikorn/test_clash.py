"""The clash is one, and it is minimal by the definition of the laws."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from planner.commands.explain.yunikorn.clash import minimal_clash
from planner.laws import in_drop_order
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.solver.deadline import Deadline
from planner.solver.yunikorn.planning import Laws
from tests.commands.explain.yunikorn.relaxed import RelaxedAsk
from tests.solver.yunikorn_truth import LAWS, YuniKornTruth
from tests.yunikorn.legality import SMALL
from tests.yunikorn.recorded import lines

MOST = 7
"""Allocations of which every subset can be tried with each law dropped."""
EVERY = 3


def without_plan(name: str, laws: Laws) -> Iterator[YuniKornTruth]:
    for line in lines(name, EVERY):
        running = sum(len(each.get("allocations") or ()) for each in line["applications"])
        truth = YuniKornTruth(line, laws)
        if running <= MOST and not truth.legal:
            yield truth


def has_plan(cluster: Cluster, asking: Asking, kept: set[str]) -> bool:
    return RelaxedAsk(cluster, asking, kept).has_plan()


@pytest.mark.parametrize("laws", LAWS)
def test_clash_is_minimal_by_the_definition(laws: Laws) -> None:
    seen, compared = set(), 0
    for truth in (one for name in SMALL for one in without_plan(name, laws)):
        planning = truth.planning()
        cluster, asking, problem = planning.cluster, planning.asking, planning.problem
        rules = planning.subject.rules
        every = {law.id for law in in_drop_order(rules)} - {"YK-11"}
        assert not has_plan(cluster, asking, every), truth.id
        clash, proved = minimal_clash(problem, rules, Deadline())
        assert proved
        assert clash
        assert not has_plan(cluster, asking, clash), truth.id
        for law in clash:
            assert has_plan(cluster, asking, clash - {law}), (truth.id, clash, law)
        seen.add(frozenset(clash))
        compared += 1
    assert compared >= 10 or not SMALL
    assert len(seen) >= 4 or not SMALL


def test_laws_are_those_of_the_rule_set() -> None:
    design = {law.id for law in in_drop_order("yunikorn-design")}
    assert design == {f"YK-{number:02}" for number in range(2, 12)}
    assert design - {law.id for law in in_drop_order("yunikorn-code")} == {"YK-02", "YK-09"}
    assert {law.id for law in in_drop_order("yunikorn-required-node")} == {
        "YK-06",
        "YK-08",
        "YK-10",
        "YK-11",
    }
