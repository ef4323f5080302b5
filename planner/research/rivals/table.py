"""All rivals by name, each with a line about it and its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Literal, NamedTuple

from planner.research.rivals.contest import Contest, Found
from planner.research.rivals.exact import SEARCHES, by_engine, certified, cp_sat, mip, rounding
from planner.research.rivals.rules import (
    greedy,
    kube_scheduler,
    local_search,
    random_restarts,
    smallest,
    volcano,
)

Family = Literal["rule", "heuristic", "engine", "planner"]


class Rival(NamedTuple):
    """A way to choose victims.

    ``drawn`` says that it draws at random, so that its answer depends on a seed; ``counts`` that it
    looks at the objective: without, its answer is the same under every objective; ``certifies``
    that it waits for proof trees.
    """

    name: str
    family: Family
    title: str
    source: str
    answer: Callable[[Contest], Found]
    drawn: bool = False
    counts: bool = True
    certifies: bool = False


_KUBERNETES: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/"
)
_VOLCANO: Final = "https://github.com/volcano-sh/volcano/tree/master/pkg/scheduler/actions"
_CP: Final = "https://developers.google.com/optimization/cp"
_MATH_OPT: Final = "https://developers.google.com/optimization/math_opt"
_ENGINE: Final = "docs/explanation/engine.md"
_PROOF: Final = "docs/explanation/proof.md"
_HART: Final = "Hart and Shogan 1987"
_AARTS: Final = "Aarts and Lenstra 1997"
_RAGHAVAN: Final = "Raghavan and Thompson 1987"
_ALL: Final = (
    Rival("greedy", "rule", "the scheduler's own", "exact replay", greedy, counts=False),
    Rival("smallest", "rule", "the smallest sufficient victim", "folklore", smallest),
    Rival("kube", "rule", "kube-scheduler's order", _KUBERNETES, kube_scheduler, counts=False),
    Rival("volcano", "rule", "Volcano's preempt, then reclaim", _VOLCANO, volcano, counts=False),
    Rival("restarts", "heuristic", "greedy in random orders", _HART, random_restarts, drawn=True),
    Rival("local", "heuristic", "local search from greedy", _AARTS, local_search, drawn=True),
    Rival("rounding", "heuristic", "rounding of the relaxation", _RAGHAVAN, rounding),
    Rival("cp-sat", "engine", "CP-SAT, its own settings", _CP, by_engine(cp_sat)),
    Rival("scip", "engine", "SCIP by MathOpt", _MATH_OPT, by_engine(partial(mip, "SCIP"))),
    Rival("highs", "engine", "HiGHS by MathOpt", _MATH_OPT, by_engine(partial(mip, "HiGHS"))),
    *(
        Rival(name, "planner", f"the planner's {name.replace('-', ' without ')}", _ENGINE, answer)
        for name, answer in SEARCHES.items()
    ),
    Rival("certified", "planner", "planner solve, with trees", _PROOF, certified, certifies=True),
)
RIVALS: Final[Mapping[str, Rival]] = {one.name: one for one in _ALL}
"""All rivals by name, in the order of tables."""
