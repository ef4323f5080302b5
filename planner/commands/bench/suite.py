"""A suite read from its file, its states made anew; optima proved and recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any, Final, NamedTuple

from planner.commands.audit.instance import Packed, open_packed
from planner.commands.bench.record import Case, Optimum, Size, Source, Suite
from planner.commands.check.plan import check
from planner.commands.generate import generate_objects
from planner.commands.replay.comparison import parse_line, read_lines
from planner.dump import as_line
from planner.errors import InputError, InternalError, SchemaError
from planner.objective.profile_file import find_profile
from planner.reader import MAX_BYTES, load_file, read_objects
from planner.reader.complaint import checked
from planner.scheduler import Part
from planner.solver.deadline import Deadline
from planner.solver.start import AnyPlanning, Given, pending_workloads, solve, start
from planner.state import AnyState

FAMILIES: Final = Part[Mapping[str, Callable[..., dict[str, Any]]]]("families")
"""States of a scheduler that a theorem says are hard, by the name of their family."""
SUBJECT: Final = "the benchmark"
"""What messages call a file that is none."""
SMALL: Final = 50
MEDIUM: Final = 500
PATIENCE_S: Final = 180.0
"""For one optimum: where no proof tree closes by then, two engines may have agreed."""


class Made(NamedTuple):
    """A state, and the digest of what it was made of."""

    state: AnyState
    digest: str


def read_suite(path: Path) -> Suite:
    """Read a suite.

    Raises
    ------
    InputError
        If it cannot be read, or is none.
    """
    text = load_file(path, MAX_BYTES, "the file of a suite")
    return checked(Suite, parse_line(text.data, text.where), text.where, (), SUBJECT)


def line_of(source: Source, folder: Path) -> bytes | None:
    """Return the line that a source names; ``None`` for one that is made.

    Raises
    ------
    InputError
        If there is no such line.
    """
    if source.file is None:
        return None
    path = folder / source.file
    # A suite may be anybody's: it does not choose what else of this machine is read.
    if path.resolve().parent != folder.resolve():
        raise InputError(source.file, "is not beside the suite")
    for number, text in read_lines(str(path), None):
        if number == source.line:
            return text
    raise InputError(str(path), f"has no line {source.line}")


def made(case: Case, line: bytes | None = None) -> Made:
    """Make the state of a case; ``line`` is what `line_of` returns.

    Raises
    ------
    InputError
        If it cannot be made, or is another one than the suite says.
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
    """Return what is printed of a state of a family, for some numbers.

    Raises
    ------
    SchemaError
        If there is no such family, or its numbers are others.
    """
    known = {each: made for own in FAMILIES.of_all() for each, made in own.items()}
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


def prove(case: Case, objectives: Sequence[str], folder: Path) -> Case:
    """Return a case with its state's digest and numbers, and the proven optimum of each objective.

    ``folder`` is that of the suite.

    Raises
    ------
    InputError
        If the state cannot be made or planned for.
    InternalError
        If an optimum is not proved.
    """
    state, digest = made(case, line_of(case.source, folder))
    case = case.model_copy(update={"pending": case.pending or pending_workloads(state)[0]})
    planning = begun(case, state)
    running = len(planning.keys)
    size: Size = "small" if running < SMALL else "medium" if running < MEDIUM else "large"
    return case.model_copy(
        update={
            "digest": digest,
            "running": running,
            "candidates": int(planning.eligible.sum()),
            "size": size,
            "optima": tuple(_optimum(case, state, name) for name in objectives),
        }
    )


def proved(objectives: Sequence[str], folder: Path, case: Case) -> Mapping[str, Any]:
    """Return what `prove` does as JSON, as the processes of a batch hand it on."""
    return prove(case, objectives, folder).model_dump(mode="json")


def _optimum(case: Case, state: AnyState, objective: str) -> Optimum:
    planning = begun(case, state, certify=True)
    plan = solve(planning, find_profile(objective), Deadline.after(PATIENCE_S))
    if plan.status not in {"optimal", "infeasible"} or plan.certificate is None:
        raise InternalError(f"{case.name} is not proved under {objective}: {plan.status}")
    levels = plan.certificate.levels if plan.victims else ()
    return Optimum(
        objective=objective,
        status="optimal" if plan.status == "optimal" else "infeasible",
        values={level.term: level.value for level in levels},
        victims=len(plan.victims),
        digest=digest_of(plan.keys),
        certified=check(state, plan).accepted,
    )
