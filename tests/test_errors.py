"""What the text of an error is: one message that no terminal takes for something else."""

import json
from pathlib import Path

import pytest

import planner
from planner.errors import LONGEST_LINE, InputError, InternalError, PlannerError
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


def test_what_is_quoted_may_be_longer_than_anybody_reads() -> None:
    """One end of the line says where, the other what; the fields stay whole."""
    error = InputError("dump.json", f"queue {'q' * 300_000} is not there", "one of a, b", "look")
    first, expected, hint = str(error).split("\n")
    assert len(first) == LONGEST_LINE
    assert first.startswith("dump.json: queue qqq")
    assert first.endswith("qqq is not there")
    assert (expected, hint) == ("  expected one of a, b", "  hint: look")
    assert len(error.found) > 300_000
