"""Commands of the wing where the core's own are asked the same."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

import planner
from planner.cli.output import LINE
from planner.errors import InputError
from planner.operations.lint import lint
from planner.operations.risk import Question as Asked
from planner.operations.risk import risk
from planner.operations.risk.measure import Shapes
from planner.research.simulate import Question, Script, simulate
from planner.verb import KINDS, LISTS
from tests.cli import test_error, test_output, test_pages, test_progress, test_requests
from tests.cli.running import call
from tests.commands.explain import test_notes
from tests.conftest import QUICKSTART
from tests.coverage.test_kueue import with_topology
from tests.scheduler.test_registry import VERBS_OF_ALL, parameters

Verb = Callable[..., object]

PAGES = pytest.mark.parametrize("words", [("risk",), ("lint", "--fail-on", "never")], ids=" ".join)


@pytest.mark.parametrize("arguments", [["serve", "--seconds", "2h"], ["serve", "--seconds", "nan"]])
def test_wrong_usage(arguments: list[str]) -> None:
    test_error.test_wrong_usage(arguments)


@PAGES
def test_every_result_is_a_page_of_its_own(words: tuple[str, ...], dump: Path) -> None:
    test_pages.test_every_result_is_a_page_of_its_own(words, dump)


@pytest.mark.parametrize("words", [("risk", "--limit", "2"), ("lint", "--fail-on", "never")])
def test_the_same_of_the_other_scheduler(words: tuple[str, ...]) -> None:
    test_pages.test_the_same_of_the_other_scheduler(words)


@PAGES
def test_markdown_has_the_tables_of_the_page(words: tuple[str, ...], dump: Path) -> None:
    test_pages.test_markdown_has_the_tables_of_the_page(words, dump)


def test_risk_can_count_what_kueue_recorded(tmp_path: Path) -> None:
    source = test_requests.state(tmp_path, "4")
    for more, victims in (((), 1), (("--requests", "recorded"), 2)):
        result = call("risk", source, *more, "--format", "json")
        found = json.loads(result.stdout)["preemptors"]
        assert max(len(one["optimum"]) for one in found) == victims


def test_state_is_not_written_over(tmp_path: Path) -> None:
    test_output.test_state_is_not_written_over(tmp_path, "lint")


def test_standard_input_is_one_file() -> None:
    test_output.test_standard_input_is_one_file(("risk", "-", "--workload", "-"))


def test_pages_and_screens_have_the_notes(tmp_path: Path) -> None:
    test_notes.test_pages_and_screens_have_the_notes(("risk", "--shapes", "pending"), tmp_path)


def test_lint_says_what_it_is_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(LINE, "clock", map(float, count()).__next__)  # a second with every look
    stages = [f"reading {QUICKSTART}", "rule 1 of 28"]
    words = ("lint", str(QUICKSTART))
    test_progress.test_commands_say_what_they_are_at(monkeypatch, words, stages, capsys)


def test_answers_about_a_whole_state_say_what_is_not_modelled() -> None:
    state = with_topology(flavor=True)
    for answer in (lint(state), simulate(state), risk(state)):
        assert [one.feature for one in answer.coverage] == ["topology"]
    assert not risk(state).is_proved
    assert lint(with_topology()).coverage == ()


@pytest.mark.parametrize(
    ("verb", "given", "found"),
    [
        (
            risk,
            {"asked": Asked(pending=cast("list[str]", [5]))},
            "pending: list cannot be used\n  expected a list of workloads",
        ),
        (
            risk,
            {"asked": Asked(shapes=cast("Shapes", "some"))},
            "shapes: 'some' cannot be used\n  expected pending or run",
        ),
        (risk, {"progress": 5}, "progress: int cannot be used\n  expected a function"),
        (simulate, {"report": None}, "report: NoneType cannot be used\n  expected a function"),
        (
            simulate,
            {"asked": Question(script=cast("Script", "a.toml"))},
            "script: str cannot be used\n  expected what planner",
        ),
        (
            simulate,
            {"asked": Question(cycles=cast("int", "9"))},
            "cycles: str cannot be used\n  expected a whole number",
        ),
    ],
)
def test_an_argument_of_a_wrong_kind(verb: Verb, given: dict[str, Any], found: str) -> None:
    with pytest.raises(InputError, match=f"^{found}"):
        verb(planner.read(QUICKSTART), **given)


def test_every_parameter_is_of_a_known_kind() -> None:
    """Or the verb says itself what is wrong with it; and no kind is one that nobody has."""
    verbs: list[Any] = [simulate, lint, risk]
    ours = [*parameters(Question, Asked, *(verb.__wrapped__ for verb in verbs))]
    assert {name for name, kind in ours if kind is None} == {"asked", "baseline", "script"}
    used = [kind for _, kind in (*ours, *parameters(*VERBS_OF_ALL))]
    assert all(kind in used for kind in (*KINDS.values(), *LISTS.values()))
