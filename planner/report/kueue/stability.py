"""Victims that would preempt again: sentences for people, and plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from planner.plan import Cascade, Plan
from planner.report.plain_lines import line, yes
from planner.report.text import plural, short, word

MAX_SHOWN: Final = 20
STABLE: Final = "Stable: no victim would preempt anybody once it is pending again."
UNSTABLE: Final = "Not stable: {victims} would preempt again once pending:"
BACK: Final = " (the preemptor itself)"


def of_plan(plan: Plan) -> str:
    """Return what people are told of a plan: empty where all is well and nobody asked."""
    if plan.stability is None or not (plan.stability or "D11" in plan.terms):
        return ""
    return in_words(plan.stability)


def in_words(cascades: Sequence[Cascade]) -> str:
    """Return which victims would preempt whom, line by line."""
    if not cascades:
        return STABLE
    lines = [UNSTABLE.format(victims=plural(len(cascades), "victim"))]
    for one in cascades[:MAX_SHOWN]:
        back = BACK if one.preemptor else ""
        lines.append(f"  {short(one.victim)} would preempt {_names(one.targets)}{back}")
    left_out = len(cascades) - MAX_SHOWN
    return "\n".join([*lines, f"  and {left_out:,} more"] if left_out > 0 else lines)


def _names(targets: Sequence[str]) -> str:
    left_out = len(targets) - MAX_SHOWN
    names = ", ".join(short(key) for key in targets[:MAX_SHOWN])
    return names + (f" and {left_out:,} more" if left_out > 0 else "")


def lines(cascades: Sequence[Cascade]) -> Iterator[str]:
    """Yield the same as plain lines."""
    yield line("unstable", str(len(cascades)))
    for one in cascades:
        targets = (f"target={word(key)}" for key in one.targets)
        yield line("cascade", word(one.victim), f"preemptor={yes(one.preemptor)}", *targets)
