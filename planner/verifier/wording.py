"""Verdicts in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from planner.laws import Law
from planner.plan import Verdict

_SHOWN = 4


def say_some(items: Sequence[str]) -> str:
    """List the first few items, and say how many more there are."""
    more = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def say_count(count: int) -> str:
    """Say how many victims there are."""
    return "1 victim" if count == 1 else f"{count} victims"


def judge(law: Law, findings: Sequence[str], otherwise: str) -> Verdict:
    """Return a verdict: broken by the findings, or without any, kept for ``otherwise``."""
    detail = "; ".join(findings[:_SHOWN]) if findings else otherwise
    more = len(findings) - _SHOWN
    if more > 0:
        detail += f"; and {more} more"
    return Verdict(law=law.id, title=law.title, holds=not findings, detail=detail)


def judge_order(
    law: Law, obstacle: str, order: Sequence[Any], otherwise: str = "no victims"
) -> Verdict:
    """Return a verdict on a law about orders: the obstacle to any order, or the order found."""
    replayed = f"in the order {say_some([one.key for one in order])}" if order else otherwise
    return judge(law, [obstacle] if obstacle else [], replayed)


def broken(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """Return the verdicts that do not hold, in words."""
    return tuple(
        f"{verdict.law} {verdict.title}: {verdict.detail}"
        for verdict in verdicts
        if not verdict.holds
    )


def misnamed(
    keys: Iterable[str], preemptor: str, known: Container[str], itself: str, others: str
) -> Iterator[str]:
    """Yield findings if keys of victims are the preemptor's, not known, or named twice.

    ``itself`` and ``others`` say in words what the preemptor is, and what is known.
    """
    for key, count in Counter(keys).items():
        if key == preemptor:
            yield f"{key} is {itself} itself"
        elif key not in known:
            yield f"{key} is not among {others}"
        if count > 1:
            yield f"{key} is named {count} times"


def once_each(what: str, stated: Sequence[Any], held: Iterable[Any]) -> list[str]:
    """Return findings if what a plan lists leaves something out, or has it twice.

    A plan may list nothing at all: then it says nothing.
    """
    counted = Counter(stated)
    missing = [each for each in held if each not in counted] if stated else []
    twice = [each for each, count in counted.items() if count > 1]
    return [f"{what} leaves out {each}" for each in missing] + [
        f"{what} has {each} twice" for each in twice
    ]


def compare(what: str, stated: object, recomputed: object) -> list[str]:
    """Return a finding if the plan states something else than what was recomputed."""
    if stated == recomputed:
        return []
    found = "cannot be recomputed" if recomputed is None else f"is {recomputed}"
    return [f"{what} {found}, not {stated}"]
