"""KQ-07 as a closed form: only the last removal below a node can find it within its quota.

Removals never raise usage, so the victims below a node can be removed legally in some order if
and only if some last victim of each touched node, nested along the tree, still finds the node
over its quota (design.md, 2.2). The choice of last victims is part of the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.models.shared.builder import ZERO, Builder, Linear, negation, variable
from planner.quantity import UNLIMITED

if TYPE_CHECKING:
    from planner.models.kueue.formulation import Formulation


def over_quota_until_last_victim(formulation: Formulation) -> None:
    """KQ-07: every touched node strictly below its LCA has a last victim that finds it over quota.

    For a queue the last victim is one of its classes; for a cohort it is that of one touched
    child. With w(n) the usage of n with its last victim put back:

        touched(n)  =>  w(n, fr) >= subtree(n, fr) + 1   for some contested fr.

    Source: kueue ff69552e candidate_generator.go ``candidateIsValid``; design.md 2.2.
    """
    problem = formulation.problem
    for top in problem.path[1:]:
        for child in problem.children(top):
            if child not in problem.path:
                _Subtree(formulation).constrain(child)


class _Subtree:
    """The last-victim condition of one side node and everything below it."""

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation
        self.builder: Builder = formulation.builder
        self.problem = formulation.problem

    def constrain(self, node: int) -> tuple[int, dict[int, Linear]] | None:
        """Constrain a node; return its touched literal and what its last victim holds there.

        The second is per contested fr: w(n) - usage(n), what putting the last victim back adds.
        ``None`` where no candidate lies below the node.
        """
        formulation = self.formulation
        classes = formulation.classes_of.get(node, ())
        if classes:
            touched, back = self._last_of_queue(node, classes)
        else:
            below = [
                (child, *found)
                for child in self.problem.children(node)
                if (found := self.constrain(child)) is not None
            ]
            if not below:
                return None
            touched, back = self._last_of_cohort(below)
        self._require_over_quota(node, touched, back)
        return touched, back

    def _last_of_queue(self, node: int, classes: tuple[int, ...]) -> tuple[int, dict[int, Linear]]:
        formulation, builder = self.formulation, self.builder
        touched = formulation.touched(node)
        last = {}
        for k in classes:
            take = formulation.take[k]
            last[k] = builder.new_bool()
            formulation.last_of_class[k] = last[k]
            builder.at_least(variable(take).plus(variable(last[k]), -1), 0)
        builder.equal(Linear(dict.fromkeys(last.values(), 1)).plus(variable(touched), -1), 0)
        holding = formulation.columns.holding
        back = {
            fr: Linear({last[k]: int(holding[k, fr]) for k in classes if holding[k, fr]})
            for fr in self.problem.contested
        }
        return touched, back

    def _last_of_cohort(
        self, below: list[tuple[int, int, dict[int, Linear]]]
    ) -> tuple[int, dict[int, Linear]]:
        """Choose which touched child's last victim is the last one below this cohort."""
        builder = self.builder
        touched = builder.new_bool()
        passed = {child: self._passed_up(child, back) for child, _, back in below}
        chosen = {}
        for child, child_touched, _ in below:
            chosen[child] = builder.new_bool()
            builder.at_least(variable(touched).plus(variable(child_touched), -1), 0)
            builder.at_least(variable(child_touched).plus(variable(chosen[child]), -1), 0)
            self.formulation.last_of_node[child] = chosen[child]
        builder.equal(Linear(dict.fromkeys(chosen.values(), 1)).plus(variable(touched), -1), 0)
        self.formulation.touched_cohort[self.problem.parent[below[0][0]]] = touched
        back = {}
        for fr in self.problem.contested:
            highest = max(builder.bounds(up[fr])[1] for up in passed.values())
            if highest == 0:
                back[fr] = ZERO
                continue
            added = builder.new(0, highest)
            for child, literal in chosen.items():
                difference = variable(added).plus(passed[child][fr], -1)
                builder.equal(difference, 0, when=[literal])
            builder.equal(variable(added), 0, when=[negation(touched)])
            back[fr] = variable(added)
        return touched, back

    def _passed_up(self, child: int, back: dict[int, Linear]) -> dict[int, Linear]:
        """Return what putting a child's last victim back adds at its parent.

        stored(usage + back) - stored(usage): less than ``back`` while the child has quota of its
        own to spare that it never lends.
        """
        usage, builder = self.formulation.usage, self.builder
        passed = {}
        for fr in self.problem.contested:
            kept = self.problem.kept[child][fr]
            if kept == UNLIMITED:
                passed[fr] = ZERO
            elif kept == 0:
                passed[fr] = back[fr]
            else:
                with_last = usage.after(child, fr).plus(back[fr]).shifted(-kept)
                passed[fr] = builder.positive_part(with_last).plus(usage.stored(child, fr), -1)
        return passed

    def _require_over_quota(self, node: int, touched: int, back: dict[int, Linear]) -> None:
        """Require touched => over quota in some contested fr, the last victim still there."""
        builder, usage = self.builder, self.formulation.usage
        witnesses = []
        for fr in self.problem.contested:
            quota = self.problem.quota[node][fr]
            if quota == UNLIMITED:
                continue
            with_last = usage.after(node, fr).plus(back[fr])
            low, high = builder.bounds(with_last)
            if low > quota:
                return
            if high > quota:
                witness = builder.new_bool()
                builder.at_least(with_last, quota + 1, when=[witness])
                self.formulation.witness[node, fr] = witness
                witnesses.append(witness)
        builder.any_of([*witnesses, negation(touched)])
