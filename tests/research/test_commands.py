"""Commands of the wing where the core's own are asked the same.

And the core's own with rules that the wing adds: the same as with Kueue's, or refused by name.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.errors import UnsupportedError
from planner.research.simulate import simulate
from planner.scheduler import record, register, schedulers
from tests.cli import (
    test_audit,
    test_error,
    test_output,
    test_pages,
    test_requests,
    test_solve,
    test_users_fault,
)
from tests.cli.running import answer, call, cluster, refused, write
from tests.cli.test_users_fault import Asks
from tests.commands.check import test_question
from tests.commands.check.test_question import LATER, Question, solved
from tests.conftest import QUICKSTART, ROOT, YUNIKORN
from tests.objective.test_run_time import holder, notes_of
from tests.scheduler.toy import TOY, ToyState
from tests.test_garbage import left_behind
from tests.told import told

EACH = pytest.mark.parametrize("rules", ["kep83", "strict"])
QUESTIONS = [
    Question("rules", "small", ("--rules", "kep83"), "rules kep83, not kueue-classical"),
    Question(
        "rules",
        "small",
        ("--rules", "kep83:order=ByLongestRuntime,wait=60"),
        "rules kep83:order=ByLongestRuntime,wait=60, not kueue-classical",
    ),
    Question("rules", "small", ("--rules", "strict"), "rules strict, not kueue-classical"),
]
ASKED = pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.options[-1])


@ASKED
def test_an_answer_to_another_question_is_accepted_where_that_is_asked(
    tmp_path: Path, asked: Question
) -> None:
    test_question.test_an_answer_to_another_question_is_accepted_where_that_is_asked(
        tmp_path, asked
    )


@ASKED
def test_an_answer_to_the_state_is_none_to_another_question(
    tmp_path: Path, asked: Question
) -> None:
    test_question.test_an_answer_to_the_state_is_none_to_another_question(tmp_path, asked)


@ASKED
def test_a_plan_does_not_choose_its_question(tmp_path: Path, asked: Question) -> None:
    test_question.test_a_plan_does_not_choose_its_question(tmp_path, asked)


def test_both_schedulers_rules_at_once_are_refused(tmp_path: Path) -> None:
    state = write(tmp_path, cluster())
    plan = solved(tmp_path, state)
    said = refused("check", state, plan, "--rules", "kep83", "--laws", "code")
    told(said)
    assert "yunikorn" not in refused("check", state, plan, "--laws", "code").lower()


def test_every_format_says_what_a_plan_is_judged_by(tmp_path: Path) -> None:
    state = write(tmp_path, cluster())
    plan = solved(tmp_path, state, "--rules", "kep83", *LATER)
    for style in ("plain", "table", "markdown", "html"):
        said = call("check", state, plan, "--rules", "kep83", *LATER, "--format", style).stdout
        for text in ("kep83", LATER[1], "template", "assumed", "no-regret", "explanation"):
            assert text in said, (style, text)
    options = ("--rules", "kep83", *LATER, "--format", "json")
    (one,) = json.loads(call("check", state, plan, *options).stdout)["checks"]
    assert one["asked"] == {
        "objective": "no-regret",
        "rules": "kep83",
        "now": LATER[1],
        "assume": None,
        "stable": False,
        "release": "main",
        "known_by": "assumed",
        "requests": "template",
        "flavors": "own",
        "placement": None,
    }


@EACH
def test_there_is_no_way_on_to_an_explanation(tmp_path: Path, rules: str) -> None:
    test_solve.test_the_way_on_asks_the_same(tmp_path, ("--rules", rules), None)


def test_joint_plans_are_by_kueues_own_rules(dump: Path) -> None:
    joint = ("--joint", "--pending", "ns/pending", "--pending", "ns/other")
    told(refused("solve", dump, *joint, "--rules", "kep83"))


@EACH
@pytest.mark.parametrize("state", [YUNIKORN, QUICKSTART])
def test_laws_and_rules_are_for_different_schedulers(state: Path, rules: str) -> None:
    said = refused("solve", state, "--laws", "code", "--rules", rules)
    told(said)


@EACH
def test_they_mean_nothing_for_yunikorn(rules: str) -> None:
    told(refused("solve", YUNIKORN, "--rules", rules))


@EACH
def test_plans_are_no_circles(rules: str) -> None:
    state = planner.read(ROOT / "instances" / "quickstart")
    assert not left_behind(lambda: planner.solve(state, rules=rules))


def test_a_plan_says_what_is_not_known_of_a_run() -> None:
    undated = notes_of(holder("one", {"QuotaReserved": ("True", "", None)}), rules="strict")
    told(undated)


def test_a_plan_may_have_a_field_for_each_rule_set() -> None:
    """As plans had before a text named their rules."""
    state = planner.read(QUICKSTART)
    for rules, field in (
        ("kep83:order=ByLongestRuntime,wait=0", {"kep83": {"order": ["ByLongestRuntime"]}}),
        ("strict", {"kep83": None, "strict": True}),
    ):
        plan = planner.solve(state, rules=rules)
        said: dict[str, Any] = plan.model_dump(mode="json", by_alias=True)
        del said["rule_options"], said["greedy"]["rule_options"]
        said["greedy"] |= field
        assert type(plan).model_validate({**said, **field}) == plan


@EACH
def test_what_a_verb_refuses_names_no_option(rules: str) -> None:
    test_error.test_what_a_verb_refuses_names_no_option({"rules": rules})


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "x", "--until", "250ms"],
        ["simulate", "x", "--until", "100y"],
        ["simulate", "x", "--until", "-1"],
        ["simulate", "x", "--cycles", "1h"],
        ["generate", "small", "--seed", "x"],
        ["import", "philly", "x", "--checkpoints", "nan"],
    ],
)
def test_wrong_usage(arguments: list[str]) -> None:
    test_error.test_wrong_usage(arguments)


def test_no_state_is_made_where_the_last_one_cannot_be() -> None:
    last = str(2**63 - 1)
    done = call("generate", "small", "--seed", last, "--count", "2")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--seed" in done.stderr


SIMULATE = ("simulate", "--fail-on", "never")


def test_a_simulation_is_a_page_of_its_own(dump: Path) -> None:
    test_pages.test_every_result_is_a_page_of_its_own(SIMULATE, dump)
    test_pages.test_markdown_has_the_tables_of_the_page(SIMULATE, dump)
    test_pages.test_the_same_of_the_other_scheduler(SIMULATE)


def test_a_simulation_can_count_what_kueue_recorded(tmp_path: Path) -> None:
    source = test_requests.state(tmp_path, "4")
    for more, evictions in (((), 1), (("--requests", "recorded"), 2)):
        found = answer("simulation", "simulate", source, *more)
        assert found["totals"]["evictions"] == evictions


def test_state_is_not_written_over(tmp_path: Path) -> None:
    test_output.test_state_is_not_written_over(tmp_path, "simulate")


def test_a_file_beside_the_result_is_no_standard_output(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_audit.test_a_file_beside_the_result_is_no_standard_output(
        ("simulate", "--timeline"), dump, tmp_path, monkeypatch
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--eviction", "5"), "simulate: YuniKorn's victims vanish at once\n  hint: leave out"),
        (
            ("--laws", "code"),
            'error: --laws: "code" means nothing where YuniKorn itself decides\n  hint: --decider',
        ),
    ],
)
def test_options_of_kueue_name_the_nearest_that_there_is(
    options: tuple[str, ...], told: str
) -> None:
    assert told in refused("simulate", YUNIKORN, *options)


OF_A_PATH = pytest.mark.parametrize(
    "asks",
    [lambda _, path: ("generate", "small", "-o", path), lambda _, path: ("import", "philly", path)],
    ids=["generate", "import"],
)


@OF_A_PATH
def test_a_name_that_is_too_long(dump: Path, tmp_path: Path, asks: Asks) -> None:
    test_users_fault.test_a_name_that_is_too_long(dump, tmp_path, asks)


@OF_A_PATH
def test_a_folder_without_search_permission(asks: Asks) -> None:
    test_users_fault.test_a_folder_without_search_permission(asks)


def test_a_scheduler_without_a_simulation() -> None:
    state: Any = ToyState(6, (), ())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record, "_REGISTERED", {one.id: one for one in schedulers()})
        register(TOY)
        with pytest.raises(UnsupportedError) as caught:
            simulate(state)
        told(caught.value)
