"""Wings: packages that add to the planner, and without which the rest of it works.

A wing is a package directly below ``planner`` with a module ``wing``; its ``WING`` says what it
adds. A wing is found where it lies, and nothing else names it. What it adds is loaded on use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from planner.rules import RuleSet


class Wing(NamedTuple):
    """What a wing adds: ``rule_sets`` of Kueue, by name a function that loads each."""

    rule_sets: Mapping[str, Callable[[], RuleSet]] = MappingProxyType({})


@cache
def wings() -> tuple[Wing, ...]:
    """Return the wings that are there, in the order of their names."""
    found = sorted(Path(__file__).parent.glob("*/wing.py"))
    return tuple(import_module(f"planner.{one.parent.name}.wing").WING for one in found)
