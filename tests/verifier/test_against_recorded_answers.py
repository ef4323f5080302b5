"""The verifier accepts exactly what the real scheduler's own primitives accept.

Every subset of the recorded candidates is judged in every recorded attempt. By default every
24th line is taken, and under fair sharing every 48th; PLANNER_TEST_ALL=1 takes them all.

The recorded sets are those after which Kueue's search ends, which does not look at pods: they are
judged without. That pods are free in the end, as Kueue's cycle asks before it evicts anybody, is
tested in tests/solver/test_pods.py.
"""

from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import flavor_resources
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import take_snapshot
from planner.state.kueue import State
from planner.verifier.kueue.fair_sharing import FairSetting
from planner.verifier.kueue.plan import setting_for, verify_plan
from planner.verifier.kueue.setting import Setting
from tests import recorded
from tests.conftest import TEST_ALL
from tests.verifier.cases import accepts, victim_of

CLASSICAL = ("classical-flat", "classical-hier", "classical-nocohort", "flavors", "edge")
SMALL = [(f"small-{name}", False) for name in CLASSICAL]
SMALL += [(f"small-{name}", True) for name in ("fair-flat", "fair-hier", "edge", "flavors")]
LARGER = [(name, False) for name in CLASSICAL]
LARGER += [(name, True) for name in ("fair-flat", "fair-hier", "edge")]
"""Files, and whether their lines under fair sharing are meant, or the others."""

STEP, STEP_FAIR = (1, 1) if TEST_ALL else (24, 48)


def settings(name: str, *, fair: bool) -> Iterator[tuple[recorded.Line, State, Setting]]:
    """Yield the lines of a file in which flavors were assigned, with or without fair sharing."""
    for line in recorded.lines(name, STEP_FAIR if fair else STEP):
        if "assignment" not in line["expect"]:
            continue
        state = recorded.state_of(line)
        if state.configuration.fair_sharing_on == fair:
            assignment = recorded.assignment_of(line)
            snapshot = take_snapshot(state, extra=flavor_resources(assignment))
            where = setting_for(state, snapshot, line["pending"], assignment)
            yield line, state, where if fair else replace(where, request=where.searched)


def chosen(candidates: Sequence[Admitted], mask: int) -> list[Admitted]:
    return [one for position, one in enumerate(candidates) if mask >> position & 1]


@pytest.mark.parametrize(("name", "fair"), SMALL)
def test_every_subset_of_the_candidates(name: str, *, fair: bool) -> None:
    """The recorded ones are accepted, no others, and none with who was no candidate."""
    judged = 0
    for line, _, where in settings(name, fair=fair):
        truth = line["expect"].get("exhaustive")
        if truth is None:
            continue
        by_key = {w.key: w for w in where.candidates}
        candidates = [by_key.pop(item["workload"]) for item in truth["candidates"]]
        assert not by_key, line["id"]
        attempts = [attempt["borrowing"] for attempt in truth["attempts"]]
        assert list(where.attempts) == attempts, line["id"]
        if isinstance(where, FairSetting):
            assert where.stays_within_nominal == truth["withinNominal"], line["id"]
        else:
            variants = [where.variant(candidate).value for candidate in candidates]
            assert variants == [item["variant"] for item in truth["candidates"]], line["id"]
        held = [w for workloads in where.snapshot.admitted.values() for w in workloads]
        strangers = [one for one in held if one not in candidates]
        for attempt in truth["attempts"]:
            borrowing = attempt["borrowing"]
            legal = {
                mask
                for mask in range(1 << len(candidates))
                if accepts(where, chosen(candidates, mask), borrowing=borrowing)
            }
            if attempt.get("minimalOnly"):
                legal = {mask for mask in legal if not any(m & mask == m for m in legal - {mask})}
            assert legal == set(attempt["legal"]), (line["id"], borrowing)
            for victims in (chosen(candidates, mask) for mask in attempt["legal"][:2]):
                for other in strangers:
                    together = [*victims, other]
                    assert not accepts(where, together, borrowing=borrowing), (line["id"], other)
            judged += 1
    assert judged


@pytest.mark.parametrize(("name", "fair"), [*SMALL, *LARGER])
def test_the_schedulers_own_plans(name: str, *, fair: bool) -> None:
    """Whole plans, with Kueue's targets and reasons; and those that evict nobody."""
    for line, state, where in settings(name, fair=fair):
        check_admitted_at_once(line, state, where)
        if line["expect"]["targets"]:
            (check_fair if fair else check_classical)(line, state, where)


def check_classical(line: recorded.Line, state: State, where: Setting) -> None:
    """They are legal in an attempt that Kueue makes."""
    plans = [plan_of(line, state, where, borrowing=b) for b in where.attempts]
    judged = [verify_plan(state, plan, snapshot=where.snapshot) for plan in plans]
    if not any(each.accepted for each in judged) and "pods" in {
        fr.resource for fr in where.snapshot.tree.frs
    }:
        # Too few pods are free in the end: that, and nothing else, is wrong in some attempt.
        broken = [{v.law for v in each.verdicts if not v.holds} for each in judged]
        assert {"KQ-01"} in broken, line["id"]
        return
    orders = [each.removal_order for each in judged if each.accepted]
    assert orders, line["id"]
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(plans[0].keys))}, line["id"]


def check_fair(line: recorded.Line, state: State, where: Setting) -> None:
    """They keep every law but FS-07: fill-back does not look at shares.

    Source: docs/semantics/kueue.md §6.7.
    """
    plan = plan_of(line, state, where, borrowing=True)
    verification = verify_plan(state, plan, snapshot=where.snapshot)
    failed = {verdict.law for verdict in verification.verdicts if not verdict.holds}
    assert failed <= {"FS-07"}, (line["id"], verification.verdicts)
    truth = line["expect"].get("exhaustive")
    if truth and not truth["attempts"][0].get("minimalOnly"):
        names = [item["workload"] for item in truth["candidates"]]
        mask = sum(1 << names.index(t["workload"]) for t in line["expect"]["targets"])
        assert (not failed) == (mask in truth["attempts"][0]["legal"]), line["id"]


def check_admitted_at_once(line: recorded.Line, state: State, where: Setting) -> None:
    """But for one of its defects: "Fit" although a resource needs preemption.

    Source: docs/semantics/kueue.md §4.1.
    """
    assignment = recorded.assignment_of(line)
    if assignment.mode == "Fit":
        plan = plan_of(line, state, where, borrowing=None)
        verification = verify_plan(state, plan, snapshot=where.snapshot)
        honest = all(choice.mode == "Fit" for _, choice in assignment.choices())
        assert verification.accepted == honest, line["id"]


def plan_of(line: recorded.Line, state: State, where: Setting, *, borrowing: bool | None) -> Plan:
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
