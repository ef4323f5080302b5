"""Law 1: who opted out is a last resort, under every objective; originators where D0 counts them.

Whether some legal set spares them is settled before any cap or wish: the law is not up for trade.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from planner.laws import Spared
from planner.models.yunikorn.laws import spared_by
from planner.objective.profiles import Measure, Profile
from planner.plan import Proof, Tree
from planner.problem.yunikorn import YuniKornProblem
from planner.proof.claims import INFEASIBLE, LAST_RESORT, Claims
from planner.solver.core import find_any
from planner.solver.levels import Answer
from planner.solver.proving.settle import Settling
from planner.solver.search import Search
from planner.solver.yunikorn.rules import YuniKornRules

LAST_TIER: Final[Measure] = ("D0",)


@dataclass(frozen=True, slots=True)
class Sparing:
    """A search that spares as many as law 1 asks for.

    ``settled`` says whether it is known that nobody more can be spared.
    """

    search: Search
    spare: Spared
    settled: bool = True


@dataclass(frozen=True, slots=True)
class LastResort:
    """Why no legal set spares who opted out, or the positions of one that does."""

    proof: Proof | None
    trees: tuple[Tree, ...] = ()
    engines: Sequence[str] = ()
    victims: Sequence[int] | None = None


def to_spare(profile: Profile) -> tuple[Spared, ...]:
    """Return whom law 1 spares under a profile if that can be, the most first."""
    return ("last-tier", "opted-out") if LAST_TIER in profile.levels else ("opted-out",)


def sparing(
    free: Search,
    rules: YuniKornRules,
    profile: Profile,
    candidates: Sequence[int],
    known: Sequence[int] | None = None,
) -> Sparing:
    """Spare whom law 1 spares, if some legal set does.

    Parameters
    ----------
    free, rules
        A search that spares nobody, and its rules.
    profile
        The objective.
    candidates
        Positions of the allocations that no law excludes by itself.
    known
        Positions of a legal set without anybody who opted out, if there is one.
    """
    settled = True
    for spare in to_spare(profile):
        if not spared_by(rules.problem, spare)[list(candidates)].any():
            continue  # there is nobody to spare
        search = replace(free.fork(), rules=replace(rules, spare=spare))
        if known is not None and spare == "opted-out":
            search.incumbent = free.classes.counts(known)
        elif find_any(search, search.alive) == "unknown" and spare == "opted-out":
            settled = False  # of originators the level D0 tells
        if search.incumbent is not None:
            return Sparing(search, spare, settled)
    return Sparing(free, "nobody", settled)


def is_spared(problem: YuniKornProblem, spare: Spared, positions: Sequence[int]) -> bool:
    """Say whether a set has nobody whom law 1 spares."""
    return not spared_by(problem, spare)[list(positions)].any()


def why_last_resort(
    free: Search, rules: YuniKornRules, claims: Claims, *, certify: bool | None
) -> LastResort:
    """Prove that no legal set spares who opted out; ``claims`` are of sets that do."""
    everything = list(range(len(free.classes)))
    rules = replace(rules, spare="opted-out")
    search = Search(rules, free.classes, free.deadline, everything, permitted=everything)
    found = Settling(claims, search, (), certify).prove(Answer("infeasible", ()))
    if found.victims is not None:
        return LastResort(None, victims=found.victims)
    if found.outcome != "infeasible":
        return LastResort(None)
    trees = tuple(
        tree.model_copy(update={"claim": LAST_RESORT})
        for tree in found.trees
        if tree.claim == INFEASIBLE
    )
    return LastResort("certified" if trees else "solver", trees, found.engines)
