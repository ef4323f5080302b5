"""All cases and all rivals as a batch that can be stopped and goes on."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Final

from planner.batch import Task, cores
from planner.commands.audit import Settings
from planner.commands.audit.record import Failure
from planner.commands.bench.answer import Heat, answer
from planner.commands.bench.record import Answers, Bench, Machine, Manifest
from planner.commands.bench.suite import line_of, parsed, read_suite
from planner.commands.bench.summary import profiles, standings
from planner.errors import SchemaError
from planner.plan.record import SCHEMA_VERSION
from planner.rivals.contest import Effort
from planner.rivals.table import RIVALS

QUICK: Final = Effort(judgements=200, work=1.0, nodes=500, seconds=10.0)
FULL: Final = Effort(judgements=1000, work=5.0, nodes=5000, seconds=60.0)
"""What a rival may spend, in the quick run and in the full one."""

PACKAGES: Final = ("preemption-planner", "ortools", "numpy", "pydantic")
CPU_INFO: Final = Path("/proc/cpuinfo")


def bench(
    path: Path,
    settings: Settings,
    *,
    quick: bool = False,
    rivals: Sequence[str] = (),
    cases: Sequence[str] = (),
) -> Bench:
    """Let rivals answer for the cases of a suite.

    Parameters
    ----------
    path
        The file of the suite.
    settings
        How the batch is run.
    quick
        Only the cases of the quick run, with less effort.
    rivals, cases
        Names of those that take part; all where none is named.

    Raises
    ------
    InputError
        If the suite or the results file cannot be used, or there is no such rival or case.
    """
    suite = read_suite(path)
    known = {one.name: one for one in suite.cases}
    taking_part = [RIVALS[name] for name in _named("rival", rivals, RIVALS)]
    chosen = [known[name] for name in _named("case", cases, known)]
    chosen = [case for case in chosen if case.quick or not quick]
    effort = QUICK if quick else FULL
    manifest = Manifest(
        suite=suite.name,
        version=suite.version,
        digest=sha256("\n".join(one.model_dump_json() for one in chosen).encode()).hexdigest(),
        quick=quick,
        **effort._asdict(),
        objectives=suite.objectives,
        rivals=tuple(one.name for one in taking_part),
        machine=machine(),
    )
    header = {
        "schema": SCHEMA_VERSION,
        "kind": "bench",
        **manifest.model_dump(mode="json"),
        "cases": [one.name for one in chosen],
    }
    heats = [
        Task(f"{case.name} {one.name}", Heat(case, line, one.name, effort))
        for case in chosen
        for line in [line_of(case.source, path.parent)]
        for one in taking_part
    ]
    found, where = settings.run(heats, answer, header, len(heats)), settings.file or path
    rows = tuple(
        row
        for one in found
        if one.result is not None
        for row in parsed(Answers, one.result, f"{where}: {one.key}").rows
    )
    return Bench(
        manifest=manifest,
        standings=tuple(standings(rows)),
        profiles=tuple(profiles(rows)),
        rows=rows,
        failures=tuple(
            Failure(state=one.key, outcome=one.outcome, detail=one.detail)
            for one in found
            if one.outcome != "done"
        ),
    )


def _named(what: str, wanted: Sequence[str], known: Mapping[str, object]) -> Iterator[str]:
    """Yield the names that are wanted, in the order of those that are known.

    Raises
    ------
    SchemaError
        If one is not known.
    """
    for name in wanted:
        if name not in known:
            raise SchemaError(what, f'there is no {what} "{name}"', ", ".join(known))
    yield from (name for name in known if not wanted or name in wanted)


def machine() -> Machine:
    """Return where this runs, and with what."""
    return Machine(
        system=platform.system(),
        processor=_processor(),
        cores=cores(),
        python=platform.python_version(),
        versions={name: version(name) for name in PACKAGES},
    )


def _processor() -> str:
    """Return the name of the processor, as far as the system tells it."""
    if CPU_INFO.exists():
        for line in CPU_INFO.read_text("utf-8", "replace").splitlines():
            name, colon, value = line.partition(":")
            if colon and name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
