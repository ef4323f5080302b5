"""The features that decide who is preempted: which are exact, and which are not modelled.

One record each. docs/explanation/limits.md lists them as `as_markdown` has them, README as
`in_short` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Final, Literal, NamedTuple

from planner.plan import Uncovered
from planner.scheduler import Part, scheduler_of

Standing = Literal["exact", "left out", "evidence", "harmless"]
"""exact: as the scheduler does it. left out: not modelled, and said of every answer that it may
concern. evidence: read to be held against what is worked out. harmless: nothing here decides who
is preempted."""

MOST_OBJECTS: Final = 5
"""So many objects are named as examples."""


class Feature(NamedTuple):
    """Something in a state that may decide who is preempted.

    ``effect`` says what it can change, in one sentence; ``source`` is the page that describes it.
    """

    id: str
    scheduler: str
    title: str
    standing: Standing
    effect: str
    source: str

    def found(
        self,
        objects: Sequence[str],
        evidence: str,
        kind: Literal["unmodelled", "contradiction", "assumed"] = "unmodelled",
    ) -> Uncovered:
        """Return what a state has of it, with the objects that show it."""
        return Uncovered(
            feature=self.id,
            kind=kind,
            title=self.title,
            objects=tuple(objects[:MOST_OBJECTS]),
            count=len(objects),
            effect=self.effect,
            evidence=evidence,
        )


FEATURES: Final = Part[Sequence[Feature]]("features")
"""All of a scheduler, in the order of the page."""


def in_short() -> str:
    """Return the titles of what is exact and of what is left out, a line for each scheduler."""
    words = {"exact": "as it is", "left out": "not modelled", "evidence": "held against the answer"}
    rows = []
    for features in FEATURES.of_all():
        for standing, said in words.items():
            mine = [one for one in features if one.standing == standing]
            if mine:
                titles = "; ".join(re.sub(r"^the ", "", one.title) for one in mine)
                rows.append(f"* **{scheduler_of(mine[0]).words.name}, {said}**: {titles}.")
    return "\n".join(rows)


def as_markdown() -> str:
    """Return the table of docs/explanation/limits.md: what decides, how exactly, and the effect."""
    rows = ["| what decides | in an answer | what it changes |", "|---|---|---|"]
    for one in chain.from_iterable(FEATURES.of_all()):
        if one.standing != "harmless":
            page = one.source.partition(" ")[0]
            where = scheduler_of(one).words.name
            rows.append(f"| {where}: [{one.title}]({page}) | {one.standing} | {one.effect} |")
    return "\n".join(rows)
