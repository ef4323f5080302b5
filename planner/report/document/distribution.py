"""The numbers of an audit, counted in ranges: victims, lost work, what is evicted for a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean, median
from typing import Final, NamedTuple

from planner.commands.audit.record import Audit, Case, Judgement
from planner.report.document.block import Histogram, Series
from planner.report.text import SECONDS_PER_HOUR, decimal, plural

WORK: Final = ("D4", "D5")
OF_THE: Final = "{count}; mean {mean}, median {median}, from {least} to {most}"


class Range(NamedTuple):
    """A range of numbers and its name: those up to ``most`` that are in no range before it."""

    name: str
    most: float


VICTIMS: Final = (
    Range("< 0", -1),
    *(Range(str(count), count) for count in range(6)),
    Range("6-9", 9),
    Range("10-19", 19),
    Range("≥ 20", float("inf")),
)
HOURS: Final = (
    Range("< -10", -10.000_001),
    Range("-10 to -1", -1),
    Range("-1 to 0", -1e-9),
    Range("0", 0),
    Range("to 0.1", 0.1),
    Range("to 1", 1),
    Range("to 10", 10),
    Range("to 100", 100),
    Range("> 100", float("inf")),
)
RATIOS: Final = (
    Range("0", 0),
    Range("to 0.5", 0.5),
    Range("to 1", 1),
    Range("to 1.5", 1.5),
    Range("to 2", 2),
    Range("to 3", 3),
    Range("to 5", 5),
    Range("to 10", 10),
    Range("> 10", float("inf")),
)
"""The ranges of the histograms: fixed, so that two audits can be laid side by side."""


def distributions(audit: Audit) -> Iterator[Histogram]:
    """Yield the histograms of an audit that has cases to compare.

    All compare answers of the scheduler itself that are within its rules with optima, under the
    first objective.
    """
    pairs = list(_pairs(audit.cases))
    if not pairs:
        return
    objective = pairs[0][1].objective
    yield _histogram(
        f"Victims more than the optimum has, under {objective}",
        VICTIMS,
        {"cases": [len(case.victims) - len(best.victims) for case, best in pairs]},
        lambda value: _signed(value).removesuffix(".00"),
    )
    yield _histogram(
        f"Lost work more than the optimum has, restarts included, under {objective}, in "
        "accelerator-hours",
        HOURS,
        {"cases": [sum(best.gaps.get(t, 0) for t in WORK) / SECONDS_PER_HOUR for _, best in pairs]},
        _signed,
    )
    ratios = [pair for pair in (_ratios(case) for case, _ in pairs) if pair is not None]
    if ratios:
        own, best = zip(*ratios, strict=True)
        yield _histogram(
            "Evicted for what is requested: the largest ratio of all resources",
            RATIOS,
            {"the scheduler itself": own, f"optimum under {objective}": best},
            decimal,
        )


def _pairs(cases: Iterable[Case]) -> Iterator[tuple[Case, Judgement]]:
    """Yield the cases that can be compared with the optimum under the first objective."""
    for case in cases:
        first = case.judgements[0] if case.judgements else None
        if first is not None and first.gaps and not case.outside_rules:
            yield case, first


def _ratios(case: Case) -> tuple[float, float] | None:
    known = [
        (one.greedy / one.requested, one.optimum / one.requested)
        for one in case.ratios
        if one.optimum is not None and one.requested
    ]
    if not known:
        return None
    own, best = zip(*known, strict=True)
    return max(own), max(best)


def _histogram(
    caption: str,
    ranges: Sequence[Range],
    numbers: dict[str, Sequence[float]],
    show: Callable[[float], str],
) -> Histogram:
    """Count numbers in ranges; ranges at both ends that nothing lies in are left out."""
    counts = {title: _counts(values, ranges) for title, values in numbers.items()}
    used = [place for place in range(len(ranges)) if any(c[place] for c in counts.values())]
    first, last = min(used), max(used) + 1
    several = len(numbers) > 1
    return Histogram(
        caption,
        tuple(one.name for one in ranges[first:last]),
        tuple(Series(title, tuple(found[first:last])) for title, found in counts.items()),
        tuple(
            (f"{title}: " if several else "") + _summary(values, show)
            for title, values in numbers.items()
        ),
    )


def _counts(values: Iterable[float], ranges: Sequence[Range]) -> list[int]:
    counts = [0] * len(ranges)
    for value in values:
        counts[next(place for place, one in enumerate(ranges) if value <= one.most)] += 1
    return counts


def _summary(values: Sequence[float], show: Callable[[float], str]) -> str:
    return OF_THE.format(
        count=plural(len(values), "case"),
        mean=show(fmean(values)),
        median=show(median(values)),
        least=show(min(values)),
        most=show(max(values)),
    )


def _signed(value: float) -> str:
    return decimal(value) if value >= 0 else f"-{decimal(-value)}"
