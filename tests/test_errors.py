"""What the text of an error is: one message that no terminal takes for something else."""

import copy
import importlib
import json
import pickle
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import planner
from planner.errors import LONGEST_LINE, InputError, InternalError, PlannerError
from planner.reader.kueue_release import GateRefused
from planner.reference.kueue.chance import ReleaseCrash
from planner.state.kueue_release import find_release
from tests.cli.running import cluster, write

HOSTILE = "a\x1b[2J\r\x00\u202eb\nhint: c"
HARMLESS = r"a\x1b[2J\r\x00\u202eb\nhint: c"


def test_fields_are_escaped_in_the_text_and_whole_in_the_error() -> None:
    error = InputError(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    assert str(error).splitlines() == [
        f"{HARMLESS}: {HARMLESS}",
        f"  expected {HARMLESS}",
        f"  hint: {HARMLESS}",
    ]
    assert error.found == HOSTILE


def test_other_errors_keep_their_lines() -> None:
    assert str(InternalError(f"first\n{HOSTILE}")).splitlines() == [
        "first",
        r"a\x1b[2J\r\x00\u202eb",
        "hint: c",
    ]


@pytest.mark.parametrize("text", ["", "plain", "größer als 3 µs"])
def test_plain_text_stays(text: str) -> None:
    assert str(PlannerError(text)) == text


def test_names_in_the_library(tmp_path: Path) -> None:
    state = planner.read(write(tmp_path, cluster()))
    assert isinstance(state, planner.State)
    named = HOSTILE.replace("\x00", "")
    with pytest.raises(PlannerError) as caught:
        planner.solve(state, pending=named)
    assert all(line.isprintable() for line in str(caught.value).splitlines())
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"kind": named, "apiVersion": "kueue.x-k8s.io/v1beta1"}))
    with pytest.raises(PlannerError) as caught:
        planner.read(bad)
    assert all(line.isprintable() for line in str(caught.value).splitlines())


def every_class() -> Iterator[type[Exception]]:
    """Yield all exceptions that are written in the planner."""
    for found in pkgutil.walk_packages(planner.__path__, "planner."):
        module = importlib.import_module(found.name)
        for value in vars(module).values():
            is_error = isinstance(value, type) and issubclass(value, Exception)
            if is_error and value.__module__ == module.__name__:
                yield value


def made(kind: type[Exception]) -> Exception:
    """Return an error of a class with all its fields."""
    if kind is GateRefused:
        return GateRefused(find_release("0.18.6"), "LendingLimit", "is locked to true")
    if kind is ReleaseCrash:  # a snapshot and a preemptor are too much for this test
        error = kind.__new__(kind)
        InputError.__init__(error, "ns/w", "Kueue 0.15.8 crashes here", "Kueue 0.18.0")
        return error
    if issubclass(kind, InputError):
        return kind("dump.json: items[3]", HOSTILE, "a number", "write one")
    return kind("first\nsecond")


@pytest.mark.parametrize("kind", sorted(set(every_class()), key=str))
def test_errors_come_out_of_a_pickle_as_they_went_in(kind: type[Exception]) -> None:
    """Audits run on processes, and Dask sends what went wrong from machine to machine."""
    error = made(kind)
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):  # noqa: S301 - ours
        assert type(again) is kind
        assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


def test_causes_and_notes_of_an_error_do_not_keep_it_from_a_pickle() -> None:
    error = InputError("here", "this")
    error.add_note("while reading")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - ours
    assert again.__notes__ == ["while reading"]


def test_what_is_quoted_may_be_longer_than_anybody_reads() -> None:
    """One end of the line says where, the other what; the fields stay whole."""
    error = InputError("dump.json", f"queue {'q' * 300_000} is not there", "one of a, b", "look")
    first, expected, hint = str(error).split("\n")
    assert len(first) == LONGEST_LINE
    assert first.startswith("dump.json: queue qqq")
    assert first.endswith("qqq is not there")
    assert (expected, hint) == ("  expected one of a, b", "  hint: look")
    assert len(error.found) > 300_000
