"""Under fair sharing the verifier accepts exactly what the real scheduler's primitives accept.

Every subset of the recorded candidates is judged. By default every sixth line is taken;
PLANNER_TEST_ALL=1 takes them all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import flavor_resources
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.state.kueue import State
from planner.verifier.kueue.case import setting_of
from planner.verifier.kueue.fair_sharing import FairCase, FairSetting, fair_setting_of
from planner.verifier.kueue.plan import verify_case, verify_plan
from tests import recorded
from tests.conftest import TEST_ALL
from tests.verifier.cases import victim_of

SMALL = ("small-fair-flat", "small-fair-hier", "small-edge", "small-flavors")
LARGER = ("fair-flat", "fair-hier", "edge")
STEP = 1 if TEST_ALL else 6


def fair(name: str) -> Iterator[tuple[recorded.Line, State, FairSetting]]:
    """Yield the lines of a file in which fair sharing is on and flavors were assigned."""
    for line in recorded.lines(name, STEP):
        if "assignment" in line["expect"]:
            state = recorded.state_of(line)
            if state.configuration.fair_sharing_on:
                assignment = recorded.assignment_of(line)
                snapshot = take_snapshot(state, extra=flavor_resources(assignment))
                preemptor = find_preemptor(state, snapshot, line["pending"])
                where = setting_of(snapshot, preemptor, assignment)
                yield line, state, fair_setting_of(where)


def accepts(where: FairSetting, victims: tuple[Admitted, ...]) -> bool:
    reasons = tuple(where.reason(victim) for victim in victims)
    return verify_case(FairCase(where, True, victims, reasons)).accepted  # noqa: FBT003


def chosen(candidates: list[Admitted], mask: int) -> tuple[Admitted, ...]:
    return tuple(c for position, c in enumerate(candidates) if mask >> position & 1)


@pytest.mark.parametrize("name", SMALL)
def test_every_subset_of_the_candidates(name: str) -> None:
    judged = 0
    for line, _, where in fair(name):
        if "exhaustive" not in line["expect"]:
            continue
        truth = line["expect"]["exhaustive"]
        by_key = {w.key: w for w in where.candidates}
        candidates = [by_key[item["workload"]] for item in truth["candidates"]]
        assert len(candidates) == len(by_key), line["id"]
        assert where.stays_within_nominal == truth["withinNominal"], line["id"]
        assert [attempt["borrowing"] for attempt in truth["attempts"]] == [True], line["id"]
        legal = {
            mask for mask in range(1 << len(candidates)) if accepts(where, chosen(candidates, mask))
        }
        if truth["attempts"][0].get("minimalOnly"):
            legal = {mask for mask in legal if not any(m & mask == m for m in legal - {mask})}
        assert legal == set(truth["attempts"][0]["legal"]), line["id"]
        judged += 1
    assert judged


@pytest.mark.parametrize("name", SMALL)
def test_no_other_workload_may_go_with_them(name: str) -> None:
    """A legal set stays legal with no workload that was not a candidate."""
    for line, _, where in fair(name):
        truth = line["expect"].get("exhaustive", {"attempts": [{"legal": []}], "candidates": []})
        keys = {item["workload"] for item in truth["candidates"]}
        held = {w.key: w for found in where.snapshot.admitted.values() for w in found}
        candidates = [held[item["workload"]] for item in truth["candidates"]]
        for mask in truth["attempts"][0]["legal"][:2]:
            for other in held.values():
                if other.key not in keys:
                    together = (*chosen(candidates, mask), other)
                    assert not accepts(where, together), (line["id"], other.key)


@pytest.mark.parametrize("name", [*SMALL, *LARGER])
def test_the_schedulers_own_plans(name: str) -> None:
    """They keep every law but FS-07: fill-back does not look at shares.

    Source: docs/semantics/kueue.md §6.7.
    """
    for line, state, where in fair(name):
        if not line["expect"]["targets"]:
            continue
        verification = verify_plan(state, plan_of(line, state, where), snapshot=where.snapshot)
        failed = {verdict.law for verdict in verification.verdicts if not verdict.holds}
        assert failed <= {"FS-07"}, (line["id"], verification.verdicts)
        truth = line["expect"].get("exhaustive")
        if truth and not truth["attempts"][0].get("minimalOnly"):
            names = [item["workload"] for item in truth["candidates"]]
            mask = sum(1 << names.index(t["workload"]) for t in line["expect"]["targets"])
            assert (not failed) == (mask in truth["attempts"][0]["legal"]), line["id"]


@pytest.mark.parametrize("name", [*SMALL, *LARGER])
def test_what_the_scheduler_would_admit_at_once(name: str) -> None:
    """But for one of its defects: "Fit" although a resource needs preemption.

    Source: docs/semantics/kueue.md §4.1.
    """
    for line, state, where in fair(name):
        assignment = recorded.assignment_of(line)
        if assignment.mode == "Fit":
            plan = plan_of(line, state, where).model_copy(update={"borrowing": None})
            verification = verify_plan(state, plan, snapshot=where.snapshot)
            honest = all(choice.mode == "Fit" for _, choice in assignment.choices())
            assert verification.accepted == honest, line["id"]


def plan_of(line: recorded.Line, state: State, where: FairSetting) -> Plan:
    return Plan(
        rules="kueue-fair",
        algorithm="kueue",
        objective="kueue",
        status="feasible",
        explanation="",
        preemptor=line["pending"],
        cluster_queue=where.snapshot.queue_name(where.queue),
        priority=where.preemptor.priority,
        now=state.now,
        assignment=recorded.assignment_of(line),
        borrowing=True,
        victims=tuple(
            victim_of(state, target["workload"], target["reason"])
            for target in line["expect"]["targets"]
        ),
    )
