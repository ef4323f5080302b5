"""The exit codes: what they mean, and which one a plan ends with.

They are part of the contract of the command line, printed by --help, and never change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from planner.plan import Covered

OPTIMAL: Final = 0
FINDINGS: Final = 1
BAD_INPUT: Final = 2
INFEASIBLE: Final = 3
NOT_PROVED: Final = 4
NO_PLAN: Final = 5
CONDITIONAL: Final = 6
STOPPED: Final = 7
OUR_BUG: Final = 70
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

MEANINGS: Final = {
    OPTIMAL: "proved optimal; replay: all equal; check: all holds; apply: as planned",
    FINDINGS: "findings; replay: something differs; check: something does not hold; "
    "apply: refused, or otherwise than planned; steer: something is missing",
    BAD_INPUT: "bad input or usage",
    INFEASIBLE: "proved infeasible: no legal victim set exists",
    NOT_PROVED: "a legal plan, not proved optimal",
    NO_PLAN: "time limit, and no plan",
    CONDITIONAL: "conditional: proved, provided that what the plan names as not modelled plays "
    "no part",
    STOPPED: "apply: stopped half-way; the record says how to go on",
    OUR_BUG: "a bug of ours",
}
"""All codes but those that every program has: 130 after Ctrl-C or SIGTERM, 141 where the reader of
standard output is gone."""

FROM_BEST_TO_WORST: Final = (
    *(OPTIMAL, FINDINGS, INFEASIBLE, CONDITIONAL, NOT_PROVED, NO_PLAN, STOPPED),
    *(BAD_INPUT, OUR_BUG),
)
"""Several answers at once end with the worst of their codes, in this order."""

_OF_STATUS: Final = {
    "optimal": OPTIMAL,
    "infeasible": INFEASIBLE,
    "feasible": NOT_PROVED,
    "unknown": NO_PLAN,
    "conditional": CONDITIONAL,
}


def exit_code(answer: Covered) -> int:
    """Return the code that an answer ends with, by its status."""
    return _OF_STATUS[answer.status]


def worst(codes: Iterable[int]) -> int:
    """Return the worst of several codes; 0 if there are none."""
    return max(codes, key=FROM_BEST_TO_WORST.index, default=OPTIMAL)


POINTER: Final = "`planner --help` lists the exit codes."
"""What the help of each command says of the exit codes."""


def epilog() -> str:
    """Return the list of codes for --help, marked so that click keeps its lines."""
    lines = [f"  {code:<3} {meaning}" for code, meaning in MEANINGS.items()]
    return "\b\nExit codes:\n" + "\n".join(lines)
