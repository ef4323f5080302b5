"""Wings: packages that stand on the core and that the core does not know.

A wing is a package directly under ``planner`` with a module ``wing``, which holds a record `WING`.
What is there is found by looking, so that a wing can be taken away, and another put there. The
record names modules and is read at every start: they are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from planner.errors import SchemaError

if TYPE_CHECKING:
    from planner.rules import RuleSet

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
MODULE: Final = "wing"


class Wing(NamedTuple):
    """What a wing adds; a place is ``module`` or ``module:attribute``, see `load`.

    ``commands`` has, by the section of ``planner --help``, the line of help and the place of each
    command. ``schemas`` is the place of the JSON Schemas that are published, by name;
    ``renderers`` that of the functions that write its answers, by the class of the answer;
    ``workers`` that of the function that has a batch done on other machines; ``with_commands`` that
    of the function that adds to a plan of Kueue for a state the commands that carry it out.
    ``rule_sets`` has the place of each that it adds to Kueue's own, by name; ``help`` are texts in
    the help of commands, by what they are about.
    """

    commands: Mapping[str, Mapping[str, tuple[str, str]]] = _NOTHING
    schemas: str = ""
    renderers: str = ""
    workers: str = ""
    with_commands: str = ""
    rule_sets: Mapping[str, str] = _NOTHING
    help: Mapping[str, str] = _NOTHING


@cache
def wings() -> tuple[Wing, ...]:
    """Return the wings that are there, by their names."""
    found = sorted(Path(__file__).parent.glob(f"*/{MODULE}.py"))
    return tuple(import_module(f"planner.{file.parent.name}.{MODULE}").WING for file in found)


def load(place: str) -> object:
    """Return the module ``module``, or the attribute ``module:attribute``."""
    module, _, attribute = place.partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found


def each(field: str) -> Iterator[Any]:
    """Yield what stands at a field's place in each wing that has one."""
    yield from (load(place) for one in wings() if (place := getattr(one, field)))


def names_of_rules() -> tuple[str, ...]:
    """Return the names of the rule sets of Kueue that wings add."""
    return tuple(name for wing in wings() for name in wing.rule_sets)


def rule_sets() -> tuple[RuleSet, ...]:
    """Return the rule sets of Kueue that wings add."""
    places = (place for wing in wings() for place in wing.rule_sets.values())
    return tuple(cast("RuleSet", load(place)) for place in places)


def find_rules(text: str | None) -> RuleSet:
    """Return the rule set that a text names, before its options; without one the scheduler's own.

    Raises ``SchemaError`` if no wing adds such a rule set.
    """
    from planner.rules import OWN

    if text is None:
        return OWN
    name = str(text).partition(":")[0]
    known = {name: place for wing in wings() for name, place in wing.rule_sets.items()}
    if name not in known:
        expected = " or ".join(names_of_rules()) or "none: the scheduler's own are all there are"
        raise SchemaError("rules", f'there are no rules "{text}" to choose', expected)
    return cast("RuleSet", load(known[name]))
