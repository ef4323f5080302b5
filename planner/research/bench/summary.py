"""Rows to totals by size, to performance profiles, and to a flat table with one line a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import fmean
from typing import Final

from planner.commands.compare.table import Cell, kinds_of
from planner.commands.study.tally import spread
from planner.research.bench.record import COUNT, Bench, Group, Profile, Row, Standing

GROUPS: Final[tuple[Group, ...]] = ("small", "medium", "large", "all")
FACTORS: Final = (1, 2, 5, 10, 20, 50, 100, 1000)
LEAST_S: Final = 0.001
"""Shorter processor times count as this, in seconds."""
_DIGITS: Final = 4
_COUNTED: Final = ("legal", "optimal", "proved", "refuted", "refutes", "late")


def standings(every: Sequence[Row]) -> Iterator[Standing]:
    """Yield what each rival reached on the cases of each size, then on all."""
    rivals = dict.fromkeys(row.rival for row in every)
    for size, rival in product(GROUPS, rivals):
        rows = [row for row in every if row.rival == rival and size in {"all", row.size}]
        if not rows:
            continue
        ratios = [
            row.victims / row.fewest
            for row in rows
            if row.objective == COUNT and row.legal and row.fewest
        ]
        times = sorted(row.cpu_seconds for row in rows)
        spent = spread(times)
        yield Standing(
            size=size,
            rival=rival,
            family=rows[0].family,
            answers=len(rows),
            plans=sum(row.status == "plan" for row in rows),
            **{name: sum(getattr(row, name) is True for row in rows) for name in _COUNTED},
            ratio=round(fmean(ratios), _DIGITS) if ratios else None,
            worst=round(max(ratios), _DIGITS) if ratios else None,
            cpu_median=round(spent.median, _DIGITS),
            cpu_p90=spent.p90,
            cpu_total=round(sum(times), _DIGITS),
        )


def profiles(rows: Sequence[Row]) -> Iterator[Profile]:
    """Yield the performance profile of each rival, over all cases under all objectives."""
    questions = {(row.case, row.objective) for row in rows}
    least: dict[tuple[str, str], float] = {}
    for row in rows:
        if row.optimal:
            at = row.case, row.objective
            least[at] = min(_seconds(row), least.get(at, _seconds(row)))
    for rival in dict.fromkeys(row.rival for row in rows):
        solved = [row for row in rows if row.rival == rival and row.optimal]
        times = [_seconds(row) / least[row.case, row.objective] for row in solved]
        within = (sum(time <= factor for time in times) / len(questions) for factor in FACTORS)
        shares = tuple(round(share, _DIGITS) for share in within)
        yield Profile(rival=rival, factors=FACTORS, shares=shares)


def _seconds(row: Row) -> float:
    return max(LEAST_S, row.cpu_seconds)


KINDS: Final = kinds_of(Row)
"""The columns, which are the fields of a row, with pandas' name of each type of value."""


def values(bench: Bench) -> Iterator[tuple[Cell, ...]]:
    """Yield the values of every row, by column; levels as ``pods=3``, ``None`` for no value."""
    for row in bench.rows:
        levels = " ".join(f"{term}={level}" for term, level in row.values.items())
        formatted = {"broken": " ".join(row.broken), "values": levels}
        yield tuple(formatted.get(name, getattr(row, name)) for name in KINDS)
