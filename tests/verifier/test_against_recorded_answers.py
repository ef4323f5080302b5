"""The verifier accepts exactly what the real scheduler's own primitives accept.

Every subset of the recorded candidates is judged in every recorded attempt. By default every
sixth line is taken, and under fair sharing every twelfth; PLANNER_TEST_ALL=1 takes them all.

The recorded sets are those after which Kueue's search ends, which does not look at pods: they are
judged without. That pods are free in the end, as Kueue's cycle asks before it evicts anybody, is
tested in tests/solver/test_pods.py.
"""

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
from planner.verifier.kueue.fair_sharing import FairCase, FairSetting, fair_setting_of
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
STEP = 1 if TEST_ALL else 6

SMALL_FAIR = ("small-fair-flat", "small-fair-hier", "small-edge", "small-flavors")
LARGER_FAIR = ("fair-flat", "fair-hier", "edge")
STEP_FAIR = 1 if TEST_ALL else 12


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


def fair(name: str) -> Iterator[tuple[recorded.Line, State, FairSetting]]:
    """Yield the lines of a file in which fair sharing is on and flavors were assigned."""
    for line in recorded.lines(name, STEP_FAIR):
        if "assignment" in line["expect"]:
            state = recorded.state_of(line)
            if state.configuration.fair_sharing_on:
                assignment = recorded.assignment_of(line)
                snapshot = take_snapshot(state, extra=flavor_resources(assignment))
                preemptor = find_preemptor(state, snapshot, line["pending"])
                where = setting_of(snapshot, preemptor, assignment)
                yield line, state, fair_setting_of(where)


def accepts_fairly(where: FairSetting, victims: tuple[Admitted, ...]) -> bool:
    reasons = tuple(where.reason(victim) for victim in victims)
    return verify_case(FairCase(where, True, victims, reasons)).accepted  # noqa: FBT003


@pytest.mark.parametrize("name", SMALL_FAIR)
def test_every_subset_of_the_candidates_under_fair_sharing(name: str) -> None:
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
            mask
            for mask in range(1 << len(candidates))
            if accepts_fairly(where, chosen(candidates, mask))
        }
        if truth["attempts"][0].get("minimalOnly"):
            legal = {mask for mask in legal if not any(m & mask == m for m in legal - {mask})}
        assert legal == set(truth["attempts"][0]["legal"]), line["id"]
        judged += 1
    assert judged


@pytest.mark.parametrize("name", SMALL_FAIR)
def test_no_other_workload_may_go_with_them_under_fair_sharing(name: str) -> None:
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
                    assert not accepts_fairly(where, together), (line["id"], other.key)


@pytest.mark.parametrize("name", [*SMALL_FAIR, *LARGER_FAIR])
def test_the_schedulers_own_plans_under_fair_sharing(name: str) -> None:
    """They keep every law but FS-07: fill-back does not look at shares.

    Source: docs/semantics/kueue.md §6.7.
    """
    for line, state, where in fair(name):
        if not line["expect"]["targets"]:
            continue
        verification = verify_plan(
            state, plan_of(line, state, where, borrowing=True), snapshot=where.snapshot
        )
        failed = {verdict.law for verdict in verification.verdicts if not verdict.holds}
        assert failed <= {"FS-07"}, (line["id"], verification.verdicts)
        truth = line["expect"].get("exhaustive")
        if truth and not truth["attempts"][0].get("minimalOnly"):
            names = [item["workload"] for item in truth["candidates"]]
            mask = sum(1 << names.index(t["workload"]) for t in line["expect"]["targets"])
            assert (not failed) == (mask in truth["attempts"][0]["legal"]), line["id"]


def check_admitted_at_once(line: recorded.Line, state: State, where: Setting | FairSetting) -> None:
    """But for one of its defects: "Fit" although a resource needs preemption.

    Source: docs/semantics/kueue.md §4.1.
    """
    assignment = recorded.assignment_of(line)
    if assignment.mode == "Fit":
        plan = plan_of(line, state, where, borrowing=None)
        verification = verify_plan(state, plan, snapshot=where.snapshot)
        honest = all(choice.mode == "Fit" for _, choice in assignment.choices())
        assert verification.accepted == honest, line["id"]


@pytest.mark.parametrize("name", [*SMALL, *LARGER])
def test_what_the_scheduler_would_admit_at_once(name: str) -> None:
    for line, state, snapshot in classical(name):
        check_admitted_at_once(line, state, setting(line, state, snapshot))


@pytest.mark.parametrize("name", [*SMALL_FAIR, *LARGER_FAIR])
def test_what_the_scheduler_would_admit_at_once_under_fair_sharing(name: str) -> None:
    for line, state, where in fair(name):
        check_admitted_at_once(line, state, where)


def plan_of(
    line: recorded.Line, state: State, where: Setting | FairSetting, *, borrowing: bool | None
) -> Plan:
    return Plan(
        rules="kueue-fair" if isinstance(where, FairSetting) else "kueue-classical",
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
