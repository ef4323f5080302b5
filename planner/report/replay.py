"""A replay of recorded answers as a table or as plain lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.text import Text

from planner.report.paper import Column, Paper, table_of
from planner.report.text import clean, plural, word

MORE: Final = "... {count:,} more differences"


class Difference(NamedTuple):
    """A recorded line that was not reproduced, and the first difference; or that was not tried."""

    id: str
    detail: str


class Compared(NamedTuple):
    """A file of recorded lines: how many there are, and how each of them fared."""

    file: str
    instances: int
    equal: int
    skipped: int
    different: Sequence[Difference]
    uncovered: Sequence[Difference] = ()


def render_plain(files: Sequence[Compared], show: int) -> str:
    """Return a line for every file, and for the first differences of each."""
    lines = []
    for file in files:
        lines.append(f"file {word(file.file)} {_counts(file)}")
        lines += [f"different {word(one.id)} {clean(one.detail)}" for one in file.different[:show]]
        if len(file.different) > show:
            lines.append(MORE.format(count=len(file.different) - show))
        lines += [f"uncovered {word(one.id)} {clean(one.detail)}" for one in file.uncovered]
    total = {
        "instances": sum(file.instances for file in files),
        "equal": sum(file.equal for file in files),
        "skipped": sum(file.skipped for file in files),
        "different": sum(len(file.different) for file in files),
        "uncovered": sum(len(file.uncovered) for file in files),
    }
    lines.append(" ".join(["total", *(f"{name}={count}" for name, count in total.items())]))
    return "\n".join(lines) + "\n"


def render_table(files: Sequence[Compared], show: int, *, width: int, color: bool) -> str:
    """Return a table of the files, and the first differences of each."""
    paper = Paper(width, color=color)
    total = [
        sum(counts)
        for counts in zip(
            *((f.instances, f.equal, f.skipped, len(f.different), len(f.uncovered)) for f in files),
            strict=True,
        )
    ]
    columns: list[Column[Compared]] = [
        Column("File", lambda file: clean(file.file), plural(len(files), "file"), folds=True),
        Column("Instances", lambda file: f"{file.instances:,}", f"{total[0]:,}", number=True),
        Column("Equal", lambda file: f"{file.equal:,}", f"{total[1]:,}", number=True),
        Column("Skipped", lambda file: f"{file.skipped:,}", f"{total[2]:,}", number=True),
        Column("Different", _different, f"{total[3]:,}", number=True),
    ]
    if total[4]:
        columns.append(
            Column(
                "Uncovered", lambda file: f"{len(file.uncovered):,}", f"{total[4]:,}", number=True
            )
        )
    paper.add(table_of(columns, files))
    for file in files:
        if file.different and show:
            paper.add(_explained(file, show))
        if file.uncovered and show:
            paper.add(_not_compared(file))
    return paper.text()


def _counts(file: Compared) -> str:
    return (
        f"instances={file.instances} equal={file.equal} skipped={file.skipped} "
        f"different={len(file.different)} uncovered={len(file.uncovered)}"
    )


def _not_compared(file: Compared) -> Text:
    """Name the features that the model does not cover, and how many lines hold each."""
    counts = Counter(one.detail for one in file.uncovered)
    shown = ", ".join(f"{feature} ({plural(n, 'line')})" for feature, n in sorted(counts.items()))
    text = Text(clean(file.file), "bold")
    return text.append(f"\n  not compared: {clean(shown)}", "not bold")


def _different(file: Compared) -> Text:
    count = len(file.different)
    return Text(f"{count:,}", "bold red" if count else "green")


def _explained(file: Compared, show: int) -> Text:
    text = Text(clean(file.file), "bold")
    for one in file.different[:show]:
        text.append(f"\n  {clean(one.id)}", "red").append(f"  {clean(one.detail)}", "not bold")
    if len(file.different) > show:
        text.append("\n  " + MORE.format(count=len(file.different) - show), "dim")
    return text
