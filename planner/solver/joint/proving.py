"""What one engine says of joint plans that cannot be, asked again of two.

There are no proof trees for joint plans: a level rests on two engines, or, where its value is 0,
on no term being below that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.objective.profiles import Measure
from planner.plan import Proof
from planner.solver.levels import LevelResult
from planner.solver.search import Counts, Search
from planner.solver.second_opinion import Witnesses


def judge(
    witnesses: Witnesses, search: Search, levels: Sequence[LevelResult]
) -> tuple[Counts | None, tuple[LevelResult, ...]]:
    """Return levels with what they rest on, and an answer of the search that is better.

    Only levels whose bound is their value are asked about. Where an answer is better, those
    behind its level are left as they are.
    """
    earlier: list[tuple[Measure, int]] = []
    judged: list[LevelResult] = []
    for number, level in enumerate(levels):
        least, better = level.least, None
        proof: Proof | None = "certified" if least.value == 0 else None
        if proof is None and least.bound == least.value:
            opinion = witnesses.ask(search, earlier, level.measure, least.value - 1)
            proof = "solver" if opinion.outcome == "none" else None
            better = opinion.counts if opinion.outcome == "found" else None
        if better is not None:
            least = replace(least, outcome="feasible", bound=0)
        judged.append(replace(level, least=least, proof=proof))
        if better is not None:
            return better, (*judged, *levels[number + 1 :])
        earlier.append((level.measure, least.value))
    return None, tuple(judged)
