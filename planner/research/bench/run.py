"""A suite read from its file, its states made anew, optima proved; rivals that answer for it.

Each answer is judged by the verifier and measured; all of them are a batch, which can be stopped,
and goes on.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import filter as matching
from hashlib import sha256
from importlib.metadata import version
from inspect import signature
from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from planner.batch import Settings, Task, cores, run
from planner.commands.replay.comparison import parse_line, read_lines
from planner.commands.study.instance import Packed, open_packed
from planner.commands.study.run import answers_of
from planner.dump import as_line
from planner.errors import InputError, SchemaError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import measure_name, with_names
from planner.plan import SCHEMA_VERSION
from planner.quantity import plural
from planner.reader import MAX_BYTES, load_file, read_objects
from planner.reader.complaint import checked
from planner.research.bench.record import (
    COUNT,
    Answers,
    Bench,
    Case,
    Machine,
    Manifest,
    Optimum,
    Row,
    Source,
    Suite,
)
from planner.research.bench.summary import profiles, standings
from planner.research.generate import generate_objects
from planner.research.rivals.contest import Contest, Effort, Found, SpentError, laws_of
from planner.research.rivals.table import RIVALS
from planner.research.wing import families
from planner.solver.start import AnyPlanning, Given, start
from planner.state import AnyState

SUBJECT: Final = "the benchmark"
"""What messages call a file that should be a suite, or the results of a run, and is not."""
EXPECTED: Final = "the file of a suite, such as instances/bench/suite.json"
OF_STATES: Final = "planner compare holds algorithms against one another on states of your own"


class Made(NamedTuple):
    """A state, and the digest of what it was made of."""

    state: AnyState
    digest: str


def read_suite(path: str | Path) -> Suite:
    """Read a suite; InputError if the file cannot be read, or is not a suite."""
    try:
        text = load_file(path, MAX_BYTES, EXPECTED)
        value = parse_line(text.data, text.where)
        if not value.get("cases"):
            raise SchemaError(text.where, "is no suite: it has no cases")
    except InputError as error:
        error.expected, error.hint = EXPECTED, error.hint or OF_STATES
        raise
    return checked(Suite, value, text.where, (), SUBJECT)


def line_of(source: Source, folder: Path) -> bytes | None:
    """Return the line that a source names; ``None`` for a source whose state is generated.

    Raises ``InputError`` if there is no such line.
    """
    if source.file is None:
        return None
    path = folder / source.file
    # A suite may come from anybody: it must not choose which other files of this machine are read.
    if path.resolve().parent != folder.resolve():
        raise InputError(source.file, "is not beside the suite")
    for number, text in read_lines(str(path), None):
        if number == source.line:
            return text
    raise InputError(str(path), f"has no line {source.line}")


def made(case: Case, line: bytes | None = None) -> Made:
    """Make the state of a case; ``line`` is what `line_of` returns.

    Raises ``InputError`` if the state cannot be made, or its digest is not the one in the suite.
    """
    source = case.source
    if line is not None:
        digest = sha256(line).hexdigest()
        state = open_packed(Packed(case.name, line)).state
    else:
        if source.preset is not None:
            value = generate_objects(source.preset, source.seed or 0, source.knobs)
        elif source.family is not None:
            value = family(source.family, source.numbers)
        else:
            raise SchemaError(case.name, "has no source", "a preset, a family or a file")
        digest = sha256(as_line(value).encode()).hexdigest()
        state = read_objects(value, where=case.name)
    if case.digest and digest != case.digest:
        found = f"its state has the SHA-256 {digest}"
        raise InputError(case.name, found, case.digest, "this is another version of the generator")
    return Made(state, digest)


def family(name: str, numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return the objects of a state of a family, made from numbers.

    Raises ``SchemaError`` if there is no such family, or it takes other numbers.
    """
    known = families()
    if name not in known:
        raise SchemaError("family", f'there is no family "{name}"', ", ".join(known))
    wanted = signature(known[name])
    try:
        wanted.bind(**numbers)
    except TypeError as error:
        raise SchemaError(f"family {name}", str(error), str(wanted)) from None
    return known[name](**numbers)


def begun(case: Case, state: AnyState, *, certify: bool = False) -> AnyPlanning:
    """Make the preemptor of a case ready for planning; ``certify`` waits for proof trees."""
    return start(state, Given(case.pending or None, rules=case.rules, certify=certify))


def digest_of(keys: Iterable[str]) -> str:
    """Return the digest of victims by their keys."""
    return sha256("\n".join(sorted(keys)).encode()).hexdigest()


_DIGITS: Final = 6


class Heat(Struct, frozen=True):
    """The task of a process: a case, the line of its state if it has one, a rival, its effort."""

    case: Case
    line: bytes | None
    rival: str
    effort: Effort


def run_heat(heat: Heat) -> Mapping[str, Any]:
    """Let a rival answer for every objective of a case.

    Raises ``InputError`` if the state cannot be made, or its digest is not the one in the suite, or
    the suite records levels that an objective does not have.
    """
    case, rival = heat.case, RIVALS[heat.rival]
    state = made(case, heat.line).state
    rows: list[Row] = []
    found: Found | None = None
    spent: dict[str, Any] = {}
    for optimum in case.optima:
        # The objective is a part of the seed: draws for one objective do not depend on another.
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
                "judgements": contest.asked,
                "late": contest.is_late,
                "seed": contest.seed or "",
            }
        spent |= {"scheduler": state.scheduler, "prepare_seconds": prepared}
        rows.append(_row(heat, optimum, contest, found, spent))
    return {"rows": [row.model_dump(mode="json") for row in rows]}


def _row(
    heat: Heat, optimum: Optimum, contest: Contest, found: Found, spent: Mapping[str, Any]
) -> Row:
    case, rival = heat.case, RIVALS[heat.rival]
    values: dict[str, int] = {}
    broken: Sequence[str] | None = None
    chosen, planning = found.chosen, contest.planning
    if chosen is not None:
        names = map(measure_name, with_names(contest.profile.levels))
        values = dict(zip(names, contest.values(chosen), strict=True))
        broken = planning.broken_by(chosen)
    keys = [planning.keys[position] for position in chosen or ()]
    optimal, worse_at, gap = _compared(found, values, broken, optimum)
    legal = None if broken is None else not broken
    # A legal answer that is neither the recorded one nor worse: the record is wrong, and no judge.
    refutes = bool(legal) and not optimal and worse_at is None
    known = (one for one in case.optima if one.objective == COUNT and one.status == "optimal")
    shared = ("kind", "size", "hard", "running", "candidates")
    return Row(
        case=case.name,
        **{name: getattr(case, name) for name in shared},
        objective=optimum.objective,
        rival=rival.name,
        family=rival.family,
        status="none" if broken is None else "plan",
        legal=legal,
        broken=tuple(sorted(laws_of(broken or ()))),
        victims=len(keys),
        fewest=next((one.values.get("victims") for one in known), None),
        values=values,
        digest=digest_of(keys),
        optimal=optimal,
        worse_at=worse_at,
        gap=gap,
        proved=found.proved,
        refuted=found.proved and not optimal and not refutes,
        refutes=refutes,
        **spent,
    )


def _compared(
    found: Found, values: Mapping[str, int], broken: Sequence[str] | None, optimum: Optimum
) -> tuple[bool, str | None, float | None]:
    """Say whether an answer is optimal, on which level it is worse, and by how much.

    ``broken`` are the laws that the answer breaks, ``None`` if it is no plan. A gap below 0 is that
    of an answer which is better than the optimum: the record is wrong.
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
            worse_at = term if value > least else None
            return False, worse_at, round((value - least) / max(1, least), _DIGITS)
    return optimum.status == "optimal", None, None


QUICK: Final = Effort(judgements=200, work=1.0, nodes=500, seconds=10.0)
FULL: Final = Effort(judgements=1000, work=5.0, nodes=5000, seconds=60.0)
"""What a rival may spend, in the quick run and in the full one."""
QUICK_S: Final = 0.3
FULL_S: Final = 3.5
"""Processor seconds for an answer, on average over the rivals and cases of the recorded runs."""
PACKAGES: Final = ("preemption-planner", "ortools", "numpy", "pydantic")
CPU_INFO: Final = Path("/proc/cpuinfo")


class Chosen(NamedTuple):
    """What of a suite takes part: ``quick`` are the cases of the quick run, with less effort.

    Where ``rivals`` or ``cases`` are named, only those take part; ``*`` in a name is whatever
    stands there, as in a shell.
    """

    quick: bool = False
    rivals: Sequence[str] = ()
    cases: Sequence[str] = ()


def bench(
    path: str | Path,
    settings: Settings,
    chosen: Chosen,
    notice: Callable[[str], None] = lambda _: None,
) -> Bench:
    """Let rivals answer for the cases of a suite, which is in the file at ``path``.

    ``settings`` say how the batch is run, and ``notice`` is told how long it takes.

    Raises ``InputError`` if the suite or the results file cannot be used, or there is no such rival
    or case.
    """
    suite, quick = read_suite(path), chosen.quick
    known = {one.name: one for one in suite.cases}
    taking_part = [RIVALS[name] for name in _named("rival", chosen.rivals, RIVALS)]
    named = (known[name] for name in _named("case", chosen.cases, known))
    cases = [case for case in named if case.quick or not quick]
    names = [case.name for case in cases]
    if slow := [name for name in chosen.cases if not matching(names, name)]:
        of_quick = ", ".join(one.name for one in suite.cases if one.quick)
        raise SchemaError("case", f'"{slow[0]}" is not in the quick run', of_quick)
    effort = QUICK if quick else FULL
    manifest = Manifest(
        suite=suite.name,
        version=suite.version,
        digest=sha256("\n".join(one.model_dump_json() for one in cases).encode()).hexdigest(),
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
        "cases": names,
        "limits": asdict(settings.limits),
    }
    heats = [
        Task(f"{case.name} {one.name}", Heat(case, line, one.name, effort))
        for case in cases
        for line in [line_of(case.source, Path(path).parent)]
        for one in taking_part
    ]
    seconds = ceil(len(heats) * (QUICK_S if quick else FULL_S))
    notice(f"{plural(len(heats), 'answer')}, some {seconds:,} s of processor time")
    mine = {heat.key for heat in heats}.__contains__
    done = run(heats, run_heat, replace(settings, total=len(heats)), header=header, mine=mine)
    found = [answers_of(row, Answers, header, settings.file) for row in done]
    rows = tuple(row for one in found for row in one.rows)
    return Bench(
        manifest=manifest,
        standings=tuple(standings(rows)),
        profiles=tuple(profiles(rows)),
        rows=rows,
        failures=tuple(failure for one in found for failure in one.failures),
    )


def _named(what: str, wanted: Sequence[str], known: Mapping[str, object]) -> Iterator[str]:
    """Yield the wanted names, or all if none are wanted, in the order of ``known``."""
    for name in wanted:
        if not matching(known, name):
            raise SchemaError(what, f'there is no {what} "{name}"', ", ".join(known))
    chosen = {one for name in wanted for one in matching(known, name)}
    yield from (one for one in known if not wanted or one in chosen)


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
