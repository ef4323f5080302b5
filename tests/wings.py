"""Functions of the wings that tests of the core use; where a wing is not there, they are skipped.

They hold answers of the core against a simulation, or draw states.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


def has(wing: str) -> bool:
    """Tell whether a wing is there."""
    return find_spec(f"planner.{wing}") is not None


def engines() -> dict[str, Any]:
    """Return the engines to compare with that the research wing has, by name."""
    if not has("research"):
        return {}
    return dict(import_module("tests.research.engines").ENGINES)


def _verb(wing: str, name: str) -> Any:
    return getattr(pytest.importorskip(f"planner.{wing}.{name}"), name)


def verbs() -> list[Any]:
    """Return the verbs of the wings that refuse arguments of a wrong kind."""
    named = (("research", "simulate"), ("operations", "lint"), ("operations", "risk"))
    return [_verb(*one) for one in named]


def generate(*asked: Any, **knobs: Any) -> Any:
    """Return a made-up state, as `planner.research.generate.generate` does."""
    return _verb("research", "generate")(*asked, **knobs)


def simulate(*asked: Any, **named: Any) -> Any:
    """Return a simulation, as `planner.research.simulate.simulate` does."""
    return _verb("research", "simulate")(*asked, **named)


def lint(*asked: Any, **named: Any) -> Any:
    """Return the findings on a configuration, as `planner.operations.lint.lint` does."""
    return _verb("operations", "lint")(*asked, **named)


def risk(*asked: Any, **named: Any) -> Any:
    """Return who would be a victim how often, as `planner.operations.risk.risk` does."""
    return _verb("operations", "risk")(*asked, **named)
