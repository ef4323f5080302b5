"""What a joint plan is asked for: who waits, in which order of precedence, and at what cost.

The disruption terms are one table over the workloads of all trees concerned. Ranks of priority
count the candidates of every pending workload. Candidates have a common order: those being evicted
first, then lower priority, later reservation, smaller UID; own queue and hierarchical advantage
depend on the preemptor and do not count. What is over-freed (``excess_freed``) is measured, in each
tree of cohorts, against a need: what all admitted workloads ask for together, in the flavors that
Kueue assigns them today, less the most that is available to any of them.

Source: docs/design/objectives.md §3; docs/semantics/kueue.md §5.4 for the order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from planner.case.kueue import Case
from planner.case.kueue_plan import demand
from planner.case.kueue_release import under_release
from planner.commands.joint.kueue.sequence import OneByOne, serve_in_cycles
from planner.commands.joint.kueue.ways import Flavored, asked, flavored, ways_of
from planner.errors import InputError, UnsupportedError
from planner.models.kueue.joint import Entrant
from planner.objective.kueue import term_table
from planner.objective.terms import TermTable
from planner.plan.kueue import Demand, JointSkipped
from planner.problem.array import BoolArray, IntArray
from planner.problem.kueue import Problem
from planner.quota.kueue.assignment import Mode
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.preemptor import deactivated, find_preemptor, key_of
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import NO_PARENT, FlavorResource, Usage
from planner.state.kueue import State


class Forest(Struct, frozen=True, dict=True):
    """The workloads of all trees that some entrant is in, one tree after the other.

    ``problem`` is what the terms look at, for all trees together: its flavor-resources are those
    that may be short, once for each tree, its path all nodes on the paths of the entrants.
    ``allowed`` is (W,), whether some way of some entrant may take a workload; ``alike`` (W, X), the
    values that must be equal within a class, besides costs.
    """

    problem: Problem
    allowed: BoolArray
    alike: IntArray

    @property
    def workloads(self) -> Sequence[Admitted]:
        """(W,) all workloads."""
        return self.problem.workloads

    @cached_property
    def position_of(self) -> Mapping[str, int]:
        """The position of each workload, by its key."""
        return {w.key: i for i, w in enumerate(self.workloads)}


def build_forest(snapshot: Snapshot, entrants: Sequence[Entrant]) -> Forest:
    """Return the workloads of all entrants.

    Entrants without ways have no tree. At least one must have ways.
    """
    trees = {e.tree: e.ways[0].problem for e in entrants if e.ways}
    sizes = [len(problem.names) for problem in trees.values()]
    offsets = [sum(sizes[:n]) for n in range(len(sizes))]
    workloads = Holders.joined(problem.workloads for problem in trees.values())
    allowed = np.zeros(len(workloads), dtype=np.bool_)
    for entrant in entrants:
        for way in entrant.ways:
            allowed[entrant.first : entrant.first + len(way.allowed)] |= way.allowed
    frs = _short_in(entrants)
    index = snapshot.fr_index
    tree_of = [tree for tree, problem in trees.items() for _ in problem.workloads]
    # A flavor-resource once for each tree: evictions in one tree make no room in another.
    holding = [
        [w.usage.get(index[fr], 0) if tree == of else 0 for of, fr in frs]
        for w, tree in zip(workloads, tree_of, strict=True)
    ]
    first = next(iter(trees.values()))
    ranked = sorted(
        range(len(workloads)),
        key=lambda i: (
            not workloads[i].evicted,
            workloads[i].priority,
            -workloads[i].reserved_s,
            workloads[i].uid,
        ),
    )
    order = np.empty(len(workloads), dtype=np.int64)
    order[ranked] = np.arange(len(workloads))
    offset = dict(zip(trees, offsets, strict=True))
    paths = [(e.tree, e.ways[0].problem.path) for e in entrants if e.ways]
    problem = replace(
        first,
        frs=[fr for _, fr in frs],
        contested=list(range(len(frs))),
        names=[name for problem in trees.values() for name in problem.names],
        parent=[
            node if node == NO_PARENT else node + offset
            for problem, offset in zip(trees.values(), offsets, strict=True)
            for node in problem.parent
        ],
        workloads=workloads,
        queue=np.concatenate(
            [p.queue + offset for p, offset in zip(trees.values(), offsets, strict=True)]
        ),
        path=list(dict.fromkeys(node + offset[tree] for tree, path in paths for node in path)),
        holding=np.array(holding, dtype=np.int64).reshape(len(workloads), len(frs)),
        priority=np.concatenate([p.priority for p in trees.values()]),
        leaving=workloads.columns.leaving,
        order=order,
    )
    return Forest(problem, allowed, _alike(problem, entrants))


def _available(entrant: Entrant, fr: FlavorResource) -> int:
    found = (
        way.problem.available[way.problem.frs.index(fr)]
        for way in entrant.ways
        if fr in way.problem.frs
    )
    return max(0, next(found, 0))


def _short_in(entrants: Sequence[Entrant]) -> list[tuple[int, FlavorResource]]:
    """Return the flavor-resources that may be short, with their trees."""
    found = {
        (entrant.tree, way.problem.frs[fr])
        for entrant in entrants
        for way in entrant.ways
        for fr in way.problem.contested
    }
    return sorted(found)


def _alike(problem: Problem, entrants: Sequence[Entrant]) -> IntArray:
    """Return the values of each workload that the laws of any entrant look at: (W, X)."""
    _, shape = problem.workloads.alike
    later = np.zeros((len(problem.workloads), len(entrants)), dtype=np.int64)
    for number, entrant in enumerate(entrants):
        if entrant.ways:
            of_tree = entrant.ways[0].problem.queued_later
            later[entrant.first : entrant.first + len(of_tree), number] = of_tree
    known = [problem.queue, shape, problem.leaving, problem.priority]
    return np.column_stack([*(column.astype(np.int64) for column in known), later])


_Waiting = tuple[Preemptor, Sequence[Flavored]]

MOST: Final = 200
"""Pending workloads that are planned for together at most: each is decided on several times."""


class Question(Struct, frozen=True, dict=True):
    """Pending workloads that are to be admitted together, in order of precedence.

    That is higher effective priority first, then earlier queue-order timestamp, then smaller UID:
    the order of Kueue's queues (docs/semantics/kueue.md §7.1). ``preemptors`` are (P,), as are the
    ``choices`` of flavors that each may get, and ``entrants``, as a model knows them;
    ``skipped`` are those that are left out, as they cannot be planned for.
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
        """The answer to compare with: all served one by one, in Kueue's own cycles."""
        return serve_in_cycles(self.state, self.snapshot, self.preemptors)

    @cached_property
    def forest(self) -> Forest:
        """The workloads of all trees concerned. At least one entrant must have ways."""
        return build_forest(self.snapshot, self.entrants)

    @cached_property
    def _today(self) -> Sequence[Mapping[FlavorResource, int]]:
        """What each asks for in the flavors that Kueue assigns it today: (P,)."""
        snapshot, today = self.snapshot, []
        for preemptor, choices in zip(self.preemptors, self.choices, strict=True):
            assignment = Case(self.state, snapshot, preemptor).assignment
            if assignment.mode == "NoFit":
                wanted = choices[0].asked if choices else {}
            else:
                wanted = asked(snapshot, preemptor, assignment)
            today.append({snapshot.tree.frs[fr]: amount for fr, amount in wanted.items()})
        return today

    def table(self, counted: Collection[int] = ()) -> TermTable:
        """Return the terms; over-freed is measured against the need of the ``counted`` entrants."""
        # What these ask for together, and the most that is available to any of them.
        request, available = [], []
        for tree, fr in _short_in(self.entrants):
            asking = [
                e
                for e in sorted(counted)
                if self.entrants[e].tree == tree and self._today[e].get(fr)
            ]
            request.append(sum(self._today[e][fr] for e in asking))
            rooms = (_available(self.entrants[e], fr) for e in asking)
            available.append(max(rooms, default=0))
        forest = self.forest
        problem = replace(forest.problem, request=request, available=available)
        return term_table(problem, self.snapshot, forest.allowed, self.costs)

    def least(self, entrant: int) -> Mapping[int, int]:
        """Return what an entrant both asks for and holds at least, whatever its flavors: per fr."""
        each = [
            {fr: min(n, choice.reserved.get(fr, 0)) for fr, n in choice.asked.items() if n > 0}
            for choice in self.choices[entrant]
        ]
        in_all = set.intersection(*map(set, each))
        return {fr: least for fr in in_all if (least := min(one[fr] for one in each)) > 0}

    def alone(self, key: str) -> tuple[Mode, Sequence[Demand]]:
        """Return how a pending workload fits by itself, in the flavors that Kueue assigns it."""
        preemptor = next(one for one in self.preemptors if one.key == key)
        case = Case(self.state, self.snapshot, preemptor)
        return case.assignment.mode, demand(case)

    @property
    def determined(self) -> bool:
        """Whether usage alone decides on flavors and modes, without the order of candidates."""
        queues = [self.snapshot.queues[preemptor.queue] for preemptor in self.preemptors]
        return all(
            len({way.flavors for way in entrant.ways}) <= 1
            and queue.spec.flavor_fungibility.preference != "PreemptionOverBorrowing"
            for entrant, queue in zip(self.entrants, queues, strict=True)
        )


def ask(
    state: State,
    snapshot: Snapshot,
    pending: Sequence[str] | None = None,
    costs: Mapping[str, int] | None = None,
) -> Question:
    """Make several pending workloads ready for a joint plan, sorted by precedence.

    Of all, where none are named, those that cannot be planned for are left out.

    Raises `InputError` if a workload is named twice, or cannot be planned for, or a name may mean
    several, or none is left; `UnsupportedError` if there are too many, or one that is named has too
    many ways, or may be admitted with fewer pods.
    """
    known = list(dict.fromkeys(state.pending))
    keys = state.pending if pending is None else [key_of(state, name, known) for name in pending]
    twice = next((key for key in keys if pending and keys.count(key) > 1), None)
    if twice is not None:
        raise InputError("pending", f"{twice} is named twice", hint="name each workload once")
    if len(keys) > MOST:
        raise UnsupportedError(
            "pending",
            f"{len(keys)} workloads are too many for one plan",
            f"at most {MOST}",
            "name the most urgent ones, such as pending=NAME",
        )
    waiting: list[_Waiting] = []
    notes = list(snapshot.notes)
    skipped: list[JointSkipped] = []
    why = ""
    for key in keys:
        try:
            preemptor = find_preemptor(state, snapshot, key)
            notes += [*under_release(state, snapshot, preemptor).notes, *preemptor.notes]
            waiting.append((preemptor, flavored(snapshot, preemptor)))
        except InputError as error:
            if pending is not None:
                raise
            why, said = why or error.found, str(error).removeprefix(f"{key}: ")
            skipped.append(JointSkipped(workload=key, explanation=said))
    if not waiting:
        why = why or ", ".join(deactivated(state)[:10])
        raise InputError(state.source, "nothing is pending that could be planned for", hint=why)

    def precedence(one: _Waiting) -> tuple[int, datetime, str, str]:
        preemptor, _ = one
        uid = preemptor.workload.metadata.uid
        # Keys last: a dump need not have UIDs, and an answer has to be the same each time.
        return -preemptor.priority, preemptor.queued_at, uid, preemptor.key

    waiting.sort(key=precedence)
    snapshot = replace(snapshot, notes=tuple(dict.fromkeys(notes)))
    trees: dict[int, int] = {}
    entrants, first = [], 0
    for number, (preemptor, choices) in enumerate(waiting):
        others = [one for other, one in enumerate(waiting) if other != number]
        ways = ways_of(snapshot, preemptor, choices, _with_others(snapshot, others))
        root = snapshot.tree.root(preemptor.queue)
        # The workloads of a tree stand together; all entrants of a tree have the same ``first``.
        if ways and root not in trees:
            trees[root] = first
            first += len(ways[0].problem.workloads)
        entrants.append(Entrant(root, trees.get(root, 0), ways))
    preemptors, flavors = zip(*waiting, strict=True)
    return Question(state, snapshot, preemptors, flavors, entrants, costs, skipped)


def _with_others(snapshot: Snapshot, others: Sequence[_Waiting]) -> Usage:
    """Return the usage at the start with all ``others`` admitted, each fr at its most."""
    usage = snapshot.usage.copy()
    for preemptor, choices in others:
        most: dict[int, int] = {}
        for choice in choices:
            for fr, amount in choice.reserved.items():
                # Whatever flavors they get: this is only to say what can be short at all.
                most[fr] = max(amount, most.get(fr, 0))
        usage.add(preemptor.queue, most)
    return usage
