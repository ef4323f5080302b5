"""What came of checking a plan."""

from __future__ import annotations

from typing import Final

from planner.plan import Record, Verdict

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
