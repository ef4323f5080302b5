"""What a joint plan is asked for: who waits, in which order of precedence, and in which ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from planner.errors import InputError, UnsupportedError
from planner.models.kueue.joint import Entrant
from planner.plan import JointSkipped
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import Preemptor, Snapshot
from planner.quota.tree import FlavorResource, Usage
from planner.solver.joint.sequence import OneByOne, serve_greedily
from planner.solver.joint.table import Forest, plant
from planner.solver.joint.ways import Flavored, asked, flavored, ways_of
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.release import refuse_overflow
from planner.solver.start import pending_workloads
from planner.state import State

_Waiting = tuple[Preemptor, Sequence[Flavored]]

MOST: Final = 200
"""Pending workloads that are planned for together at most: each is decided on several times."""


@dataclass(frozen=True)
class Question:
    """Pending workloads that want in together, in order of precedence.

    Attributes
    ----------
    preemptors
        (P,) higher effective priority first, then earlier queue-order timestamp, then smaller
        UID: the order of Kueue's queues (docs/semantics/kueue.md §7.1).
    choices
        (P,) the flavors that each may get.
    entrants
        (P,) the same as a model sees them.
    costs
        As for a single plan.
    skipped
        Pending workloads that are left out, as they cannot be planned for.
    """

    state: State
    snapshot: Snapshot
    preemptors: Sequence[Preemptor]
    choices: Sequence[Sequence[Flavored]]
    entrants: Sequence[Entrant]
    costs: Mapping[str, int] | None = None
    skipped: Sequence[JointSkipped] = ()

    @cached_property
    def greedy(self) -> OneByOne:
        """The reference: all served one by one, by Kueue's own decisions."""
        return serve_greedily(self.state, self.snapshot, self.preemptors)

    @cached_property
    def forest(self) -> Forest:
        """The workloads of all trees concerned. There must be an entrant with a way."""
        today = [
            _today(self.state, self.snapshot, *pair)
            for pair in zip(self.preemptors, self.choices, strict=True)
        ]
        return plant(self.snapshot, self.entrants, today)

    @property
    def determined(self) -> bool:
        """Whether the usage alone decides on flavors and modes, and no candidate order does."""
        return all(
            len({way.flavors for way in entrant.ways}) <= 1 and not self._prefers_less(preemptor)
            for entrant, preemptor in zip(self.entrants, self.preemptors, strict=True)
        )

    def _prefers_less(self, preemptor: Preemptor) -> bool:
        fungibility = self.snapshot.queues[preemptor.queue].spec.flavor_fungibility
        return fungibility.preference == "PreemptionOverBorrowing"


def _precedence(preemptor: Preemptor) -> tuple[int, datetime, str, str]:
    uid = preemptor.workload.metadata.uid
    return -preemptor.priority, preemptor.queued_at, uid, preemptor.key


def ask(
    state: State,
    snapshot: Snapshot,
    pending: Sequence[str],
    costs: Mapping[str, int] | None = None,
) -> Question:
    """Make several pending workloads ready for a joint plan.

    Raises
    ------
    InputError
        If one is named twice, or cannot be planned for.
    UnsupportedError
        If they are too many, one has too many ways, or one may be admitted with fewer pods.
    """
    if len(set(pending)) < len(pending):
        twice = next(key for key in pending if pending.count(key) > 1)
        raise InputError("pending", f"{twice} is named twice", hint="name each workload once")
    _refuse_too_many(pending)
    waiting = [_waiting(state, snapshot, key) for key in pending]
    return _question(state, snapshot, waiting, costs)


def ask_of_all(
    state: State, snapshot: Snapshot, costs: Mapping[str, int] | None = None
) -> Question:
    """Make everything that is pending ready for a joint plan, but what cannot be planned for.

    Raises
    ------
    InputError
        If nothing is left.
    UnsupportedError
        If they are too many.
    """
    waiting: list[_Waiting] = []
    skipped: list[JointSkipped] = []
    keys = pending_workloads(state)
    _refuse_too_many(keys)
    for key in keys:
        try:
            waiting.append(_waiting(state, snapshot, key))
        except InputError as error:
            skipped.append(JointSkipped(workload=key, explanation=str(error)))
    if not waiting:
        why = "; ".join(one.explanation for one in skipped[:1])
        raise InputError(state.source, "nothing is pending that could be planned for", hint=why)
    return _question(state, snapshot, waiting, costs, skipped)


def _refuse_too_many(pending: Sequence[str]) -> None:
    if len(pending) > MOST:
        raise UnsupportedError(
            "pending",
            f"{len(pending)} workloads are too many for one plan",
            f"at most {MOST}",
            "name the most urgent ones with --pending",
        )


def _waiting(state: State, snapshot: Snapshot, key: str) -> _Waiting:
    preemptor = find_preemptor(state, snapshot, key)
    refuse_overflow(snapshot, preemptor)
    return preemptor, flavored(snapshot, preemptor)


def _question(
    state: State,
    snapshot: Snapshot,
    waiting: Sequence[_Waiting],
    costs: Mapping[str, int] | None,
    skipped: Sequence[JointSkipped] = (),
) -> Question:
    """Sort by precedence, and find the ways of each."""
    waiting = sorted(waiting, key=lambda pair: _precedence(pair[0]))
    trees: dict[int, int] = {}
    entrants, first = [], 0
    for number, (preemptor, choices) in enumerate(waiting):
        others = [one for other, one in enumerate(waiting) if other != number]
        ways = ways_of(snapshot, preemptor, choices, _with_others(snapshot, others))
        root = snapshot.tree.path(preemptor.queue)[-1]
        if ways and root not in trees:
            trees[root] = first
            first += len(ways[0].problem.workloads)
        entrants.append(Entrant(root, trees.get(root, 0), ways))
    preemptors, flavors = zip(*waiting, strict=True)
    return Question(state, snapshot, preemptors, flavors, entrants, costs, skipped)


def _with_others(snapshot: Snapshot, others: Sequence[_Waiting]) -> Usage:
    """Return the usage at the start with all others admitted, each fr at its most."""
    usage = snapshot.usage.copy()
    for preemptor, choices in others:
        most: dict[int, int] = {}
        for choice in choices:
            for fr, amount in choice.reserved.items():
                most[fr] = max(amount, most.get(fr, 0))
        usage.add(preemptor.queue, most)
    return usage


def _today(
    state: State, snapshot: Snapshot, preemptor: Preemptor, choices: Sequence[Flavored]
) -> dict[FlavorResource, int]:
    """Return what a pending workload asks for in the flavors that Kueue assigns it today."""
    assignment = Planning(state, snapshot, preemptor).decision.assignment
    if assignment.mode == "NoFit":
        wanted = choices[0].asked if choices else {}
    else:
        wanted = asked(snapshot, preemptor, assignment)
    return {snapshot.tree.frs[fr]: amount for fr, amount in wanted.items()}
