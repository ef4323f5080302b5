"""The question that a plan answers: all that it is judged by besides its state.

A state asks one by itself, that of `planner solve STATE` without options. Another one is asked by
who names it, with the options of that command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Literal

from planner.plan.base import Assume, Record
from planner.scheduler import Placement
from planner.state import RequestsFrom
from planner.state.base import Schema
from planner.state.kep83 import NAME as KEP83
from planner.state.kep83 import Kep83
from planner.state.kueue_release import KnownBy

AssignmentInput = Schema | Mapping[str, Any]
"""Flavors to use: the ``assignment`` of a plan of Kueue, or a mapping in one of its forms."""
RulesInput = Kep83 | str
"""Rules to plan by: options of KEP-83's rules, or text that holds them; ``strict`` for Kueue's own
with documented precedence; ``design``, ``written`` or ``code`` for YuniKorn's."""


class Asked(Record):
    """What a plan is judged by.

    ``rules`` are those of a plan, of KEP-83 with their options; ``now`` is the clock, ``assume``
    what the caller vouches for, ``objective`` what the plan itself says. The rest is of Kueue
    alone: ``strict`` and ``stable`` are as in a plan, ``release`` and ``requests`` those that the
    state was read with, and ``known_by`` says how the release was known. ``flavors`` are Kueue's
    own choice, or given; ``placement`` says who places pods on nodes, and is absent where quota
    alone decides, or all that is looked at.
    """

    objective: str
    rules: str
    now: datetime
    assume: Assume | None = None
    strict: bool | None = None
    stable: bool | None = None
    release: str | None = None
    known_by: KnownBy | None = None
    requests: RequestsFrom | None = None
    flavors: Literal["kueue", "given"] | None = None
    placement: Placement | None = None

    def differences(self, plan: Asked) -> Iterator[str]:
        """Yield in what a plan answers another question, and the option that accepts it.

        What a plan leaves out is not asked for: it is judged by what is asked.
        """
        for name in _COMPARED:
            ours, theirs = getattr(self, name), getattr(plan, name)
            left_out = theirs is None and name != "placement"
            # A plan that is best of all, and stable, does not say that it was to be.
            if ours == theirs or left_out or (name == "stable" and not theirs):
                continue
            # Where nobody places pods, nobody can be named who does.
            option = "" if name == "placement" and ours is None else _option(name, theirs)
            accepted = f"{option} accepts it" if option else "no option accepts it here"
            yield f"{name} {_text(theirs)}, not {_text(ours)} ({accepted})"
        known = {self.known_by, "given", None}
        if self.known_by != "given" and plan.known_by not in known:
            yield f"the release is known by {plan.known_by}, not {self.known_by}"


_COMPARED: Final = (
    *("rules", "strict", "stable", "now", "release", "requests", "placement", "assume"),
)
_SIDES: Final = {f"yunikorn-{side}": side for side in ("design", "written", "code")}
_NAMED: Final[Mapping[str, str]] = {
    "now": "--now",
    "release": "--kueue-release",
    "requests": "--requests",
    "assume": "--assume",
}
"""The options of `planner solve` that take a part of the question as their value."""


def _option(name: str, value: object) -> str:
    """Return the option by which a caller names a part of the question; empty if there is none."""
    said = _text(value)
    if name == "rules":
        return f"--laws {_SIDES[said]}" if said in _SIDES else _kep83(said)
    if name in _NAMED:
        return f"{_NAMED[name]} {said}"
    if value == "any":
        return "--placement any"
    named = {"strict": "--rules strict", "stable": "--stable"}
    return named.get(name, "") if value is True else ""


def _kep83(rules: str) -> str:
    return f"--rules {rules}" if rules.startswith(KEP83) else ""


def _text(value: object) -> str:
    """Return a part of the question as a user writes it."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if value is None:
        return "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
