"""Recorded answers of Kueue against the reference.

A recorded line holds a state, a pending workload and what the scheduler decided. Two things are
compared: the assignment (mode, borrowing, podsets with counts and flavors) and the targets with
their order and reasons. Of a whole scheduling cycle everything is compared: the entries in the
order of processing, the inadmissible and the evicted, and the workloads left and parked by queue.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, permutations, product
from math import factorial
from typing import Any, Final

from planner.commands.replay.comparison import (
    MAX_ORDERS,
    Answer,
    Comparison,
    Recorded,
    difference_from_all,
    part_of,
    rows_of,
)
from planner.coverage.kueue import KueueCoverage
from planner.coverage.kueue_features import TOPOLOGY
from planner.errors import PlannerError, SchemaError, one_line
from planner.quota.kueue.assignment import flavor_resources, parse_assignment, read_assignment
from planner.quota.kueue.preemptor import as_preemptor, find_preemptor, find_workload
from planner.quota.kueue.request import ambiguous_resources, counts_after_reclaim
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.reader.kueue_release import GateRefused
from planner.reference.kueue.chance import Crash
from planner.reference.kueue.context import Assigned, Target
from planner.reference.kueue.cycle.nomination import why_not_nominated
from planner.reference.kueue.cycle.processing import Decider, Entry, Outcome
from planner.reference.kueue.cycle.run import run_cycle
from planner.reference.kueue.decision import TRIES, Decision, decide, decide_under
from planner.state import AUTO, RequestsFrom, parse_time
from planner.state.kueue import ClusterQueue, State, Workload
from planner.state.kueue_release import MAIN, NEWEST, find_release
from planner.state.queues import Cohort

_STATUS: Final[Mapping[Outcome, str]] = {
    "admitted": "assumed",
    "skipped": "skipped",
    "preemptionGated": "preemptionGated",
}
"""The scheduler's own word for the outcome of a head; for other outcomes it has none."""


def _decision(decision: Decision, snapshot: Snapshot) -> Answer:
    """Return a decision in the form in which answers are recorded."""
    return {
        "assignment": _assignment(decision.assigned),
        "targets": [_target(target, snapshot) for target in decision.targets],
    }


def _nomination(state: State, snapshot: Snapshot, key: str, decider: Decider) -> Answer:
    """Return whether a workload is nominated, and its outcome, as both are recorded."""
    workload = find_workload(state, key)
    reason = why_not_nominated(state, snapshot, workload)
    if reason is None:
        # Its outcome in a cycle with all workloads that wait.
        cycle = run_cycle(state, decider)
        entry = next((one for one in cycle.entries if one.preemptor.key == key), None)
        return {
            "nominated": True,
            **_nominated(state, snapshot, workload, decider),
            "outcome": entry.outcome if entry else "",
            "evicted": _by_workload(_target(one, cycle.snapshot) for one in cycle.evicted),
            "finished": sorted(one.key for one in cycle.finished),
        }
    answer: Answer = {"nominated": False, "why": reason.why}
    if reason.message:
        answer["message"] = reason.message
    if reason.why == "notHead":
        answer["ifHead"] = _nominated(state, snapshot, workload, decider)
    return answer


def _nominated(state: State, snapshot: Snapshot, workload: Workload, decider: Decider) -> Answer:
    """Return the requests that Kueue counts for a nominated workload, and Kueue's decision."""
    preemptor = as_preemptor(state, snapshot, workload)
    requests = {
        one.name: {name: str(amount) for name, amount in one.totals.items()}
        for one in preemptor.pod_sets
    }
    decision = decider(snapshot, preemptor)
    found = {"requests": requests, "message": decision.assigned.message}
    return _decision(decision, snapshot) | found


def _cycle(turned_down: Iterable[Answer], state: State, decider: Decider) -> Answer:
    """Run a scheduling cycle, and return it in the form in which cycles are recorded.

    Of heads that are turned down, only the fields that were recorded are returned. Lists that have
    no order in the scheduler are sorted by name: inadmissible, evicted, waiting.
    """
    cycle = run_cycle(state, decider)
    snapshot = cycle.snapshot
    recorded = {key for one in turned_down for key in one} or {"workload"}
    inadmissible = ({**_entry(one, snapshot), "message": one.message} for one in cycle.inadmissible)
    admitted = (one.preemptor.key for one in cycle.entries if one.outcome == "admitted")
    not_queued = ({"workload": key, "message": why} for key, why in cycle.not_queued.items())
    answer: Answer = {
        "entries": [_entry(entry, snapshot) for entry in cycle.entries],
        "inadmissible": [
            {key: value for key, value in one.items() if key in recorded}
            for one in _by_workload(inadmissible)
        ],
        "evicted": _by_workload(_target(target, snapshot) for target in cycle.evicted),
        "finished": sorted(one.key for one in cycle.finished),
        "admitted": sorted(admitted),
        "notQueued": _by_workload(not_queued),
        "inactiveClusterQueues": sorted(snapshot.inactive),
        "blocked": cycle.blocked,
    }
    if not cycle.blocked:  # else the scheduler is still in the middle of the cycle
        for name, waiting in (("left", cycle.left), ("parked", cycle.parked)):
            answer[name] = {queue: sorted(keys) for queue, keys in waiting.items()}
    return answer


def _entry(entry: Entry, snapshot: Snapshot) -> Answer:
    mode = "DeferredFit" if entry.outcome == "deferred" else ""
    return {
        "workload": entry.preemptor.key,
        "clusterQueue": snapshot.queue_name(entry.preemptor.queue),
        "outcome": entry.outcome,
        "status": _STATUS.get(entry.outcome, ""),
        "requeueReason": entry.requeue_reason,
        "quotaReservedReason": entry.quota_reserved_reason,
        "assignment": entry.decision and _assignment(entry.decision.assigned, mode),
        "targets": [_target(target, snapshot) for target in entry.targets],
    }


def _assignment(assigned: Assigned, mode: str = "") -> Answer:
    """Return an assignment; ``mode`` takes the place of every mode in it."""
    assignment = assigned.assignment

    def places(name: str) -> Answer | None:
        found = assigned.placements.get(name)
        if found is None:
            return None
        domains = [{"values": list(values), "count": count} for values, count in found.domains]
        return {"levels": list(found.levels), "domains": domains}

    return {
        "mode": mode or assignment.mode,
        "borrowing": assignment.borrowing,
        "podSets": [
            {
                "name": pods.name,
                "count": pods.count,
                "flavors": {
                    resource: {"flavor": choice.flavor, "mode": mode or choice.mode}
                    for resource, choice in pods.flavors.items()
                },
                "topologyAssignment": places(pods.name),
                "delayedTopologyRequest": "Pending" if pods.name in assigned.delayed else None,
            }
            for pods in assignment.pod_sets
        ],
    }


def _target(target: Target, snapshot: Snapshot) -> Answer:
    return {
        "workload": target.workload.key,
        "clusterQueue": snapshot.queue_name(target.workload.queue),
        "reason": target.reason,
    }


def _by_workload(answers: Iterable[Answer]) -> list[Answer]:
    return sorted(answers, key=lambda answer: str(answer["workload"]))


def replay_kueue_line(line: Mapping[str, Any], where: str = "line") -> Comparison:
    """Decide a recorded instance of Kueue anew, and compare.

    A line is skipped if the scheduler gave no answer, or counts at random, or below zero where it
    differs; it is uncovered if it differs and its state holds what is not modelled. Where several
    outcomes are recorded, because the scheduler itself is not deterministic there, any of them is
    right. They are a sample: a line without a match is decided again, under fair sharing with
    other orders of the cohorts, a cycle with other orders of cohorts and queues, and either with
    other orders of candidates where past use puts them in a circle.

    Raises ``InputError`` if the line is not a recorded instance, or its state cannot be read.
    """
    name = part_of(line, "id", str, where)
    expected = part_of(line, "expect", dict, where)
    if expected.get("nominated"):
        expected = {"message": "", **expected}  # the message is left out where Kueue gives none
    rows_of(expected, "outcomes", where)
    try:
        state = state_of_kueue(line, where)
    except GateRefused as error:
        said = expected.get("refused")
        return Comparison(name, "equal" if said else "different", "" if said else str(error))
    comparison = _compared(line, where, name, expected, state)
    if comparison.outcome != "different":
        return comparison
    # A difference is skipped if it is chance, and uncovered if it may come from what is unmodelled.
    for workload in state.workloads.pending():
        if made := ambiguous_resources(workload, state.configuration):
            names = ", ".join(sorted(made))
            why = f"not comparable: this release counts {names} of {workload.key} at random"
            return Comparison(name, "skipped", why)
    for workload in state.workloads.unusual():
        if min(counts_after_reclaim(workload, state.configuration).values(), default=0) < 0:
            # Plans refuse such states: removing such a workload leaves less room than before.
            why = f"more pods of {workload.key} are reclaimable than it has: it uses less than none"
            return Comparison(name, "skipped", f"not comparable: {why}")
    known, pending = KueueCoverage(state), line.get("pending")
    keys = [pending] if isinstance(pending, str) else state.workloads.keys
    found = {one.feature for key in keys for one in known.unmodelled(key)}
    # Plans leave topology out; the replay has it, except later passes and older releases.
    if state.release is NEWEST and not any(one.needs_second_pass for one in state.workloads):
        found.discard(TOPOLOGY.id)
    missing = ", ".join(sorted(found))
    return Comparison(name, "uncovered", missing) if missing else comparison


def _compared(
    line: Mapping[str, Any], where: str, name: str, expected: Answer, state: State
) -> Comparison:
    """Decide; a cycle, or a line with several recorded outcomes, also in other orders."""
    answer: Callable[[State, Decider], Answer]
    orders: Iterable[State]
    is_cycle = line.get("mode") == "cycle"
    if is_cycle:
        turned_down = rows_of(expected, "inadmissible", where)
        answer, orders = partial(_cycle, turned_down), _other_orders(state)
    else:
        answer = _answer_to(line, where, single="nominated" not in expected)
        orders = _other_cohort_orders(state) if state.configuration.fair_sharing_on else ()

    decided = partial(_decided, name, expected, answer)
    comparison = decided(state, decide)
    # A recorded cycle shows only one of the orders that the scheduler leaves to chance.
    if comparison.outcome == "different" and (is_cycle or expected.get("outcomes")):
        by_chance: list[tuple[State, Decider]]
        by_chance = [(state, partial(decide, seed=n)) for n in range(TRIES)]
        others = chain(by_chance, ((reordered, decide) for reordered in orders))
        if any(decided(*run).outcome == "equal" for run in islice(others, MAX_ORDERS)):
            return Comparison(name, "equal")
    return comparison


def recorded_of_kueue(
    line: Mapping[str, Any], where: str, release: str, requests: RequestsFrom
) -> Recorded | None:
    """Read a recorded line, as `state_of_kueue` does; ``None`` if it is another scheduler's."""
    if "state" not in line:
        return None
    pending, fixed = line.get("pending"), line.get("assignment")
    return Recorded(
        state_of_kueue(line, where, release, requests),
        pending if isinstance(pending, str) else None,
        fixed if isinstance(fixed, dict) else None,
    )


def state_of_kueue(
    line: Mapping[str, Any],
    where: str = "line",
    release: str = AUTO,
    requests: RequestsFrom = "template",
) -> State:
    """Read the state of a recorded line, by the rules of the release that decided it.

    ``release`` takes the place of that release; ``requests`` is as for ``planner.read``.

    Raises ``InputError`` if the line has no state or no clock, or the state cannot be used.
    """
    text = part_of(line, "now", str, where)
    try:
        now = parse_time(text)
    except ValueError:
        expected = "an RFC 3339 timestamp such as 2026-03-08T21:06:00Z"
        raise SchemaError(f"{where}: now", f"{text!r} is not a timestamp", expected) from None
    if release == AUTO:  # for a line without a release, the newest rules hold
        given = line.get("release")
        release = MAIN if given is None else part_of(line, "release", str, where)
        try:
            find_release(release)
        except ValueError as error:
            raise SchemaError(f"{where}: release", str(error)) from None
    state = read_kueue_objects(
        part_of(line, "state", dict, where),
        where=f"{where}: state",
        digest=part_of(line, "id", str, where),
        now=now,
        release=release,
        requests=requests,
    )
    state = state.model_copy(update={"whole": True})
    if state.configuration_given or not state.configuration.fair_sharing_on:
        return state
    # The reader takes published shares for a sign of fair sharing; the recorded answer was given
    # by a scheduler that had no Configuration either.
    plain = state.configuration.model_copy(update={"fair_sharing": None})
    return state.model_copy(update={"configuration": plain})


def _answer_to(
    line: Mapping[str, Any], where: str, *, single: bool
) -> Callable[[State, Decider], Answer]:
    """Return a function that decides for the pending workload of a line, with its flavors if given.

    ``single`` says that only the decision was recorded, as if the workload is nominated; else also
    whether it is nominated, and its outcome in the whole cycle.
    """
    pending = part_of(line, "pending", str, where)
    given = line.get("assignment")
    fixed = None if given is None else parse_assignment(given, f"{where}: assignment")

    def replayed(state: State, decider: Decider) -> Answer:
        extra = flavor_resources(fixed) if fixed else ()
        snapshot = take_snapshot(state, extra=extra, placing=True)
        if not single:
            return _nomination(state, snapshot, pending, decider)
        preemptor = find_preemptor(state, snapshot, pending)
        if fixed is None:
            found = _decision(decider(snapshot, preemptor), snapshot)
            if not snapshot.is_active(preemptor.queue):
                found["inadmissible"] = "the ClusterQueue is not in the snapshot"
            return found
        known = read_assignment(fixed, preemptor, f"{line['id']}: assignment")
        return _decision(decide_under(snapshot, preemptor, known), snapshot)

    return replayed


def _decided(
    name: str,
    expected: Answer,
    answer: Callable[[State, Decider], Answer],
    state: State,
    decider: Decider,
) -> Comparison:
    """Decide once, and compare; a crash is an answer, too."""
    crash = expected.get("panic") is not None
    try:
        found = answer(state, decider)
    except Crash as error:
        found = {"panic": True}
        if not crash:
            return Comparison(name, "different", str(error))
    except PlannerError as error:
        why = f"the reference gives no answer: {one_line(str(error))}"
        return Comparison(name, "different", why)
    if crash and "panic" in found:
        return Comparison(name, "equal")
    several = expected.get("outcomes") or []
    outcomes = [one for one in (expected, *several) if not found.keys().isdisjoint(one)]
    if not outcomes:
        return Comparison(name, "skipped", "the scheduler itself gave no answer")
    difference = difference_from_all(outcomes, found)
    if not difference:
        return Comparison(name, "equal")
    prefix = f"none of {len(several)} recorded outcomes; the first: " if several else ""
    return Comparison(name, "different", prefix + difference)


def _other_cohort_orders(state: State) -> Iterator[State]:
    """Yield the state with every other order of the cohorts that share a parent.

    Under fair sharing the real scheduler chooses at random among cohorts of equal shares; the
    reference takes the last of them in the state. So each order of siblings, the same in all
    steps, leads to an answer that the real scheduler may give.
    """
    siblings: dict[str, list[Cohort]] = {}
    for cohort in state.cohorts:
        siblings.setdefault(cohort.spec.parent_name, []).append(cohort)
    siblings.pop("", None)  # roots are never compared
    rest = [cohort for cohort in state.cohorts if not cohort.spec.parent_name]
    some = (islice(permutations(group), MAX_ORDERS) for group in siblings.values())
    for orders in islice(product(*some), 1, None):
        cohorts = (*rest, *chain.from_iterable(orders))
        yield state.model_copy(update={"cohorts": cohorts})


def _other_orders(state: State) -> Iterator[State]:
    """Yield the state with its queues and cohorts in other orders, the same ones in every run.

    The real scheduler takes the heads of the queues, the trees and equals in no fixed order; a
    replayed cycle follows the order of the dump. Where there are few orders each comes once.
    """
    queues, cohorts = state.cluster_queues, state.cohorts
    orders = _shuffled(queues, cohorts)
    if factorial(len(queues)) * factorial(len(cohorts)) <= MAX_ORDERS:
        orders = islice(product(permutations(queues), permutations(cohorts)), 1, None)
    for in_turn, with_cohorts in orders:
        yield state.model_copy(update={"cluster_queues": in_turn, "cohorts": with_cohorts})


def _shuffled(
    queues: Sequence[ClusterQueue], cohorts: Sequence[Cohort]
) -> Iterator[tuple[tuple[ClusterQueue, ...], tuple[Cohort, ...]]]:
    """Yield random orders of queues and cohorts without end, the same ones in every run."""
    shuffler, first, second = random.Random(0), [*queues], [*cohorts]  # noqa: S311 - no secrets
    while True:
        shuffler.shuffle(first)
        shuffler.shuffle(second)
        yield tuple(first), tuple(second)
