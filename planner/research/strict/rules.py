"""The record of the rule set ``strict``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner.errors import SchemaError
from planner.research.strict.laws import LAWS
from planner.research.strict.verifier import verify
from planner.rules import RuleSet

if TYPE_CHECKING:
    from planner.solver.kueue.planning import Planning

NAME: Final = "strict"


def _read(text: str) -> str:
    if text != NAME:
        raise SchemaError("rules", f'"{text}" cannot be used', f"{NAME}, which has no options")
    return text


def _planning() -> type[Planning]:
    from planner.research.strict.planning import StrictPlanning

    return StrictPlanning


STRICT: Final = RuleSet(
    name=NAME,
    title="documented precedence",
    laws=LAWS,
    read=_read,
    pieces={"verification": verify, "planning": _planning},
)
