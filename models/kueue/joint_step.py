"""One step of a joint plan: the laws of a single plan, over the usage that the step finds.

That usage is the one at the start, less the victims of the steps before, plus what the preemptors
served before hold. Every row is guarded by the literal of the way: it binds only if the entrant
is served in this step and way.

Source: docs/design/theory.md §2.2 and §2.3; what a way supposes: docs/semantics/kueue.md §4.3,
§5.3, §5.5 and §6.3.
"""

from __future__ import annotations

import numpy as np

from planner.models.kueue.build import state_laws
from planner.models.kueue.columns import Columns
from planner.models.kueue.formulation import Formulation
from planner.models.kueue.joint import JointFormulation
from planner.models.kueue.last_victim import LastVictims
from planner.models.kueue.laws import fit_rows
from planner.models.kueue.usage import TreeUsage
from planner.models.shared.builder import ZERO, Linear, constant, negation
from planner.models.shared.classes import Classes
from planner.models.shared.guarded import Guarded
from planner.quantity import UNLIMITED
from planner.quota.kueue.tree import FlavorResource


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
        self.before = StateUsage(self, after=False)

    def state(self) -> None:
        """State that the way is what the scheduler finds, and the laws."""
        problem = self.problem
        for fr, amount in self.way.asked.items():
            rows = fit_rows(problem, self.before, fr, amount)
            if fr in problem.contested:
                over = ((row, most + 1) for row, most in rows)
                # Contested is what is short when the step begins: assignment calls the rest Fit.
                self.builder.any_of(self.builder.witnesses(over))
            else:
                for row, most in rows:
                    self.builder.add(row <= most)
        if problem.contested:
            self._suppositions()
            formulation = self._formulation()
            state_laws(formulation)
            if problem.fair is None:
                self._under_nominal_without_borrowing(formulation)
            else:
                self._victims_from_borrowers(formulation)

    def _formulation(self) -> Formulation:
        entrant, classes = self.entrant, self.joint.classes
        chosen = [
            k
            for step, k in self.joint.taken
            if step == self.step and entrant.may_take(self.number, int(classes.first[k]))
        ]
        members = [[m - entrant.first for m in classes.members[k]] for k in chosen]
        local = Classes(members, np.array([each[0] for each in members], dtype=np.int64))
        columns = Columns(self.problem, local, self.way.restricted)
        take = [self.joint.taken[self.step, k] for k in chosen]
        # Under fair sharing there is one attempt, and it borrows.
        borrowing = self.builder.new(int(self.problem.fair is not None), 1)
        formulation = Formulation(self.problem, columns, self.builder, take, borrowing)
        formulation.usage = StateUsage(self, after=True)
        formulation.usage_with_request = StateUsage(self, after=True, with_request=True)
        formulation.last_victims = LastVictims(formulation)
        return formulation

    def _suppositions(self) -> None:
        """State what the way supposes of the usage before the step."""
        problem, before, queue = self.problem, self.before, self.problem.own_queue
        if self.way.advantage_at is not None:
            self._fits_in_quota(self.way.advantage_at)
        if problem.fair is not None and problem.fair.within_nominal:
            for fr in problem.contested:
                if problem.quota[queue][fr] != UNLIMITED:
                    used = before.after(queue, fr) + problem.searched[fr]
                    self.builder.add(used <= problem.quota[queue][fr])
        for fr in self.way.by_reclaim:
            rest, some = constant(self.way.asked[fr]), []
            # Without the root: what fits there only does not count as reclaimed (§4.3).
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
            if problem.quota[node][fr] != UNLIMITED:
                used = before.after(node, fr) + rest
                self.builder.add(used <= problem.quota[node][fr])

    def _under_nominal_without_borrowing(self, formulation: Formulation) -> None:
        """KQ-08: an attempt that may not borrow starts below nominal, or may borrow elsewhere.

        Where ``borrowWithinCohort`` is Never, it is not made by a queue at its nominal quota.

        A step that takes own victims only is legal in the attempt with borrowing if it is in the
        other, so what else decides which attempts are made needs no row.

        Source: kueue ff69552e preemption.go ``classicalPreemptions``; docs/semantics/kueue.md §5.5.
        """
        problem = self.problem
        if problem.policy.borrow_within_cohort.policy != "Never":
            return
        without = [negation(formulation.borrowing)]
        for fr in problem.contested:
            nominal = problem.quota[problem.own_queue][fr]
            if nominal != UNLIMITED:
                used = self.before.after(problem.own_queue, fr)
                self.builder.add(used <= nominal - 1, when=without)

    def _victims_from_borrowers(self, formulation: Formulation) -> None:
        """FS-05: a touched queue borrows something contested before the step, except the own."""
        problem = self.problem
        for queue in formulation.classes_of:
            if queue == problem.own_queue:
                continue
            borrows = (
                (self.before.after(queue, fr), problem.quota[queue][fr] + 1)
                for fr in problem.contested
                if problem.quota[queue][fr] != UNLIMITED
            )
            touched = formulation.touched(queue)
            self.builder.any_of([*self.builder.witnesses(borrows), negation(touched)])


class StateUsage(TreeUsage):
    """The usage of every node before or after a step."""

    def __init__(self, step: Step, *, after: bool, with_request: bool = False) -> None:
        nobody = Classes((), np.zeros(0, dtype=np.int64))
        problem = step.problem
        # No classes: who has gone and come by now depends on the step, and is added in `_after`.
        columns = Columns(problem, nobody, step.way.restricted)
        super().__init__(step.joint.builder, problem, columns, ())
        self._step = step
        self._last = step.step + after
        self._own = problem.searched if with_request else [0] * len(problem.frs)

    def _after(self, node: int, fr: int) -> Linear:
        problem = self._problem
        if problem.children[node]:
            return super()._after(node, fr)
        total = constant(problem.usage[node][fr] + self._own[fr] * (node == problem.own_queue))
        return total + self._entered(node, problem.frs[fr]) + self._left(node, fr)

    def _may_change(self, node: int) -> bool:
        """Return True: victims and preemptors of earlier steps may be anywhere."""
        del node
        return True

    def _entered(self, node: int, fr: FlavorResource) -> Linear:
        """Return what preemptors of a queue hold who were served in steps before."""
        joint, tree = self._step.joint, self._step.entrant.tree
        held: dict[int, int] = {}
        for (at, e, w), literal in joint.serve.items():
            entrant = joint.entrants[e]
            way = entrant.ways[w]
            if at < self._step.step and entrant.tree == tree and way.problem.own_queue == node:
                held[literal] = way.reserved.get(fr, 0)
        return Linear({literal: amount for literal, amount in held.items() if amount})

    def _left(self, node: int, fr: int) -> Linear:
        """Return what victims of a queue give back, as a negative amount."""
        joint, holding = self._step.joint, self._problem.holding
        given: dict[int, int] = {}
        for k, place in joint.classes_at.get((self._step.entrant.tree, node), ()):
            amount = int(holding[place, fr])
            for at in range(self._last) if amount else ():
                if (at, k) in joint.taken:
                    given[joint.taken[at, k]] = -amount
        return Linear(given)
