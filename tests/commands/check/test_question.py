"""A plan is judged by the question of its state, or of who names another: never by its own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import planner
from planner.plan.asked import Asked
from planner.state.kueue import of_kueue
from tests.cli.running import another_pending, call, cluster, refused, write
from tests.cluster import dump_of, preempt
from tests.commands.check.test_forged import TOPOLOGY, YUNIKORN
from tests.solver.test_stability import third_party
from tests.told import told
from tests.yunikorn.building import allocation, two_queues


class Question(NamedTuple):
    """A part of the question: a state, options that ask another one, and what is said of that."""

    part: str
    state: str
    options: Sequence[str]
    said: str


LATER = ("--now", "2026-12-24T18:00:00Z")
QUESTIONS = [
    Question("stable", "third", ("--stable",), "stable yes, not no"),
    Question("now", "small", LATER, f"now {LATER[1]}, not "),
    Question("release", "small", ("--kueue-release", "0.18.6"), "release 0.18.6, not main"),
    Question("requests", "small", ("--requests", "recorded"), "requests recorded, not template"),
    Question("assume", "conditional", ("--assume", "quota"), "assume quota, not none"),
    Question("rules", "yunikorn", ("--laws", "code"), "rules yunikorn-code, not yunikorn-design"),
    Question("now", "yunikorn", LATER, f"now {LATER[1]}, not "),
]
EACH = pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: f"{asked.state}-{asked.part}")


def state_file(folder: Path, name: str) -> Path:
    """Return the file of a state by the name that questions give it."""
    if name == "yunikorn":
        return YUNIKORN
    if name == "conditional":
        pod = {"namespace": "a", "name": "b", "uid": "ask", "nodeSelector": {"zone": "x"}}
        held = two_queues(allocation("held", {"gpu": 4}))
        value = {**held, "rmDiagnostics": {"cache": {"pods": {"p": pod}}}}
    else:
        value = cluster() if name == "small" else dump_of(*third_party())
    return write(folder, value, f"{name}.json")


def solved(folder: Path, state: Path, *options: str) -> Path:
    """Return the file of the plan that is made with some options."""
    path = folder / "plan.json"
    assert call("solve", state, "-o", path, *options).exit_code in {0, 3, 4, 6}
    return path


def verdicts(state: Path, plan: Path, *options: str) -> dict[str, str]:
    """Return what does not hold, by its law."""
    printed = json.loads(call("check", state, plan, "--format", "json", *options).stdout)
    (one,) = printed["checks"]
    return {each["law"]: each["detail"] for each in one["verdicts"] if not each["holds"]}


@EACH
def test_an_answer_to_another_question_is_accepted_where_that_is_asked(
    tmp_path: Path, asked: Question
) -> None:
    state = state_file(tmp_path, asked.state)
    plan = solved(tmp_path, state, *asked.options)
    named = " ".join(asked.options)
    found = verdicts(state, plan)
    assert found.keys() == {"CT-11"}
    told(found["CT-11"])
    assert f"({named} accepts it)" in found["CT-11"]
    assert not verdicts(state, plan, *asked.options)


@EACH
def test_an_answer_to_the_state_is_none_to_another_question(
    tmp_path: Path, asked: Question
) -> None:
    """Except where the question is only narrower, or the answer claims less."""
    state = state_file(tmp_path, asked.state)
    found = verdicts(state, solved(tmp_path, state), *asked.options)
    if asked.part == "assume":
        assert not found
    else:
        assert found.keys() == {"CT-11"}


@EACH
def test_a_plan_does_not_choose_its_question(tmp_path: Path, asked: Question) -> None:
    """Whatever it says it answers, and whatever else it leaves out."""
    state = state_file(tmp_path, asked.state)
    mine, theirs = (
        json.loads(solved(tmp_path, state, *options).read_text("utf-8"))
        for options in ((), asked.options)
    )
    said = {name: theirs[name] for name in SAID if name in theirs}
    if asked.part == "stable":  # the answer there says nothing: it is best of all
        said |= {"stable": True}
    for greedy in (mine["greedy"] and mine["greedy"] | said, None):
        forged = mine | said | {"greedy": greedy}
        if forged["assume"]:
            forged |= {"status": forged["proved"] or forged["status"], "proved": None}
        found = verdicts(state, write(tmp_path, forged, "forged.json"))
        assert found.keys() == {"CT-11"}
        assert asked.said in found["CT-11"]


SAID = (*("rules", "rule_options", "stable", "now", "kueue", "requests", "placement", "assume"),)
"""Where a plan says which question it answers."""


def test_every_part_of_the_question_is_asked_about() -> None:
    """The objective is what the plan claims; what no option of its own names is below."""
    parts = {asked.part for asked in QUESTIONS}
    below = {"objective", "known_by", "flavors", "placement"}
    assert parts == Asked.model_fields.keys() - below


def test_a_plan_does_not_choose_whether_pods_need_places(tmp_path: Path) -> None:
    plan = json.loads(solved(tmp_path, TOPOLOGY).read_text("utf-8"))
    assert plan["placement"] == "kueue"
    forged = plan | {"placement": None, "places": [], "nodes": [], "greedy": None}
    assert verdicts(TOPOLOGY, write(tmp_path, forged, "forged.json")) == {
        "CT-11": "answers another question: placement none, not kueue (no option accepts it)"
    }


def test_how_the_release_is_known_is_a_fact(tmp_path: Path) -> None:
    state = write(tmp_path, cluster())
    plan = json.loads(solved(tmp_path, state).read_text("utf-8"))
    assert plan["kueue"] == {"release": "main", "known_by": "assumed"}
    plan["kueue"]["known_by"] = plan["greedy"]["kueue"]["known_by"] = "image"
    found = verdicts(state, write(tmp_path, plan, "forged.json"))
    assert found == {
        "CT-11": "answers another question: the release is known by image, not assumed"
    }


def test_flavors_are_kueues_or_given(tmp_path: Path) -> None:
    """The file is read as `planner solve` reads it, with or without modes."""
    state = write(tmp_path, cluster())
    flavors = preempt(of_kueue(planner.read(state)))
    bare = {
        pods: {name: {"flavor": one["flavor"]} for name, one in some.items()}
        for pods, some in flavors.items()
    }
    for given in (flavors, bare):
        file = write(tmp_path, given, "given.json")
        plan = solved(tmp_path, state, "--assignment", str(file))
        assert not verdicts(state, plan)  # they are what Kueue assigns, too
        assert not verdicts(state, plan, "--assignment", str(file))
    for some in flavors.values():
        for one in some.values():
            one["mode"] = "Fit"
    file = write(tmp_path, flavors, "false.json")
    for command in (("solve", state), ("check", state, plan)):
        said = refused(*command, "--assignment", file)
        told(said)


@pytest.mark.parametrize(
    ("name", "value"), [("assignment", {}), ("stable", True), ("rules", "classical")]
)
def test_what_means_nothing_to_yunikorn(name: str, value: object) -> None:
    state, options = planner.read(YUNIKORN), dict[str, Any]({name: value})
    with pytest.raises(planner.PlannerError, match=name):
        planner.check(state, planner.solve(state), **options)


def test_a_list_has_a_plan_for_everybody_who_waits(tmp_path: Path) -> None:
    state = write(tmp_path, cluster(another_pending("second")))
    path = tmp_path / "plans.json"
    assert call("solve", state, "--all", "--format", "json", "-o", path).exit_code == 0
    value = json.loads(path.read_text("utf-8"))
    assert call("check", state, path).exit_code == 0
    for plans, said in (
        (value["plans"][:1], "ns/second is pending, and the list has no plan for it"),
        ([value["plans"][0]] * 2, "ns/second is pending, and the list has no plan for it"),
        (value["plans"][1:], "ns/pending is pending, and the list has no plan for it"),
    ):
        result = call("check", state, write(tmp_path, {**value, "plans": plans}, "fewer.json"))
        assert result.exit_code == 1
        assert said in result.stderr
        # By itself each is an answer to the question about one.
        assert call("check", state, write(tmp_path, plans[0], "one.json")).exit_code == 0
    empty = write(tmp_path, {**value, "plans": []}, "none.json")
    told(refused("check", state, empty))
