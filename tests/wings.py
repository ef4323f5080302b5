"""What tests of the core ask of the wings: whether they are there, and what more there is then."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def has(wing: str) -> bool:
    """Tell whether a wing is there."""
    return find_spec(f"planner.{wing}") is not None


def engines() -> dict[str, Any]:
    """Return the engines to compare with that the research wing has, by name."""
    if not has("research"):
        return {}
    return dict(import_module("tests.research.engines").ENGINES)
