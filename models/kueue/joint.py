"""One model of several preemptors served one after another: their order, ways and victims.

Each step serves one preemptor in one of its ways. A single plan knows its state beforehand, a step
does not: what the laws have to know of the state, the way supposes. The laws of a step are those of
a single plan, over the usage that the step finds: the usage at the start, less that of the victims
of earlier steps, plus that of the preemptors served before. Every row is guarded by the literal of
the way: the row binds only if the entrant is served in this step and way.

Source: docs/design/theory.md §2.2 and §2.3; what a way supposes: docs/semantics/kueue.md §4.3,
§5.3, §5.5 and §6.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

import numpy as np
from msgspec import Struct

from planner.laws.kueue import FS_BORROWING, FS_BORROWS_CONTESTED, KQ_OVER_QUOTA
from planner.models.kueue.formulation import Columns, Formulation, TreeUsage
from planner.models.kueue.laws import eligible, fit_rows, restricted_while_borrowing, state_laws
from planner.models.shared.builder import (
    ZERO,
    Builder,
    Guarded,
    Linear,
    constant,
    negation,
    variable,
)
from planner.models.shared.classes import new_takes
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quantity import UNLIMITED
from planner.quota.classes import Classes
from planner.quota.kueue.tree import FlavorResource

_LATER: Final = frozenset({KQ_OVER_QUOTA.id, FS_BORROWS_CONTESTED.id, FS_BORROWING.id})
"""Laws whose masks look at usage, which a step does not know beforehand."""


class Way(Struct, frozen=True, dict=True):
    """One way to serve a preemptor: its flavors, and what the way supposes of the usage it finds.

    - ``problem``: The decision at the start, changed by what the way supposes: exactly the
      ``contested`` fr are short, hierarchical advantage is as ``advantage_at`` says, and under
      fair sharing whether the request stays within nominal quota.
    - ``flavors``: The place of these flavors, from 0, among the preemptor's choices of flavors.
    - ``asked``: Per fr of the problem, what flavor assignment compares with what is available: the
      request and, where covered, the pods.
    - ``reserved``: The usage of the preemptor once it is admitted.
    - ``advantage_at``: The position in the path of a node in whose quota the request fits, so that
      there is advantage above it; ``None`` supposes nothing.
    - ``by_reclaim``: The contested fr in which the preemptor may preempt only if some cohort below
      the root could give the amount back (docs/semantics/kueue.md §4.3).
    """

    problem: Problem
    flavors: int
    asked: Mapping[int, int]
    reserved: Mapping[FlavorResource, int]
    advantage_at: int | None = None
    by_reclaim: Sequence[int] = ()

    @cached_property
    def allowed(self) -> BoolArray:
        """(W,) who may be a victim by the laws that look at no usage."""
        if not self.problem.contested:
            return np.zeros(len(self.problem.workloads), dtype=np.bool_)
        return eligible(self.problem, without=_LATER)

    @cached_property
    def restricted(self) -> BoolArray:
        """(W,) whom no attempt with borrowing may take."""
        return restricted_while_borrowing(self.problem)

    @property
    def may_come_first(self) -> bool:
        """Whether exactly the contested fr are short at the start."""
        available, asked = self.problem.available, self.asked.items()
        short = {fr for fr, amount in asked if amount > max(0, available[fr])}
        return short == set(self.problem.contested)


class Entrant(Struct, frozen=True):
    """A pending workload with all its ways.

    ``tree`` names its tree of cohorts, by the root; ``first`` is the position, among the workloads
    of all trees, of the first one of its tree.
    """

    tree: int
    first: int
    ways: Sequence[Way]

    def local_position(self, position: int) -> int | None:
        """Return the position of a workload in this entrant's problems; ``None`` if not in them."""
        # Trees follow one another in the list of all workloads, each in the order of its problems.
        local = position - self.first
        return local if self.ways and 0 <= local < len(self.ways[0].problem.workloads) else None

    def may_take(self, way: int, position: int) -> bool:
        """Say whether a workload may be a victim in a way, whatever the usage."""
        place = self.local_position(position)
        return place is not None and bool(self.ways[way].allowed[place])


class Cut(Struct, frozen=True):
    """What the scheduler's own replay showed of a step: in one state some ways are impossible.

    The state: in the tree of the entrant exactly those in ``before`` (an entrant and the place of
    its flavors) were served, and exactly ``gone`` were evicted. There ``entrant`` is not served in
    the ways ``forbidden``: not at all, or, if ``taken`` is given, not with exactly these victims.
    """

    entrant: int
    before: frozenset[tuple[int, int]]
    gone: frozenset[int]
    forbidden: frozenset[int]
    taken: frozenset[int] | None = None


@dataclass
class JointFormulation:
    """The model of a joint plan while it is being built.

    ``take[k]`` is the number of victims of class k in all steps together, ``taken[step, k]`` in one
    step; ``serve[step, entrant, way]`` is the literal that says whether the step serves the entrant
    in this way, ``admitted`` has one per entrant: whether it is served at all. There are no
    ``alternatives``: of all that is chosen, the disruption terms depend on the victims only.
    """

    entrants: Sequence[Entrant]
    classes: Classes
    in_order: bool
    builder: Builder
    take: list[int] = field(default_factory=list)
    admitted: list[int] = field(default_factory=list)
    taken: dict[tuple[int, int], int] = field(default_factory=dict)
    serve: dict[tuple[int, int, int], int] = field(default_factory=dict)
    alternatives: Sequence[int] = ()

    @property
    def steps(self) -> range:
        """The steps, as many as entrants; a step may serve nobody."""
        return range(len(self.entrants))

    @cached_property
    def classes_at(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """Per tree and queue: its classes, each with its position in the problems of the tree."""
        trees = {entrant.tree: entrant for entrant in self.entrants if entrant.ways}
        found: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for k, position in enumerate(self.classes.first.tolist()):
            for tree, entrant in trees.items():
                place = entrant.local_position(position)
                if place is not None:
                    node = int(entrant.ways[0].problem.queue[place])
                    found.setdefault((tree, node), []).append((k, place))
        return found

    @cached_property
    def serve_at(self) -> dict[tuple[int, int], list[tuple[int, int, Way]]]:
        """Per tree and queue: the steps and literals that serve its entrants, each with its way."""
        found: dict[tuple[int, int], list[tuple[int, int, Way]]] = {}
        for (step, e, w), literal in self.serve.items():
            entrant = self.entrants[e]
            way = entrant.ways[w]
            there = entrant.tree, way.problem.own_queue
            found.setdefault(there, []).append((step, literal, way))
        return found

    def served(self, step: int, entrant: int | None = None) -> Linear:
        """Return an expression, 0 or 1: whether a step serves an entrant, by default any."""
        return _sum(
            literal
            for (at, e, _), literal in self.serve.items()
            if at == step and entrant in {None, e}
        )


class Step:
    """One entrant served in one step in one way: its laws, and what the way supposes."""

    def __init__(
        self, joint: JointFormulation, step: int, entrant: int, way: int, literal: int
    ) -> None:
        self.joint, self.step = joint, step
        self.entrant = joint.entrants[entrant]
        self.number, self.way = way, self.entrant.ways[way]
        self.problem = self.way.problem
        self.builder = Guarded(joint.builder, literal)
        given = joint, step, self.entrant.tree, self.way
        self.before = StateUsage(*given, "before")
        self.after = StateUsage(*given, "after")
        self.with_request = StateUsage(*given, "with request")

    def state(self) -> None:
        """State what the way supposes of the usage before the step, and the laws of the step."""
        problem = self.problem
        for fr, amount in self.way.asked.items():
            rows = fit_rows(problem, self.before, fr, amount)
            if fr in problem.contested:
                over = ((row, most + 1) for row, most in rows)
                # Exactly the contested are short when the step begins: the rest is Fit.
                self.builder.any_of(self.builder.witnesses(over))
            else:
                for row, most in rows:
                    self.builder.add(row <= most)
        if problem.contested:
            self._suppositions()
            formulation = self._formulation()
            state_laws(formulation)
            if problem.fair is not None:
                self._victims_from_borrowers(formulation)
            elif problem.policy.borrow_within_cohort.policy == "Never":
                # KQ-08: a queue at its nominal quota in a contested fr makes no attempt without
                # borrowing. What else decides which attempts are made needs no row: a step that
                # takes own victims only is legal in the attempt with borrowing if it is in the one
                # without. Source: kueue ff69552e preemption.go ``classicalPreemptions``;
                # docs/semantics/kueue.md §5.5.
                for fr in problem.contested:
                    used = self.before.after(problem.own_queue, fr) + 1
                    self._keep_quota(problem.own_queue, fr, used, [negation(formulation.borrowing)])

    def _formulation(self) -> Formulation:
        entrant, classes = self.entrant, self.joint.classes
        chosen = [
            k
            for step, k in self.joint.taken
            if step == self.step and entrant.may_take(self.number, int(classes.first[k]))
        ]
        local = Classes.of_members(
            [[m - entrant.first for m in classes.members[k]] for k in chosen]
        )
        columns = Columns(self.problem, local, self.way.restricted)
        take = [self.joint.taken[self.step, k] for k in chosen]
        # Under fair sharing there is one attempt, and it borrows.
        borrowing = self.builder.new(int(self.problem.fair is not None), 1)
        formulation = Formulation(self.problem, columns, self.builder, take, borrowing)
        formulation.usage, formulation.usage_with_request = self.after, self.with_request
        return formulation

    def _suppositions(self) -> None:
        problem, before, queue = self.problem, self.before, self.problem.own_queue
        if self.way.advantage_at is not None:
            self._fits_in_quota(self.way.advantage_at)
        if problem.fair is not None and problem.fair.within_nominal:
            for fr in problem.contested:
                self._keep_quota(queue, fr, before.after(queue, fr) + problem.searched[fr])
        for fr in self.way.by_reclaim:
            rest, some = constant(self.way.asked[fr]), []
            # Without the root: an amount that fits only there is not reclaimed (§4.3).
            for below, node in zip(problem.path, problem.path[1:-1], strict=False):
                if UNLIMITED in {problem.kept[below][fr], problem.quota[node][fr]}:
                    some.append((ZERO, 0))
                    break
                rest = rest - before.local_free(below, fr)
                room = -(rest + before.after(node, fr))
                some.append((room, -problem.quota[node][fr]))
            self.builder.any_of(self.builder.witnesses(some))

    def _fits_in_quota(self, position: int) -> None:
        """State that the request fits in the quota of a node of the path.

        Source: docs/semantics/kueue.md §5.3.
        """
        problem, before, node = self.problem, self.before, self.problem.path[position]
        for fr in problem.within_nominal:
            rest = constant(problem.searched[fr])
            for below in problem.path[:position]:
                if problem.kept[below][fr] == UNLIMITED:
                    rest = ZERO
                else:
                    less = rest - before.local_free(below, fr)
                    rest = self.builder.positive_part(less)
            self._keep_quota(node, fr, before.after(node, fr) + rest)

    def _keep_quota(self, node: int, fr: int, used: Linear, when: Iterable[int] = ()) -> None:
        quota = self.problem.quota[node][fr]
        if quota != UNLIMITED:
            self.builder.add(used <= quota, when)

    def _victims_from_borrowers(self, formulation: Formulation) -> None:
        """FS-05: every touched queue but the own borrows something contested before the step."""
        problem = self.problem
        for queue in dict.fromkeys(formulation.columns.queue.tolist()):
            if queue == problem.own_queue:
                continue
            borrows = (
                (self.before.after(queue, fr), problem.quota[queue][fr] + 1)
                for fr in problem.contested
                if problem.quota[queue][fr] != UNLIMITED
            )
            touched = formulation.touched(queue)
            self.builder.any_of([*self.builder.witnesses(borrows), negation(touched)])


Moment = Literal["before", "after", "with request"]
"""Before a step, after it, or after it with its preemptor's request counted at its queue."""


class StateUsage(TreeUsage):
    """The usage of every node of a tree before or after a step."""

    def __init__(
        self, joint: JointFormulation, step: int, tree: int, way: Way, moment: Moment
    ) -> None:
        problem = way.problem
        # No classes: victims and admissions so far depend on the step; `_after` adds them.
        columns = Columns(problem, Classes.of_members([]), way.restricted)
        request = problem.searched if moment == "with request" else None
        super().__init__(joint.builder, problem, columns, (), request)
        self._joint, self._tree, self._at = joint, tree, step
        self._last = step + (moment != "before")

    def _after(self, node: int, fr: int) -> Linear:
        problem = self._problem
        if problem.children[node]:
            return super()._after(node, fr)
        joint, there = self._joint, (self._tree, node)
        usage = problem.usage[node][fr] + self._request[fr] * (node == problem.own_queue)
        # The usage of the queue's preemptors that were served in earlier steps.
        changes: dict[int, int] = {}
        for at, literal, way in joint.serve_at.get(there, ()):
            amount = way.reserved.get(problem.frs[fr], 0)
            if at < self._at and amount:
                changes[literal] = amount
        # What victims of the queue give back.
        for k, place in joint.classes_at.get(there, ()):
            amount = int(problem.holding[place, fr])
            for at in range(self._last) if amount else ():
                if (at, k) in joint.taken:
                    changes[joint.taken[at, k]] = -amount
        return Linear(changes, usage)

    def _may_change(self, node: int) -> bool:
        """Return True: victims and preemptors of earlier steps may be anywhere."""
        del node
        return True


def assemble_joint(
    entrants: Sequence[Entrant],
    classes: Classes,
    cuts: Iterable[Cut] = (),
    *,
    in_order: bool = False,
) -> JointFormulation:
    """Build the model of a joint plan.

    - ``entrants``: Who may be served, in order of precedence.
    - ``classes``: Classes of candidates, by their positions among the workloads of all trees.
    - ``cuts``: What replays have shown of the scheduler's own decisions.
    - ``in_order``: Whether entrants are served in the order given; otherwise any order will do.
    """
    joint = JointFormulation(entrants, classes, in_order, Builder())
    joint.take = new_takes(joint.builder, classes)
    joint.admitted = [joint.builder.new_bool() for _ in entrants]
    _serve_each_once(joint)
    _take_in_steps(joint)
    for (step, entrant, way), literal in joint.serve.items():
        Step(joint, step, entrant, way, literal).state()
    for cut in cuts:
        _heed(joint, cut)
    return joint


def _serve_each_once(joint: JointFormulation) -> None:
    """State that each entrant is served at most once, one per step, with no empty step between."""
    builder = joint.builder
    for step in joint.steps:
        for e, entrant in enumerate(joint.entrants):
            if joint.in_order and e != step:
                continue
            for w, way in enumerate(entrant.ways):
                # What is short before the first step is known, so most ways need no variable there.
                if step or way.may_come_first:
                    joint.serve[step, e, w] = builder.new_bool()
    for e, literal in enumerate(joint.admitted):
        served = (joint.served(step, e) for step in joint.steps)
        builder.add(sum(served, start=-variable(literal)).equals(0))
    busy = [joint.served(step) for step in joint.steps]
    for step in joint.steps:
        builder.add(busy[step] <= 1)
        # Steps that serve nobody come last, or each plan would stand in the model many times.
        if step and not joint.in_order:
            builder.add(busy[step - 1] >= busy[step])


def _take_in_steps(joint: JointFormulation) -> None:
    builder = joint.builder
    for k in range(len(joint.classes)):
        position, count = int(joint.classes.first[k]), joint.classes.count(k)
        total = -variable(joint.take[k])
        for step in joint.steps:
            may = [
                literal
                for (at, e, w), literal in joint.serve.items()
                if at == step and joint.entrants[e].may_take(w, position)
            ]
            if not may:
                continue
            joint.taken[step, k] = builder.new(0, count)
            taken = variable(joint.taken[step, k])
            # At most one of these literals is true, so the right side is count or 0.
            builder.add(taken <= count * _sum(may))
            total = total + taken
        builder.add(total.equals(0))


def _heed(joint: JointFormulation, cut: Cut) -> None:
    """Forbid the ways of a cut in the state of the cut, in whichever step that is met."""
    members = [frozenset(each) for each in joint.classes.members]
    known = frozenset().union(*members)
    # If a workload of the cut is no candidate here, its state is never met.
    if not cut.gone | (cut.taken or frozenset()) <= known:
        return
    tree = joint.entrants[cut.entrant].tree
    queues = (there for (at, _), there in joint.classes_at.items() if at == tree)
    inside = sorted(k for there in queues for k, _ in there)
    for step in joint.steps:
        ways = (joint.serve.get((step, cut.entrant, w)) for w in cut.forbidden)
        met = [literal for literal in ways if literal is not None]
        if not met:
            continue
        different = [
            (_sum(joint.taken.get((at, k)) for at in range(step)), len(cut.gone & members[k]))
            for k in inside
        ]
        # Per entrant of the tree and its flavors: whether it was served, here and in the cut. By
        # flavors and not by way: what a way supposes leaves no trace in the state after it.
        for e, entrant in enumerate(joint.entrants):
            beside = entrant.tree == tree and e != cut.entrant
            for flavors in {way.flavors for way in entrant.ways} if beside else ():
                served = (
                    literal
                    for (at, other, w), literal in joint.serve.items()
                    if at < step and other == e and entrant.ways[w].flavors == flavors
                )
                different.append((_sum(served), int((e, flavors) in cut.before)))
        if cut.taken is not None:
            different += [
                (_sum([joint.taken.get((step, k))]), len(cut.taken & members[k])) for k in inside
            ]
        outside = joint.builder.outside
        conditions = (one for sum_, value in different for one in outside(sum_, value, value))
        others = joint.builder.witnesses(conditions)
        for literal in met:
            joint.builder.any_of([negation(literal), *others])


def _sum(indices: Iterable[int | None]) -> Linear:
    return Linear({index: 1 for index in indices if index is not None})
