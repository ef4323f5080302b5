"""The victim sets that the model of YuniKorn's laws admits: enumerated, node by node."""

from collections.abc import Collection
from typing import Any

import numpy as np

from planner.laws.yunikorn import Spared
from planner.models.yunikorn.candidates import eligible
from planner.models.yunikorn.formulation import Formulation, build_classes
from planner.models.yunikorn.laws import assemble
from planner.problem.yunikorn import YuniKornProblem, build_yunikorn_problem
from planner.quota.classes import Classes
from tests.exact import admits, solutions
from tests.yunikorn.building import asking_of

NodeSets = dict[str, set[frozenset[str]]]
"""Per usable node the admitted sets of allocation keys."""

Chosen = tuple[int, tuple[int, ...]]
"""A node, and how many victims each class gives."""


def problem_of(value: dict[str, Any], key: str = "ask", rules: str = "") -> YuniKornProblem:
    """Build the problem of the ask, or of a queue, of an instance."""
    return build_yunikorn_problem(*asking_of(value, key, rules))


def every_allocation_apart(problem: YuniKornProblem, without: Collection[str] = ()) -> Classes:
    """Return a class for every allocation that no law excludes."""
    apart = [np.arange(len(problem.allocations), dtype=np.int64)]
    return build_classes(problem, eligible(problem, without), apart)


def choices(
    problem: YuniKornProblem,
    classes: Classes,
    rules: str,
    *,
    spare: Spared = "nobody",
    without: Collection[str] = (),
) -> set[Chosen]:
    """Enumerate what the model admits over some classes.

    The auxiliary variables of YK-05 take many values that do not matter. So the sets that the
    model admits without it are enumerated, and each of them is asked for in the whole model,
    which has the same rows and those of YK-05.
    """
    dropped = {*without, "YK-05"}
    looser = assemble(problem, classes, rules, spare=spare, without=dropped)
    assert len(looser.builder.lower) == len(looser.take) + len(looser.alternatives)
    found = set[Chosen]()
    for values in solutions(looser.builder, [*looser.alternatives, *looser.take]):
        chosen, taken = values[: len(looser.alternatives)], values[len(looser.alternatives) :]
        assert sum(chosen) == 1
        found.add((chosen.index(1), taken))
    whole = assemble(problem, classes, rules, spare=spare, without=without)
    if len(whole.builder.proto.constraints) == len(looser.builder.proto.constraints):
        return found
    return {one for one in found if _is_admitted(whole, *one)}


def admitted(
    problem: YuniKornProblem,
    rules: str = "yunikorn-design",
    *,
    spare: Spared = "nobody",
    without: Collection[str] = (),
) -> NodeSets:
    """Return what the model admits on each usable node; laws in ``without`` are left out."""
    classes = every_allocation_apart(problem, without)
    sets: NodeSets = {problem.nodes[n]: set() for n in np.flatnonzero(problem.usable).tolist()}
    for node, taken in choices(problem, classes, rules, spare=spare, without=without):
        victims = classes.take(taken)
        keys = frozenset(problem.allocations[victim].allocation_key for victim in victims)
        sets[problem.nodes[node]].add(keys)
    return sets


def _is_admitted(formulation: Formulation, node: int, taken: tuple[int, ...]) -> bool:
    variables = [*formulation.take, *formulation.alternatives]
    chosen = [int(n == node) for n in range(len(formulation.alternatives))]
    return admits(formulation.builder, variables, [*taken, *chosen])
