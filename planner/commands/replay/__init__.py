"""Recorded answers of the real schedulers against the references, line by line.

kueue.py       one line of Kueue decided anew and compared: a decision, a whole cycle
yunikorn.py    one line of YuniKorn decided anew and compared
kueue_live.py  what a live cluster did between two dumps
comparison.py  the lines of a file; the results for a line, for a file, and for all files
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from planner.commands.replay.comparison import (
    Comparison,
    FileComparison,
    Outcome,
    ReplayReport,
    Watch,
    parse_line,
    part_of,
    read_lines,
    summarise,
)
from planner.errors import ParseError, UnsupportedError
from planner.scheduler import schedulers

__all__ = [
    "Comparison",
    "FileComparison",
    "ReplayReport",
    "refuse_other_files",
    "replay",
    "replay_line",
    "summarise",
]


def refuse_other_files(paths: Iterable[str]) -> None:
    """Refuse files that do not begin with a recorded instance, before minutes go into the others.

    Raises ``InputError`` for the first of them; what can be read only once is not looked at.
    """
    for path in (one for one in paths if Path(one).is_file()):
        for number, text in read_lines(path, None):
            where = f"{path}: line {number}"
            part_of(parse_line(text, where), "expect", dict, where)
            break


def replay(path: str, watch: Watch | None = None) -> FileComparison:
    """Compare every line of a file of recorded answers, ``.jsonl`` or ``.jsonl.gz``.

    ``watch`` is called after each line with the share of the file that has been read.

    Raises ``InputError`` if the file or a line cannot be read; the message names both.
    """
    counts: Counter[Outcome] = Counter()
    kept: dict[Outcome, list[Comparison]] = {"different": [], "uncovered": []}
    for number, text in read_lines(path, watch):
        where = f"{path}: line {number}"
        comparison = replay_line(parse_line(text, where), where)
        counts[comparison.outcome] += 1
        if comparison.outcome in kept:
            kept[comparison.outcome].append(comparison)
    if not counts:
        raise ParseError(path, "is empty", "one recorded instance a line")
    different, uncovered = map(tuple, kept.values())
    numbers = counts.total(), counts["equal"], counts["skipped"]
    return FileComparison(path, *numbers, different, uncovered)


def replay_line(line: Mapping[str, Any], where: str = "line") -> Comparison:
    """Decide a recorded instance anew, whichever scheduler it comes from, and compare.

    Raises ``InputError`` if the line is not a recorded instance, or its state cannot be read.
    """
    for one in reversed(schedulers()):  # Kueue, asked last, takes all other lines
        if comparison := one.replay_line(line, where):
            return comparison
    raise UnsupportedError(where, "no scheduler is registered that it is of")
