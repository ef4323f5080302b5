"""Recorded answers of Kueue against the reference.

A recorded line holds a state, a pending workload and what the scheduler decided. Two things are
compared: the assignment (mode, borrowing, podsets with counts and flavors) and the targets with
their order and reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice, permutations, product
from typing import Any, Final

from planner.assignment import (
    Assignment,
    flavor_resources,
    parse_assignment,
    read_assignment,
)
from planner.errors import PlannerError, SchemaError
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import Snapshot, take_snapshot
from planner.reader import read_kueue_objects
from planner.reference.decision import Decision, decide
from planner.replay.comparison import (
    MAX_ORDERS,
    Answer,
    Comparison,
    agrees_in_some_order,
    difference_from_all,
)
from planner.replay.file import part_of
from planner.state import Cohort, State, parse_time

_CYCLE: Final = "cycle"


def replay_kueue_line(line: Mapping[str, Any], where: str = "line") -> Comparison:
    """Decide a recorded instance of Kueue anew, and compare.

    Skipped are whole scheduling cycles, and lines on which the scheduler gave no answer. Where
    several outcomes are recorded, because the scheduler itself is not deterministic there, any
    of them is right. They are a sample: under fair sharing, a line without a match is decided
    again with other orders of the cohorts.

    Raises
    ------
    InputError
        If the line is not a recorded instance, or its state cannot be read.
    """
    name = part_of(line, "id", str, where)
    expected = part_of(line, "expect", dict, where)
    if line.get("mode") == _CYCLE:
        return Comparison(name, "skipped", "a whole scheduling cycle")
    several = expected.get("outcomes") or []
    if not (isinstance(several, list) and all(isinstance(one, dict) for one in several)):
        raise SchemaError(f"{where}: expect.outcomes", "is not a list of objects")
    state = state_of_kueue(line, where)
    pending = part_of(line, "pending", str, where)
    given = line.get("assignment")
    fixed = None if given is None else parse_assignment(given, f"{where}: assignment")
    comparison = _decided(name, expected, state, pending, fixed)
    if comparison.outcome == "different" and several and state.configuration.fair_sharing_on:

        def agrees(cohorts: tuple[Cohort, ...]) -> bool:
            reordered = state.model_copy(update={"cohorts": cohorts})
            return _decided(name, expected, reordered, pending, fixed).outcome == "equal"

        if agrees_in_some_order(_other_orders(state.cohorts), agrees):
            return Comparison(name, "equal")
    return comparison


def state_of_kueue(line: Mapping[str, Any], where: str = "line") -> State:
    """Read the state of a recorded line.

    Raises
    ------
    InputError
        If it has none, or no clock, or the state cannot be used.
    """
    return read_kueue_objects(
        part_of(line, "state", dict, where),
        where=f"{where}: state",
        digest=part_of(line, "id", str, where),
        now=_clock(line, where),
    )


def _decided(
    name: str, expected: Answer, state: State, pending: str, fixed: Assignment | None
) -> Comparison:
    """Decide once, and compare."""
    snapshot = take_snapshot(state, extra=flavor_resources(fixed) if fixed else ())
    try:
        preemptor = find_preemptor(state, snapshot, pending)
        if fixed is not None:
            fixed = read_assignment(fixed, preemptor, f"{name}: assignment")
        decision = decide(snapshot, preemptor, fixed)
    except PlannerError as error:
        return Comparison(name, "different", f"the reference gives no answer: {error}")
    return _compare(name, expected, answer_of(decision, snapshot))


def _other_orders(cohorts: Sequence[Cohort]) -> Iterator[tuple[Cohort, ...]]:
    """Yield every other order of the cohorts that share a parent.

    Under fair sharing the real scheduler chooses at random among cohorts of equal shares; the
    reference takes the one that stands last. So each order of siblings, kept up from the first
    step to the last, leads to an answer that the real scheduler may give.
    """
    siblings: dict[str, list[Cohort]] = {}
    for cohort in cohorts:
        siblings.setdefault(cohort.spec.parent_name, []).append(cohort)
    siblings.pop("", None)  # roots are never compared
    rest = [cohort for cohort in cohorts if not cohort.spec.parent_name]
    some = (islice(permutations(group), MAX_ORDERS) for group in siblings.values())
    for orders in islice(product(*some), 1, None):
        yield (*rest, *chain.from_iterable(orders))


def answer_of(decision: Decision, snapshot: Snapshot) -> Answer:
    """Return a decision in the form in which answers are recorded."""
    assignment = decision.assignment
    return {
        "assignment": {
            "mode": assignment.mode,
            "borrowing": assignment.borrowing,
            "podSets": [
                {
                    "name": pods.name,
                    "count": pods.count,
                    "flavors": {
                        resource: {"flavor": choice.flavor, "mode": choice.mode}
                        for resource, choice in pods.flavors.items()
                    },
                }
                for pods in assignment.pod_sets
            ],
        },
        "targets": [
            {
                "workload": target.workload.key,
                "clusterQueue": snapshot.queue_name(target.workload.queue),
                "reason": target.reason,
            }
            for target in decision.search.targets
        ],
    }


def _compare(name: str, expected: Answer, found: Answer) -> Comparison:
    """Compare with the recorded outcome, or with each of several, on all that was recorded."""
    several = expected.get("outcomes") or []
    outcomes = [one for one in (expected, *several) if not found.keys().isdisjoint(one)]
    if not outcomes:
        return Comparison(name, "skipped", "the scheduler itself gave no answer")
    difference = difference_from_all(outcomes, found)
    if not difference:
        return Comparison(name, "equal")
    prefix = f"none of {len(several)} recorded outcomes; the first: " if several else ""
    return Comparison(name, "different", prefix + difference)


def _clock(line: Mapping[str, Any], where: str) -> datetime:
    text = part_of(line, "now", str, where)
    try:
        return parse_time(text)
    except ValueError:
        expected = "an RFC 3339 timestamp such as 2026-03-08T21:06:00Z"
        raise SchemaError(f"{where}: now", f"{text!r} is not a timestamp", expected) from None
