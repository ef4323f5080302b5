"""The record of the rule set ``strict``."""

from __future__ import annotations

from typing import Final

from planner.errors import SchemaError
from planner.research.strict.laws import LAWS
from planner.rules import RuleSet

NAME: Final = "strict"


def _read(text: str) -> str:
    if text != NAME:
        raise SchemaError("rules", f'"{text}" cannot be used', f"{NAME}, which has no options")
    return text


def _verified() -> object:
    from planner.research.strict.verifier import verify

    return verify


def _planning() -> object:
    from planner.research.strict.planning import StrictPlanning

    return StrictPlanning


STRICT: Final = RuleSet(
    name=NAME,
    title="documented precedence",
    laws=LAWS,
    read=_read,
    pieces={"verification": _verified, "planning": _planning},
)
