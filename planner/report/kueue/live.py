"""What Kueue did in a live cluster between two dumps, beside the replay, in every format."""

from __future__ import annotations

from collections.abc import Iterator

from planner.commands.replay.kueue_live import LiveReplay, Observed
from planner.report.document import (
    Cell,
    Column,
    Document,
    Fact,
    Paragraph,
    Section,
    Tone,
    filled,
    name,
    table,
)
from planner.report.style import Said, each, fields, line, renderer
from planner.report.text import clean


def _live_lines(answer: LiveReplay) -> Iterator[str]:
    for one in answer.preemptors:
        yield line("preemptor", one.preemptor, one.outcome, Said(one.detail))
        yield from each("evicted", one.evicted, one.preemptor)
        yield from each("replayed", one.replayed, one.preemptor)
        for missing in one.coverage:
            yield line("uncovered", one.preemptor, missing.feature, Said(missing.evidence))
    yield line("total", **fields(answer, "equal different skipped"))


def _lived(answer: LiveReplay) -> Document:
    tones: dict[str, Tone] = {"equal": "good", "different": "bad", "skipped": "dim"}
    columns: list[Column[Observed]] = [
        Column("Preemptor", lambda one: name(one.preemptor), folds=True),
        Column("", lambda one: Cell(one.outcome, tone=tones[one.outcome])),
        Column("Kueue evicted", lambda one: ", ".join(map(clean, one.evicted)), folds=True),
        Column("The replay", lambda one: ", ".join(map(clean, one.replayed)), folds=True),
    ]
    title = "Whom Kueue evicted between the two dumps"
    notes = [
        Paragraph(f"{clean(one.preemptor)}: {one.detail}", "warn")
        for one in answer.preemptors
        if one.detail
    ]
    missing = dict.fromkeys(
        f"{u.title}: {u.evidence}" for o in answer.preemptors for u in o.coverage
    )
    return Document(
        "Replay of a live cluster",
        (Fact("Before", Cell(answer.before)), Fact("After", Cell(answer.after))),
        filled(
            Section("Victims", (table(title, columns, answer.preemptors),)),
            Section("Differences", tuple(notes)),
            Section("What may explain them", tuple(Paragraph(clean(text)) for text in missing)),
        ),
    )


render = renderer(_live_lines, _lived)
