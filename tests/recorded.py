"""Answers recorded from the real scheduler, line by line.

The full folder lies outside the project (see ``tests.conftest.recorded_root``); where it is
absent, the copies in ``instances/recorded/`` are used.
"""

import gzip
import json
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from planner.errors import SchemaError
from planner.quota.kueue.assignment import (
    Assignment,
    flavor_resources,
    parse_assignment,
    read_assignment,
)
from planner.quota.kueue.modes import with_modes
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.conftest import ROOT, recorded_root

Line = dict[str, Any]


def path_of(name: str) -> Path | None:
    """Return the file of a name such as ``small-flavors`` or ``upstream/classical``."""
    full = recorded_root()
    folders = [full / "kueue"] if full else []
    folders.append(ROOT / "instances" / "recorded")
    files = [folder / f"{name}.jsonl.gz" for folder in folders]
    return next((file for file in files if file.is_file()), None)


def lines(name: str, step: int = 1) -> Iterator[Line]:
    """Yield every ``step``-th recorded instance of a file; the test is skipped if it is nowhere.

    The project's own copies have a tenth of the lines: of them it is ten times as many.
    """
    return map(json.loads, _texts(name)[:: step if recorded_root() else max(1, step // 10)])


def line(name: str, place: int) -> Line:
    """Return one recorded instance of a file."""
    found: Line = json.loads(_texts(name)[place])
    return found


def named(name: str, ids: Collection[str]) -> list[Line]:
    """Return the recorded instances of a file that have these ids, as far as they are there."""
    some = (json.loads(text) for text in _texts(name) if any(one in text for one in ids))
    return [line for line in some if line["id"] in ids]


def _texts(name: str) -> list[str]:
    path = path_of(name)
    if path is None:
        pytest.skip(f"no recorded answers {name}: set PLANNER_CONFORMANCE to their folder")
    return texts(path)


@lru_cache(maxsize=8)
def texts(path: Path) -> list[str]:
    """Return the lines of a recorded file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.readlines()


def state_of(line: Line) -> State:
    """Return the state of a recorded instance, a whole cluster, at the clock it was recorded at."""
    state = read_kueue_objects(line["state"], where=line["id"], now=line["now"])
    return state.model_copy(update={"whole": True})


def assignment_of(line: Line) -> Assignment:
    """Return the flavors Kueue assigned in a recorded instance."""
    return Assignment.model_validate(line["expect"]["assignment"])


def asks_the_state(line: Line) -> bool:
    """Say whether a call of Kueue had the modes that its flavors have in the state.

    Some calls were made with others, to see whom Kueue then takes: nobody can ask for such a plan.
    """
    given = line.get("assignment")
    if given is None:
        return True
    flavors, state = parse_assignment(given), state_of(line)
    snapshot = take_snapshot(state, extra=flavor_resources(flavors))
    preemptor = find_preemptor(state, snapshot, line["pending"])
    try:
        with_modes(read_assignment(flavors, preemptor), preemptor, snapshot, lambda _: True)
    except SchemaError:
        return False
    return True


def put(value: Any, path: Sequence[str | int], new: object) -> None:
    """Put another value at a place of a value in JSON."""
    *steps, last = path
    for step in steps:
        value = value[step]
    value[last] = new
