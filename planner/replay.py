"""Recorded answers of the real scheduler against the reference, line by line.

A recorded line holds a state, a pending workload and what the scheduler decided. Two things are
compared: the assignment (mode, borrowing, podsets with counts and flavors) and the targets with
their order and reasons.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice, permutations, product, zip_longest
from pathlib import Path
from typing import Any, Final, Literal

from planner.assignment import (
    Assignment,
    flavor_resources,
    parse_assignment,
    read_assignment,
)
from planner.errors import InputError, ParseError, PlannerError, SchemaError
from planner.plan import Record
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import Snapshot, take_snapshot
from planner.reader import read_objects
from planner.reference.decision import Decision, decide
from planner.state import Cohort, State, parse_time

MAX_LINE: Final = 256 * 2**20
"""The longest line that is read, in bytes: a recorded state of 100,000 workloads has 93 million."""

MAX_ORDERS: Final = 1000
"""How many orders of cohorts are tried where the real scheduler's own order is random."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_CYCLE: Final = "cycle"

Outcome = Literal["equal", "different", "skipped"]
Answer = dict[str, Any]
Watch = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line compared; ``detail`` is the first difference, or why it was skipped."""

    id: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FileComparison:
    """One file compared; ``different`` holds the comparisons that found a difference."""

    file: str
    instances: int
    equal: int
    skipped: int
    different: tuple[Comparison, ...]


class FileReport(Record):
    """One file of a replay as it is printed: how many lines, and which ones differ."""

    file: str
    instances: int
    equal: int
    skipped: int
    different: tuple[str, ...]


class ReplayReport(Record):
    """The output of ``planner replay --format json``."""

    files: tuple[FileReport, ...]
    instances: int
    equal: int
    skipped: int


def replay(path: str, watch: Watch | None = None) -> FileComparison:
    """Compare every line of a file of recorded answers, ``.jsonl`` or ``.jsonl.gz``.

    ``watch`` is told, line by line, which share of the file has been read.

    Raises
    ------
    InputError
        If the file or a line cannot be read; the message names both.
    """
    counts = {"equal": 0, "different": 0, "skipped": 0}
    different = []
    for number, text in _lines(path, watch):
        where = f"{path}: line {number}"
        comparison = replay_line(_parsed(text, where), where)
        counts[comparison.outcome] += 1
        if comparison.outcome == "different":
            different.append(comparison)
    instances = sum(counts.values())
    if not instances:
        raise ParseError(path, "is empty", "one recorded instance a line")
    return FileComparison(path, instances, counts["equal"], counts["skipped"], tuple(different))


def summarise(files: Sequence[FileComparison]) -> ReplayReport:
    """Add up the files to what is printed."""
    return ReplayReport(
        files=tuple(
            FileReport(
                file=file.file,
                instances=file.instances,
                equal=file.equal,
                skipped=file.skipped,
                different=tuple(comparison.id for comparison in file.different),
            )
            for file in files
        ),
        instances=sum(file.instances for file in files),
        equal=sum(file.equal for file in files),
        skipped=sum(file.skipped for file in files),
    )


def replay_line(line: Mapping[str, Any], where: str = "line") -> Comparison:
    """Decide a recorded instance anew, and compare.

    Skipped are whole scheduling cycles, and lines on which the scheduler gave no answer. Where
    several outcomes are recorded, because the scheduler itself is not deterministic there, any
    of them is right. They are a sample: under fair sharing, a line without a match is decided
    again with other orders of the cohorts.

    Raises
    ------
    InputError
        If the line is not a recorded instance, or its state cannot be read.
    """
    name = _field(line, "id", str, where)
    expected = _field(line, "expect", dict, where)
    if line.get("mode") == _CYCLE:
        return Comparison(name, "skipped", "a whole scheduling cycle")
    several = expected.get("outcomes") or []
    if not (isinstance(several, list) and all(isinstance(one, dict) for one in several)):
        raise SchemaError(f"{where}: expect.outcomes", "is not a list of objects")
    state = read_objects(
        _field(line, "state", dict, where),
        where=f"{where}: state",
        digest=name,
        now=_clock(line, where),
    )
    pending = _field(line, "pending", str, where)
    given = line.get("assignment")
    fixed = None if given is None else parse_assignment(given, f"{where}: assignment")
    comparison = _decided(name, expected, state, pending, fixed)
    if comparison.outcome == "different" and several and state.configuration.fair_sharing_on:
        for cohorts in islice(_other_orders(state.cohorts), MAX_ORDERS):
            reordered = state.model_copy(update={"cohorts": cohorts})
            other = _decided(name, expected, reordered, pending, fixed)
            if other.outcome == "equal":
                return other
    return comparison


def _decided(
    name: str, expected: Answer, state: State, pending: str, fixed: Assignment | None
) -> Comparison:
    """Decide once, and compare."""
    snapshot = take_snapshot(state, extra=flavor_resources(fixed) if fixed else ())
    try:
        preemptor = find_preemptor(state, snapshot, pending)
        if fixed is not None:
            fixed = read_assignment(fixed, preemptor, f"{name}: assignment")
        decision = decide(snapshot, preemptor, fixed)
    except PlannerError as error:
        return Comparison(name, "different", f"the reference gives no answer: {error}")
    return _compare(name, expected, answer_of(decision, snapshot))


def _other_orders(cohorts: Sequence[Cohort]) -> Iterator[tuple[Cohort, ...]]:
    """Yield every other order of the cohorts that share a parent.

    Under fair sharing the real scheduler chooses at random among cohorts of equal shares; the
    reference takes the one that stands last. So each order of siblings, kept up from the first
    step to the last, leads to an answer that the real scheduler may give.
    """
    siblings: dict[str, list[Cohort]] = {}
    for cohort in cohorts:
        siblings.setdefault(cohort.spec.parent_name, []).append(cohort)
    siblings.pop("", None)  # roots are never compared
    rest = [cohort for cohort in cohorts if not cohort.spec.parent_name]
    some = (islice(permutations(group), MAX_ORDERS) for group in siblings.values())
    for orders in islice(product(*some), 1, None):
        yield (*rest, *chain.from_iterable(orders))


def answer_of(decision: Decision, snapshot: Snapshot) -> Answer:
    """Return a decision in the form in which answers are recorded."""
    assignment = decision.assignment
    return {
        "assignment": {
            "mode": assignment.mode,
            "borrowing": assignment.borrowing,
            "podSets": [
                {
                    "name": pods.name,
                    "count": pods.count,
                    "flavors": {
                        resource: {"flavor": choice.flavor, "mode": choice.mode}
                        for resource, choice in pods.flavors.items()
                    },
                }
                for pods in assignment.pod_sets
            ],
        },
        "targets": [
            {
                "workload": target.workload.key,
                "clusterQueue": snapshot.queue_name(target.workload.queue),
                "reason": target.reason,
            }
            for target in decision.search.targets
        ],
    }


def _compare(name: str, expected: Answer, found: Answer) -> Comparison:
    """Compare with the recorded outcome, or with each of several, on all that was recorded."""
    several = expected.get("outcomes") or []
    outcomes = [{part: one[part] for part in found if part in one} for one in (expected, *several)]
    if not any(outcomes):
        return Comparison(name, "skipped", "the scheduler itself gave no answer")
    differences = [
        next(filter(None, (first_difference(one[part], found[part], part) for part in one)), "")
        for one in outcomes
        if one
    ]
    if not all(differences):
        return Comparison(name, "equal")
    prefix = f"none of {len(several)} recorded outcomes; the first: " if several else ""
    return Comparison(name, "different", prefix + differences[0])


def first_difference(recorded: object, found: object, at: str) -> str:
    """Say in words where two values first differ; empty if they do not.

    What is absent, null or empty is the same: the scheduler leaves out what is empty.
    """
    pairs: Iterable[tuple[str, object, object]]
    if isinstance(recorded, dict) and isinstance(found, dict):
        keys = dict.fromkeys((*found, *recorded))
        pairs = ((f"{at}.{key}", recorded.get(key), found.get(key)) for key in keys)
    elif isinstance(recorded, list) and isinstance(found, list):
        rows = zip_longest(recorded, found)
        pairs = ((f"{at}[{i}]", one, other) for i, (one, other) in enumerate(rows))
    elif recorded == found or not (recorded or found):
        return ""
    else:
        return f"{at}: recorded {_shown(recorded)}, replayed {_shown(found)}"
    differences = (first_difference(one, other, path) for path, one, other in pairs)
    return next(filter(None, differences), "")


def _shown(value: object) -> str:
    return "nothing" if value is None else json.dumps(value)


def _field(line: Mapping[str, Any], name: str, kind: type, where: str) -> Any:  # noqa: ANN401
    value = line.get(name)
    if not isinstance(value, kind):
        words = "a string" if kind is str else "an object"
        found = f'has no "{name}"' if value is None else f'"{name}" is not {words}'
        raise SchemaError(where, found, f'{words} "{name}" in a recorded instance')
    return value


def _clock(line: Mapping[str, Any], where: str) -> datetime:
    text = _field(line, "now", str, where)
    try:
        return parse_time(text)
    except ValueError:
        expected = "an RFC 3339 timestamp such as 2026-03-08T21:06:00Z"
        raise SchemaError(f"{where}: now", f"{text!r} is not a timestamp", expected) from None


def _parsed(text: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(where, f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise SchemaError(where, "is not a JSON object", "one recorded instance a line")
    return value


def _lines(path: str, watch: Watch | None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty with their numbers, unpacked, one at a time."""
    number = 0
    try:
        with Path(path).open("rb") as raw, _unpacked(raw) as stream:
            size = max(1, Path(path).stat().st_size)
            while text := stream.readline(MAX_LINE + 1):
                number += 1
                if len(text) > MAX_LINE:
                    raise ParseError(f"{path}: line {number}", f"is longer than {MAX_LINE} bytes")
                if text.strip():
                    yield number, text
                if watch is not None:
                    watch(raw.tell() / size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ParseError(f"{path}: line {number + 1}", f"is damaged: {error}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(path, f"cannot be read: {reason}") from None


def _unpacked(raw: io.BufferedReader) -> gzip.GzipFile | io.BufferedReader:
    """Undo gzip, recognised by its first two bytes."""
    return gzip.GzipFile(fileobj=raw) if raw.peek(2).startswith(_GZIP_MAGIC) else raw
