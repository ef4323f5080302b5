"""One path for all errors: a message on standard error, an exit code, never a traceback."""

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import planner
from planner import api, errors
from planner.cli import exit_code as codes
from planner.errors import InputError, InternalError, SchemaError, UnsupportedError
from tests.cli.running import another_pending, call, cluster, refused, write
from tests.conftest import YUNIKORN
from tests.report.factory import make_plan
from tests.told import told


@pytest.mark.parametrize(
    "arguments",
    [
        ["slove"],
        ["frobnicate"],
        ["solve"],
        ["solve", "x", "--frmat", "json"],
        ["solve", "x", "--format", "xml"],
        ["solve", "x", "--objective", "best"],
        ["solve", "x", "--objective", "min-cuont"],
        ["schema", "palns"],
        ["solve", "x", "--time-limit", "-1"],
        ["solve", "x", "--time-limit", "nan"],
        ["solve", "x", "--time-limit", "soon"],
        ["solve", "x", "--now", "yesterday"],
        ["solve", "x", "--max-size", "-1"],
        ["solve", "x", "--max-size", "big"],
        ["solve", "x", "--all", "--pending", "a/b"],
        ["solve", "x", "--all", "--assignment", "a"],
        ["replay"],
        ["solve", "x", "--time-limit", "5 parsecs"],
        ["solve", "x", "--time-limit", "-1s"],
        ["explain", "x", "--victim", "a", "--victim", "b"],
        ["solve", "x", "-o", "a.json", "--output=b.json"],
        ["solve", "x", "--certify", "--no-certify"],
        ["solve", "x", "--pending"],
        ["replay", "x", "--show", "-1"],
        ["schema", "nonesuch"],
    ],
)
def test_wrong_usage(arguments: list[str]) -> None:
    said = refused(*arguments)
    assert said.startswith("error: ")
    told(said.partition(" is not one of input, ")[0])  # the wings have schemas, too
    assert said.rstrip().endswith("--help")


def raising(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def solve(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(api, "solve", solve)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("a.json: spec", "is wrong", "right", "mend it"), 2),
        (UnsupportedError("Configuration", "is too new"), 2),
        (InternalError("the plan failed KQ-01"), 70),
    ],
)
def test_known_errors(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    raising(error, monkeypatch)
    result = call("solve", write(tmp_path, cluster()))
    assert result.exit_code == code
    assert result.stdout == ""
    assert f"error: {error}\n" in result.stderr
    assert ("please report it" in result.stderr) == (code == 70)
    assert "Traceback" not in result.stderr


def test_a_bug_among_several_plans(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    raising(InternalError("the plan failed KQ-01"), monkeypatch)
    result = call("solve", write(tmp_path, cluster()), "--all", "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)["plans"]) == (70, [])
    told(result.stderr)


def test_a_bug_is_one_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    raising(KeyError("cq-\x1b[2J"), monkeypatch)
    result = call("solve", write(tmp_path, cluster()))
    assert result.exit_code == 70
    assert result.stdout == ""
    assert result.stderr.splitlines()[0].startswith("error: KeyError: ")
    told(result.stderr)
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("how", ["option", "variable"])
def test_debug_shows_the_traceback(
    how: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    raising(KeyError("cq"), monkeypatch)
    dump = write(tmp_path, cluster())
    if how == "option":
        result = call("--debug", "solve", dump)
    else:
        result = call("solve", dump, env={"PLANNER_DEBUG": "1"})
    assert result.exit_code == 70
    assert "Traceback" in result.stderr


@pytest.mark.parametrize("of_a_library", [False, True])
def test_interruption(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, of_a_library: bool
) -> None:
    """A library of C++ that is being loaded when Ctrl-C comes says that it cannot be."""
    error: BaseException = KeyboardInterrupt()
    if of_a_library:
        error = ImportError("initialization failed")
        error.__cause__ = KeyboardInterrupt()
    raising(error, monkeypatch)  # type: ignore[arg-type]
    result = call("solve", write(tmp_path, cluster()))
    assert result.exit_code == 130
    assert "error: interrupted" in result.stderr


def test_names_in_messages_are_harmless(tmp_path: Path) -> None:
    dump = cluster()
    dump["items"][-1]["metadata"]["name"] = "evil\x1b[2J\u202e"
    dump["items"][-1]["spec"]["queueName"] = "nowhere"
    assert refused("solve", write(tmp_path, dump)).replace("\n", "").isprintable()


def test_codes_never_change() -> None:
    assert sorted(codes.MEANINGS) == [0, 1, 2, 3, 4, 5, 6, 7, 70]


@pytest.mark.parametrize(
    ("status", "code"), [("optimal", 0), ("infeasible", 3), ("feasible", 4), ("unknown", 5)]
)
def test_every_status_has_its_code(status: str, code: int) -> None:
    assert codes.exit_code(make_plan(status=status)) == code


def test_errors_have_codes_of_the_contract() -> None:
    assert errors.InputError.exit_code == codes.BAD_INPUT
    assert errors.InternalError.exit_code == codes.OUR_BUG


def test_worst_is_in_the_documented_order() -> None:
    assert codes.worst([]) == 0
    for better, worse in combinations((0, 1, 3, 6, 4, 5, 2, 70), 2):
        assert codes.worst([worse, better, worse]) == worse
    assert sorted(codes.FROM_BEST_TO_WORST) == sorted(codes.MEANINGS)


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (("--max-size", "9"), {"max_bytes": 9}),
        (("--now", "2300-01-01T00:00:00Z"), {"now": "2300-01-01T00:00:00Z"}),
    ],
)
def test_the_library_names_parameters_and_the_command_line_options(
    words: Sequence[str], read: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as caught:
        planner.read(YUNIKORN, **read)
    told(str(caught.value))
    assert "--" not in str(caught.value)
    told(refused("solve", YUNIKORN, *words))


def test_hints_of_verbs_name_options_too(tmp_path: Path) -> None:
    state = tmp_path / "two.json"
    state.write_text(json.dumps(cluster(another_pending("other"))))
    with pytest.raises(InputError) as caught:
        planner.solve(planner.read(state))
    told(str(caught.value))
    told(refused("solve", state))
    told(refused("explain", state))


@pytest.mark.parametrize("asked", [{"rules": "classical"}, {"objective": "pareto:pods,queues"}])
def test_what_a_verb_refuses_names_no_option(asked: dict[str, Any]) -> None:
    state = planner.read(YUNIKORN)
    with pytest.raises(InputError) as caught:
        planner.solve(state, state.pending[0], **asked)
    assert "--" not in str(caught.value)


def test_the_scheduler_that_is_named_is_that_of_the_state() -> None:
    assert planner.read(YUNIKORN, scheduler="yunikorn").scheduler == "yunikorn"
    with pytest.raises(UnsupportedError) as caught:
        planner.read(YUNIKORN, scheduler="kueue")
    told(caught.value)
    with pytest.raises(SchemaError) as unknown:
        planner.read(YUNIKORN, scheduler="slurm")
    told(unknown.value)
