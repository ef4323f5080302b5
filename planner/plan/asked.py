"""The question that a plan answers: all that it is judged by besides its state.

A state asks one by itself, that of `planner solve STATE` without options. Another one is asked by
who names it, with the options of that command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Literal

from planner.plan.base import Assume, Record
from planner.scheduler import Placement
from planner.state import RequestsFrom
from planner.state.base import Schema

AssignmentInput = Schema | Mapping[str, Any]
"""Flavors to use: the ``assignment`` of a plan of Kueue, or a mapping in one of its forms."""


class Asked(Record):
    """What a plan is judged by.

    ``rules`` are those of a plan, or the options that name others; ``now`` is the clock, ``assume``
    what the caller vouches for, ``objective`` what the plan itself says. The rest is of Kueue
    alone: ``stable`` is as in a plan, ``release`` and ``requests`` those that the
    state was read with, and ``known_by`` says how the release was known. ``flavors`` are Kueue's
    own choice, or given; ``placement`` says who places pods on nodes, and is absent where quota
    alone decides, or all that is looked at.
    """

    objective: str
    rules: str
    now: datetime
    assume: Assume | None = None
    stable: bool | None = None
    release: str | None = None
    known_by: str | None = None
    requests: RequestsFrom | None = None
    flavors: Literal["own", "given"] | None = None
    placement: Placement | None = None

    def differences(self, plan: Asked, option: Option) -> Iterator[str]:
        """Yield in what a plan answers another question, and the option that accepts it.

        What a plan leaves out is not asked for: it is judged by what is asked.
        """
        for name in _COMPARED:
            ours, theirs = getattr(self, name), getattr(plan, name)
            left_out = theirs is None and name != "placement"
            # A plan that is best of all, and stable, does not say that it was to be.
            if ours == theirs or left_out or (name == "stable" and not theirs):
                continue
            said = _text(theirs)
            named = f"--{name} {said}" if name in {"now", "assume"} else option(name, said)
            yield f"{name} {said}, not {_text(ours)} ({named or 'no option'} accepts it)"
        known = {self.known_by, "given", None}
        if self.known_by != "given" and plan.known_by not in known:
            yield f"the release is known by {plan.known_by}, not {self.known_by}"


Option = Callable[[str, str], str]
"""Returns the option of a scheduler that takes a part of the question, by its name and its value
in words; empty if there is none."""
_COMPARED: Final = (*("rules", "stable", "now", "release", "requests", "placement", "assume"),)


def _text(value: object) -> str:
    """Return a part of the question as a user writes it."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if value is None:
        return "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
