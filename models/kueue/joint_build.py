"""A joint plan as one CP-SAT model: who is served when, in which way, and with whom gone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner.models.kueue.joint import Cut, Entrant, JointFormulation, Way
from planner.models.kueue.joint_step import Step
from planner.models.shared.builder import ZERO, Builder, Linear, negation, variable
from planner.models.shared.classes import Classes, new_takes


def assemble_joint(
    entrants: Sequence[Entrant],
    classes: Classes,
    cuts: Iterable[Cut] = (),
    *,
    in_order: bool = False,
) -> JointFormulation:
    """Build the model of a joint plan.

    Parameters
    ----------
    entrants
        Who may be served, in order of precedence.
    classes
        Classes of candidates, by their positions among the workloads of all trees.
    cuts
        What was learned of the scheduler's own decisions.
    in_order
        Whether they are served in the order given; otherwise any order will do.
    """
    joint = JointFormulation(entrants, classes, in_order)
    builder = joint.builder
    joint.take = new_takes(builder, classes)
    joint.admitted = [builder.new_bool() for _ in entrants]
    _serve_each_once(joint)
    _take_in_steps(joint)
    for (step, entrant, way), literal in joint.serve.items():
        Step(joint, step, entrant, way, literal).state()
    for cut in cuts:
        _heed(joint, cut)
    return joint


def _serve_each_once(joint: JointFormulation) -> None:
    """Let each entrant be served at most once, one in a step, without steps left out between."""
    builder = joint.builder
    for step in joint.steps:
        for e, entrant in enumerate(joint.entrants):
            if joint.in_order and e != step:
                continue
            for w, way in enumerate(entrant.ways):
                # What is short before the first step is known, so most ways need no variable there.
                if step or _may_come_first(way):
                    joint.serve[step, e, w] = builder.new_bool()
    for e, literal in enumerate(joint.admitted):
        total = -variable(literal)
        for step in joint.steps:
            total = total + joint.served(step, e)
        builder.add(total.equals(0))
    busy = [
        sum((joint.served(step, e) for e in range(len(joint.entrants))), start=ZERO)
        for step in joint.steps
    ]
    for step in joint.steps:
        builder.add(busy[step] <= 1)
        # Steps that serve nobody come last, or each plan would stand in the model many times.
        if step and not joint.in_order:
            builder.add(busy[step - 1] >= busy[step])


def _may_come_first(way: Way) -> bool:
    """Say whether just the contested are short at the start."""
    problem = way.problem
    short = {fr for fr, amount in way.asked.items() if amount > max(0, problem.available[fr])}
    return short == set(problem.contested)


def _take_in_steps(joint: JointFormulation) -> None:
    """Divide the victims of each class among the steps whose way may take them."""
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
            # At most one of these literals is true, so this is count or 0.
            builder.add(taken <= count * Linear(dict.fromkeys(may, 1)))
            total = total + taken
        builder.add(total.equals(0))


def _heed(joint: JointFormulation, cut: Cut) -> None:
    """Forbid some ways in one state, in whichever step it is met."""
    members = [frozenset(each) for each in joint.classes.members]
    known = frozenset().union(*members)
    # Somebody of the cut is no candidate any more, so its state is never met.
    if not cut.gone | (cut.taken or frozenset()) <= known:
        return
    tree = joint.entrants[cut.entrant].tree
    inside = [k for k in range(len(members)) if joint.tree_of[k] == tree]
    for step in joint.steps:
        met = [
            joint.serve[step, cut.entrant, w]
            for w in cut.forbidden
            if (step, cut.entrant, w) in joint.serve
        ]
        if not met:
            continue
        different = [
            (sum_, len(cut.gone & members[k]))
            for k in inside
            for sum_ in [_sum(joint.taken.get((at, k)) for at in range(step))]
        ]
        different += _served_before(joint, cut, step, tree)
        if cut.taken is not None:
            different += [
                (_sum([joint.taken.get((step, k))]), len(cut.taken & members[k])) for k in inside
            ]
        others = joint.builder.witnesses(_unequal(joint.builder, different))
        for literal in met:
            joint.builder.any_of([negation(literal), *others])


def _sum(indices: Iterable[int | None]) -> Linear:
    return Linear({index: 1 for index in indices if index is not None})


def _served_before(
    joint: JointFormulation, cut: Cut, step: int, tree: int
) -> list[tuple[Linear, int]]:
    """Return, per entrant of a tree and its flavors, whether it was served; and what was."""
    found = []
    for e, entrant in enumerate(joint.entrants):
        if entrant.tree != tree or e == cut.entrant:
            continue
        # By flavors and not by way: what a way supposes leaves no trace in the state after it.
        for flavors in {way.flavors for way in entrant.ways}:
            literals = (
                literal
                for (at, other, w), literal in joint.serve.items()
                if at < step and other == e and entrant.ways[w].flavors == flavors
            )
            found.append((_sum(literals), int((e, flavors) in cut.before)))
    return found


def _unequal(builder: Builder, pairs: Iterable[tuple[Linear, int]]) -> Iterable[tuple[Linear, int]]:
    """Yield conditions of which one holds where some expression differs from its value."""
    for linear, value in pairs:
        low, high = builder.bounds(linear)
        # A condition that its bounds exclude would only be a literal that is always false.
        if high > value:
            yield linear, value + 1
        if low < value:
            yield -linear, 1 - value
