"""The minimal set of laws that leave no plan: dropped one by one from the exact model.

CP-SAT solves the model without some laws for any victim set at all. The bounds that speed a search
up assume all laws, so none of them is used here. Dropping a law only ever adds victim sets; a law
that can be dropped while there is still no plan is therefore not needed, and what is left at the
end is minimal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from planner.commands.explain.record import LawInWords
from planner.laws import Law
from planner.solver.engine import Outcome

AnyProblem = TypeVar("AnyProblem")


def minimal(laws: Sequence[Law], feasible: Callable[[set[str]], Outcome]) -> tuple[set[str], bool]:
    """Return the ids of a minimal clashing set, and whether it is proved to be one.

    Empty where all laws together do permit a set: only rounding is then in the way.

    Parameters
    ----------
    laws
        All laws, in the order in which dropping them is tried.
    feasible
        Says whether any victim set keeps to the laws whose ids are given, and to no others.
    """
    kept = {law.id for law in laws}
    outcome = feasible(kept)
    if outcome != "infeasible":
        return set(), outcome == "optimal"
    proved = True
    for law in laws:
        outcome = feasible(kept - {law.id})
        if outcome == "infeasible":
            kept.discard(law.id)
        proved = proved and outcome in {"infeasible", "optimal"}
    return kept, proved


def in_words(
    laws: Sequence[Law],
    ids: set[str],
    words: Mapping[str, Callable[[AnyProblem], str]],
    problem: AnyProblem,
) -> tuple[LawInWords, ...]:
    """Return clashing laws in the order of their ids, with what each says of a problem.

    ``words`` say it with numbers, by the ids of the laws; a law without any says its title.
    """
    clashing = sorted((law for law in laws if law.id in ids), key=lambda law: law.id)
    return tuple(
        LawInWords(
            law=law.id,
            title=law.title,
            text=words[law.id](problem) if law.id in words else law.title,
        )
        for law in clashing
    )
