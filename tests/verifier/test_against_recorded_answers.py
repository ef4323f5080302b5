"""The verifier accepts exactly what the real scheduler's own primitives accept.

Every subset of the recorded candidates is judged in every recorded attempt. By default every
third line is taken; PLANNER_TEST_ALL=1 takes them all.

The recorded sets are those after which Kueue's search ends, which does not look at pods: they are
judged without. That pods are free in the end, as Kueue's cycle asks before it evicts anybody, is
tested in tests/solver/test_pods.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import flavor_resources
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.state.kueue import State
from planner.verifier.kueue.case import Case, setting_of
from planner.verifier.kueue.plan import verify_case, verify_plan
from planner.verifier.kueue.setting import Setting
from tests import recorded
from tests.conftest import TEST_ALL
from tests.verifier.cases import victim_of

SMALL = (
    "small-classical-flat",
    "small-classical-hier",
    "small-classical-nocohort",
    "small-flavors",
    "small-edge",
)
LARGER = ("classical-flat", "classical-hier", "classical-nocohort", "flavors", "edge")
STEP = 1 if TEST_ALL else 3


def classical(name: str) -> Iterator[tuple[recorded.Line, State, Snapshot]]:
    """Yield the lines of a file in which fair sharing is off and flavors were assigned."""
    for line in recorded.lines(name, STEP):
        if "assignment" in line["expect"]:
            state = recorded.state_of(line)
            if not state.configuration.fair_sharing_on:
                extra = flavor_resources(recorded.assignment_of(line))
                yield line, state, take_snapshot(state, extra=extra)


def setting(line: recorded.Line, state: State, snapshot: Snapshot) -> Setting:
    preemptor = find_preemptor(state, snapshot, line["pending"])
    found = setting_of(snapshot, preemptor, recorded.assignment_of(line))
    return replace(found, request=found.searched)


def accepts(where: Setting, victims: tuple[Admitted, ...], *, borrowing: bool) -> bool:
    reasons = tuple(
        where.variant(victim).reason if where.in_tree(victim.queue) else "" for victim in victims
    )
    return verify_case(Case(where, borrowing, victims, reasons)).accepted


@pytest.mark.parametrize("name", SMALL)
def test_every_subset_of_the_candidates(name: str) -> None:
    judged = 0
    for line, state, snapshot in classical(name):
        if "exhaustive" not in line["expect"]:
            continue
        truth, where = line["expect"]["exhaustive"], setting(line, state, snapshot)
        by_key = {w.key: w for w in where.candidates}
        candidates = [by_key[item["workload"]] for item in truth["candidates"]]
        assert len(candidates) == len(by_key), line["id"]
        for candidate, item in zip(candidates, truth["candidates"], strict=True):
            assert where.variant(candidate).value == item["variant"], (line["id"], item)
        attempts = [attempt["borrowing"] for attempt in truth["attempts"]]
        assert list(where.attempts) == attempts, line["id"]
        for attempt in truth["attempts"]:
            legal = {
                mask
                for mask in range(1 << len(candidates))
                if accepts(where, chosen(candidates, mask), borrowing=attempt["borrowing"])
            }
            if attempt.get("minimalOnly"):
                legal = {mask for mask in legal if not any(m & mask == m for m in legal - {mask})}
            assert legal == set(attempt["legal"]), (line["id"], attempt["borrowing"])
            judged += 1
    assert judged


def chosen(candidates: list[Admitted], mask: int) -> tuple[Admitted, ...]:
    return tuple(c for position, c in enumerate(candidates) if mask >> position & 1)


@pytest.mark.parametrize("name", SMALL)
def test_no_other_workload_may_go_with_them(name: str) -> None:
    """A legal set stays legal with no workload that was not a candidate."""
    for line, state, snapshot in classical(name):
        truth = line["expect"].get("exhaustive", {"attempts": [], "candidates": []})
        where = setting(line, state, snapshot)
        keys = {item["workload"] for item in truth["candidates"]}
        held = [w for workloads in snapshot.admitted.values() for w in workloads]
        by_key = {w.key: w for w in held}
        candidates = [by_key[item["workload"]] for item in truth["candidates"]]
        for attempt in truth["attempts"]:
            for mask in attempt["legal"][:2]:
                victims = chosen(candidates, mask)
                for other in held:
                    together = (*victims, other)
                    if other.key not in keys:
                        assert not accepts(where, together, borrowing=attempt["borrowing"]), (
                            line["id"],
                            other.key,
                        )


@pytest.mark.parametrize("name", [*SMALL, *LARGER])
def test_the_schedulers_own_plans(name: str) -> None:
    """Whole plans, with Kueue's targets and reasons, are legal in an attempt Kueue makes."""
    for line, state, snapshot in classical(name):
        if not line["expect"]["targets"]:
            continue
        where = setting(line, state, snapshot)
        plans = [plan_of(line, state, where, borrowing=b) for b in where.attempts]
        judged = [verify_plan(state, plan, snapshot=snapshot) for plan in plans]
        accepted = [each for each in judged if each.accepted]
        if not accepted and "pods" in {fr.resource for fr in snapshot.tree.frs}:
            # Too few pods are free in the end: that, and nothing else, is wrong in some attempt.
            broken = [{v.law for v in each.verdicts if not v.holds} for each in judged]
            assert {"KQ-01"} in broken, line["id"]
            continue
        assert accepted, line["id"]
        for plan, verification in zip(plans, judged, strict=True):
            if not verification.accepted:
                continue
            order = verification.removal_order
            assert sorted(order) == sorted(plan.keys), line["id"]


@pytest.mark.parametrize("name", [*SMALL, *LARGER])
def test_what_the_scheduler_would_admit_at_once(name: str) -> None:
    """But for one of its defects: "Fit" although a resource needs preemption.

    Source: docs/semantics/kueue.md §4.1.
    """
    for line, state, snapshot in classical(name):
        assignment = recorded.assignment_of(line)
        if assignment.mode == "Fit":
            plan = plan_of(line, state, setting(line, state, snapshot), borrowing=None)
            verification = verify_plan(state, plan, snapshot=snapshot)
            honest = all(choice.mode == "Fit" for _, choice in assignment.choices())
            assert verification.accepted == honest, line["id"]


def plan_of(line: recorded.Line, state: State, where: Setting, *, borrowing: bool | None) -> Plan:
    return Plan(
        algorithm="kueue",
        objective="kueue",
        status="feasible",
        explanation="",
        preemptor=line["pending"],
        cluster_queue=where.snapshot.queue_name(where.queue),
        priority=where.preemptor.priority,
        now=state.now,
        assignment=recorded.assignment_of(line),
        borrowing=borrowing,
        victims=tuple(
            victim_of(state, target["workload"], target["reason"])
            for target in line["expect"]["targets"]
        ),
    )
