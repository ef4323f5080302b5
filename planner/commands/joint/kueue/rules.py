"""The rules of a joint plan as a search uses them.

A search decides which workloads are victims in all. Whether they may be is tested twice: the model
must divide them among steps, and Kueue's own replay must accept the steps. If it does not, Kueue
assigns other flavors than the model supposed, or doubles round otherwise than integers: the
replay's answer narrows the model, which is then solved again.

That too little is free for all whom a plan is to admit, whoever goes, is seen without a model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

from msgspec import Struct

from planner.case.kueue import Case
from planner.commands.joint.kueue.question import Question
from planner.commands.joint.kueue.sequence import Served, replay
from planner.commands.joint.kueue.ways import asked
from planner.models.kueue.joint import Cut, JointFormulation, assemble_joint
from planner.models.shared.builder import Linear, variable
from planner.objective.terms import TermTable
from planner.quota.classes import Classes
from planner.quota.kueue.assignment import contested
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine
from planner.solver.search import Rules

EFFORT: Final = 1.0
"""Effort for putting off evictions to later steps, which only makes a plan easier to read."""

HARD: Final = 10.0
"""Effort for dividing given victims among steps at all."""


class JointRules(Rules, Struct, dict=True):
    """The rules for some pending workloads.

    ``admit`` are the entrants that every answer serves, ``refuse`` those that none does.
    ``in_order`` says that they are served in order of precedence only; ``doubtful`` that for some
    victims it was not decided whether they divide into steps.
    """

    question: Question
    table: TermTable
    admit: frozenset[int] = frozenset()
    in_order: bool = False
    refuse: frozenset[int] = frozenset()
    cuts: list[Cut] = []
    doubtful: bool = False
    _found: dict[frozenset[int], list[list[Served]]] = {}
    _none: set[tuple[frozenset[int], frozenset[int], frozenset[int], bool]] = set()
    _last: tuple[tuple[object, ...], JointFormulation] | None = None

    def __post_init__(self) -> None:
        """Take the candidate order of all trees together."""
        self.order = self.question.forest.problem.order

    def is_hopeless(self, classes: Classes) -> bool:
        """Say whether too little is free for all admitted with all members of classes gone.

        Of those below a node that ask for a flavor-resource, the last to be served finds what all
        others hold; after it usage of that only falls. So one of them fits with all of them in.
        """
        snapshot, workloads = self.question.snapshot, self.question.forest.workloads
        gone, tree = snapshot.usage.copy(), snapshot.tree
        for position in chain.from_iterable(classes.members):
            gone.remove(workloads[position].queue, workloads[position].usage)
        admitted = [
            (self.question.preemptors[e].queue, self.question.least(e))
            for e in sorted(self.admit)
            if self.question.entrants[e].ways
        ]
        for node in {above for queue, _ in admitted for above in tree.path(queue)}:
            below = [(queue, least) for queue, least in admitted if node in tree.path(queue)]
            usage = gone.copy()
            for queue, least in below:
                usage.add(queue, least)
            for fr in {fr for _, least in below for fr in least}:
                if all(usage.available(queue, fr) < 0 for queue, least in below if fr in least):
                    return True
        return False

    @cached_property
    def _number(self) -> dict[str, int]:
        return {preemptor.key: e for e, preemptor in enumerate(self.question.preemptors)}

    def assemble(self, classes: Classes) -> JointFormulation:
        """Build the model in which only these classes give victims, or copy the last one.

        Levels ask one after the other over few classes. What is added to the copy is not in the
        next one.
        """
        key = classes.members, self.in_order, self.admit, self.refuse, len(self.cuts)
        if self._last is None or self._last[0] != key:
            self._last = key, self._built(classes, in_order=self.in_order)
        joint = self._last[1]
        return dataclasses.replace(joint, builder=joint.builder.copy())

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether Kueue's own replay accepts the victims, served in some order of steps."""
        return self.steps(positions) is not None

    def steps(self, positions: Collection[int]) -> list[Served] | None:
        """Return steps that evict exactly these victims, or ``None`` if there are none.

        The order of precedence is tried first; and each victim is evicted as late as the steps
        permit.
        """
        victims = frozenset(positions)
        for steps in self._found.get(victims, ()):
            order = [self._number[step.plan.preemptor] for step in steps]
            served = set(order)
            suits = self.admit <= served and served.isdisjoint(self.refuse)
            if suits and (not self.in_order or order == sorted(order)):
                return steps
        key = victims, self.admit, self.refuse, self.in_order
        if key in self._none:
            return None
        doubtful = self.doubtful
        found = self._divide(sorted(positions), in_order=True)
        if found is None and not self.in_order:
            found = self._divide(sorted(positions), in_order=False)
        if found is None:
            self._none.add(key)
        else:
            # Questions left undecided on the way do not matter once there are steps.
            self.doubtful = doubtful
            self._found.setdefault(victims, []).append(found)
        return found

    def remember(self, steps: list[Served]) -> None:
        """Keep steps that were replayed, as the answer of `steps` for their victims."""
        place = self.question.forest.position_of
        victims = frozenset(place[key] for step in steps for key in step.plan.keys)
        self._found.setdefault(victims, []).append(steps)

    def served(self, steps: Sequence[Served]) -> set[int]:
        """Return the entrants that are served in these steps."""
        return {self._number[step.plan.preemptor] for step in steps}

    def _divide(self, positions: Sequence[int], *, in_order: bool) -> list[Served] | None:
        """Return steps in which exactly the workloads at these positions are victims."""
        # A class for each: the question is who goes in which step, also among interchangeable ones.
        alone = Classes.of_members([[position] for position in positions])
        while True:
            joint = self._built(alone, in_order=in_order)
            for index in joint.take:
                joint.builder.add(variable(index) >= 1)
            late = Linear({index: -step for (step, _), index in joint.taken.items() if step})
            result = run_engine(joint.builder, late, Deadline(), effort=EFFORT)
            if not result.solution:
                result = run_engine(joint.builder, None, Deadline(), effort=HARD)
            if not result.solution:
                self.doubtful = self.doubtful or result.outcome == "unknown"
                return None
            chosen = _read(joint, result.solution)
            workloads, preemptors = self.question.forest.workloads, self.question.preemptors
            steps = [(preemptors[e], [workloads[i].key for i in gone]) for e, _, gone in chosen]
            found, refused = replay(self.question.state, self.question.snapshot, steps)
            if refused is None:
                return found
            self.cuts.append(self._cut(chosen[: len(found) + 1], refused))

    def _built(self, classes: Classes, *, in_order: bool) -> JointFormulation:
        entrants = self.question.entrants
        joint = assemble_joint(entrants, classes, self.cuts, in_order=in_order)
        for e in self.admit:
            joint.builder.add(variable(joint.admitted[e]) >= 1)
        for e in self.refuse:
            joint.builder.add(variable(joint.admitted[e]) <= 0)
        return joint

    def _cut(self, chosen: Sequence[tuple[int, int, Sequence[int]]], refused: Case) -> Cut:
        """Return what a last step that is refused shows: its way is wrong there, or its victims."""
        entrants = self.question.entrants
        *earlier, (e, way, taken) = chosen
        before = [
            (other, w, gone)
            for other, w, gone in earlier
            if entrants[other].tree == entrants[e].tree
        ]
        # If Kueue decides in the way that the model supposed, it is the victims that are refused.
        # If not, only the ways in which it does decide are left after the same steps.
        possible = self._ways_there(e, refused)
        everything = frozenset(range(len(entrants[e].ways)))
        agreed = way in possible
        return Cut(
            entrant=e,
            before=frozenset((other, entrants[other].ways[w].flavors) for other, w, _ in before),
            gone=frozenset(i for *_, gone in before for i in gone),
            forbidden=everything if agreed else everything - possible,
            taken=frozenset(taken) if agreed else None,
        )

    def _ways_there(self, entrant: int, case: Case) -> frozenset[int]:
        """Return the ways with the flavors and modes that Kueue assigns in a refused step."""
        ways = self.question.entrants[entrant].ways
        assignment, snapshot = case.assignment, case.snapshot
        complete = len(assignment.pod_sets) == len(case.preemptor.pod_sets)
        if assignment.mode == "NoFit" or not complete:
            return frozenset()
        wanted = asked(snapshot, case.preemptor, assignment)
        short = {snapshot.tree.frs[fr] for fr in contested(assignment, snapshot)}
        if short and assignment.mode == "Fit":
            return frozenset()  # Kueue takes it for fitting, and never looks for victims
        choices = self.question.choices[entrant]
        return frozenset(
            number
            for number, way in enumerate(ways)
            if choices[way.flavors].asked == wanted
            and {way.problem.frs[fr] for fr in way.problem.contested} == short
        )


def _read(joint: JointFormulation, solution: Sequence[int]) -> list[tuple[int, int, list[int]]]:
    """Return who is served, in which way, and the positions of the victims, step by step."""
    found = []
    for step, e, way in sorted(key for key, literal in joint.serve.items() if solution[literal]):
        positions = [
            position
            for (at, k), index in joint.taken.items()
            if at == step
            for position in joint.classes.members[k][: solution[index]]
        ]
        found.append((e, way, positions))
    return found
