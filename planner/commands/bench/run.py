"""One case and one rival: an answer, judged by the verifier and measured; all of them as a batch.

The batch can be stopped, and goes on.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from planner.batch import Task, cores
from planner.commands.audit import Settings
from planner.commands.audit.record import Failure
from planner.commands.bench.record import (
    COUNT,
    Answers,
    Bench,
    Case,
    Machine,
    Manifest,
    Optimum,
    Row,
)
from planner.commands.bench.suite import SUBJECT, begun, digest_of, line_of, made, read_suite
from planner.commands.bench.summary import profiles, standings
from planner.errors import InputError, SchemaError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import measure_id, with_names
from planner.plan.record import SCHEMA_VERSION
from planner.reader.complaint import checked
from planner.rivals.contest import Contest, Effort, Found, SpentError, laws_of
from planner.rivals.table import RIVALS

_DIGITS: Final = 6


class Heat(Struct, frozen=True):
    """What a process is given: a case, the line that it may be read from, a rival, its effort."""

    case: Case
    line: bytes | None
    rival: str
    effort: Effort


def answer(heat: Heat) -> Mapping[str, Any]:
    """Let a rival answer for every objective of a case.

    Raises
    ------
    InputError
        If the state cannot be made, or is another one than the suite says, or the suite records
        levels that an objective does not have.
    """
    case, rival = heat.case, RIVALS[heat.rival]
    state = made(case, heat.line).state
    rows: list[Row] = []
    found: Found | None = None
    spent: dict[str, Any] = {}
    for optimum in case.optima:
        # The objective is a part of the seed: what is drawn for one says nothing about another.
        seed = f"{case.name} {optimum.objective} {rival.name}" if rival.drawn else None
        began = time.process_time()
        planning = begun(case, state, certify=rival.certifies)
        prepared = round(time.process_time() - began, _DIGITS)
        profile = planning.set_objective(find_profile(optimum.objective))
        contest = Contest(planning, profile, heat.effort, seed)
        if found is None or rival.counts:
            began = time.process_time()
            found = Found(None)
            with suppress(SpentError):
                found = rival.answer(contest)
            spent = {
                "cpu_seconds": round(time.process_time() - began, _DIGITS),
                "judgements": contest.judge.asked,
                "late": contest.is_late,
                "seed": contest.seed or "",
            }
        spent |= {"scheduler": state.scheduler, "prepare_seconds": prepared}
        rows.append(_row(heat, optimum, contest, found, spent))
    return Answers(rows=tuple(rows)).model_dump(mode="json", by_alias=True)


def _row(
    heat: Heat, optimum: Optimum, contest: Contest, found: Found, spent: Mapping[str, Any]
) -> Row:
    case, rival = heat.case, RIVALS[heat.rival]
    values: dict[str, int] = {}
    broken: Sequence[str] | None = None
    chosen, planning = found.chosen, contest.planning
    if chosen is not None:
        names = map(measure_id, with_names(contest.profile.levels))
        values = dict(zip(names, contest.values(chosen), strict=True))
        broken = planning.broken_by(chosen)
    keys = [planning.keys[position] for position in chosen or ()]
    optimal, worse_at, gap = _compared(found, values, broken, optimum)
    known = (one for one in case.optima if one.objective == COUNT and one.status == "optimal")
    shared = ("kind", "size", "hard", "running", "candidates")
    return Row(
        case=case.name,
        **{name: getattr(case, name) for name in shared},
        objective=optimum.objective,
        rival=rival.name,
        family=rival.family,
        status="none" if broken is None else "plan",
        legal=None if broken is None else not broken,
        broken=tuple(sorted(laws_of(broken or ()))),
        victims=len(keys),
        fewest=next((one.values.get("count") for one in known), None),
        values=values,
        digest=digest_of(keys),
        optimal=optimal,
        worse_at=worse_at,
        gap=gap,
        proved=found.proved,
        refuted=found.proved and not optimal,
        **spent,
    )


def _compared(
    found: Found, values: Mapping[str, int], broken: Sequence[str] | None, optimum: Optimum
) -> tuple[bool, str | None, float | None]:
    """Say whether an answer is optimal, on which level it is first another one, and by how much.

    ``broken`` are the laws it breaks, ``None`` of no plan. A gap below 0 would be a better answer
    than the optimum: the record would be wrong.
    """
    if broken is None:
        return found.proved and optimum.status == "infeasible", None, None
    if broken:
        return False, None, None
    if not optimum.values.keys() <= values.keys():
        has = f"it has the levels {', '.join(optimum.values)}"
        raise InputError(f"optimum under {optimum.objective}", has, ", ".join(values))
    for term, least in optimum.values.items():
        if (value := values[term]) != least:
            return False, term, round((value - least) / max(1, least), _DIGITS)
    return optimum.status == "optimal", None, None


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
    """Let rivals answer for the cases of a suite, which is in the file at ``path``.

    ``settings`` say how the batch is run; ``quick`` takes only the cases of the quick run, with
    less effort. Where ``rivals`` or ``cases`` are named, only those take part.

    Raises
    ------
    InputError
        If the suite or the results file cannot be used, or there is no such rival or case.
    """
    suite = read_suite(path)
    known = {one.name: one for one in suite.cases}
    taking_part = [RIVALS[name] for name in _named("rival", rivals, RIVALS)]
    named = (known[name] for name in _named("case", cases, known))
    chosen = [case for case in named if case.quick or not quick]
    effort = QUICK if quick else FULL
    manifest = Manifest(
        suite=suite.name,
        version=suite.version,
        digest=sha256("\n".join(one.model_dump_json() for one in chosen).encode()).hexdigest(),
        quick=quick,
        **effort._asdict(),
        objectives=suite.objectives,
        rivals=tuple(one.name for one in taking_part),
        machine=_machine(),
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
        for row in checked(Answers, one.result, f"{where}: {one.key}", (), SUBJECT).rows
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
    """Yield the names that are wanted, in the order of those that are known."""
    for name in wanted:
        if name not in known:
            raise SchemaError(what, f'there is no {what} "{name}"', ", ".join(known))
    yield from (name for name in known if not wanted or name in wanted)


def _machine() -> Machine:
    text = CPU_INFO.read_text("utf-8", "replace") if CPU_INFO.exists() else ""
    parts = (line.partition(":") for line in text.splitlines())
    models = (value.strip() for name, _, value in parts if name.strip() == "model name")
    return Machine(
        system=platform.system(),
        processor=next(models, "") or platform.processor() or platform.machine(),
        cores=cores(),
        python=platform.python_version(),
        versions={name: version(name) for name in PACKAGES},
    )
