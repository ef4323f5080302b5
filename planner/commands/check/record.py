"""What came of checking a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from planner.plan import AnyPlan, Record, Verdict, Verification

NOT_LOOKED_AT: Final = "its proof trees were not looked at: something else does not hold"


class CheckedClaim(Record):
    """One claim of a plan: nothing is better on a level, nothing equal comes first, or no plan is.

    ``value`` is that of a level. ``certified`` says that a tree shows it, ``detail`` how, or what
    is missing.
    """

    claim: str
    title: str
    value: int | None = None
    certified: bool
    detail: str


class Check(Record):
    """What holds of a plan.

    ``verdicts`` judge what needs no tree: the laws, and what the plan says of itself; ``claims``
    what is proved. ``accepted`` says that all of them hold.
    """

    preemptor: str
    objective: str
    status: str
    accepted: bool
    verdicts: tuple[Verdict, ...] = ()
    claims: tuple[CheckedClaim, ...] = ()
    notes: tuple[str, ...] = ()


def conclude(
    plan: AnyPlan,
    laws: Verification,
    own: Iterable[Verdict],
    claims: Callable[[], Iterable[CheckedClaim]],
) -> Check:
    """Judge laws and what a plan says of itself, then claims: these only where all else holds."""
    verdicts = (*laws.verdicts, *own)
    sound = laws.accepted and all(verdict.holds for verdict in verdicts)
    judged = tuple(claims()) if sound else ()
    return Check(
        preemptor=plan.preemptor,
        objective=plan.objective,
        status=plan.status,
        accepted=sound and all(claim.certified for claim in judged),
        verdicts=verdicts,
        claims=judged,
        notes=() if sound else (NOT_LOOKED_AT,),
    )
