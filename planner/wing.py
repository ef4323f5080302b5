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

from planner.errors import SchemaError

if TYPE_CHECKING:
    from planner.rules import RuleSet


class Wing(NamedTuple):
    """What a wing adds.

    - ``rule_sets``: Rule sets of Kueue, by name a function that loads each.
    - ``help``: Texts in the help of commands, by what they are about.
    """

    rule_sets: Mapping[str, Callable[[], RuleSet]] = MappingProxyType({})
    help: Mapping[str, str] = MappingProxyType({})


@cache
def wings() -> tuple[Wing, ...]:
    """Return the wings that are there, in the order of their names."""
    found = sorted(Path(__file__).parent.glob("*/wing.py"))
    return tuple(import_module(f"planner.{one.parent.name}.wing").WING for one in found)


def names_of_rules() -> tuple[str, ...]:
    """Return the names of the rule sets of Kueue that wings add."""
    return tuple(name for wing in wings() for name in wing.rule_sets)


def rule_sets() -> tuple[RuleSet, ...]:
    """Return the rule sets of Kueue that wings add."""
    return tuple(load() for wing in wings() for load in wing.rule_sets.values())


def find_rules(text: str | None) -> RuleSet:
    """Return the rule set that a text names, before its options; without one the scheduler's own.

    Raises ``SchemaError`` if no wing adds such a rule set.
    """
    from planner.rules import OWN  # noqa: PLC0415 - a wing is found before anything is loaded

    if text is None:
        return OWN
    name = str(text).partition(":")[0]
    known = {name: load for wing in wings() for name, load in wing.rule_sets.items()}
    if name not in known:
        expected = " or ".join(names_of_rules()) or "none: the scheduler's own are all there are"
        raise SchemaError("rules", f'there are no rules "{text}" to choose', expected)
    return known[name]()
