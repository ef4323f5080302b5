"""Forged plans that were accepted once: each lies of its question, or says more than it shows."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import planner
from planner.plan.kueue import Plan
from tests.cli.running import call, write
from tests.commands.check.test_forged import INSTANCES, as_json, quickstart, refused
from tests.names import in_names
from tests.proof.mutation import Json
from tests.reports import reports
from tests.told import told

HERE = Path(__file__).parent / "reported"
QUICKSTART = INSTANCES / "quickstart" / "cluster.json"
NAMED = {"release-silent": ("--now", "2026-11-01T12:00:00Z", "--kueue-release", "0.16.9")}
"""What makes the question of a plan that tells the truth about another one."""
STILL_FALSE = {
    "forged-modes-infeasible": (
        ("--now", "2026-03-08T21:06:00Z"),
        "nvidia.com/gpu h100 Fit), not (",
    )
}
"""What is named in vain: the plan lies about the state, too."""
NO_PLAN = {"empty-list", "forged-placement-0262"}
"""Files that hold no plan: a list without any, and one whose pods are placed by nobody known."""
OF_A_WING = {"forged-commands", "kep83-silent-infeasible"}
"""Plans with commands to carry them out, and by rules that a wing adds: its tests have them."""


def folders() -> Iterator[Path]:
    """Yield the reports of plans: all where the folder of reports is, else the copies."""
    root = reports()
    for each in sorted((root / "check" if root else HERE).iterdir()):
        if (each / "plan.json").is_file() and each.name not in OF_A_WING:
            yield each


def plan_of(folder: Path, tmp_path: Path) -> Path:
    """Return the plan of a report, with its terms in names.

    Plans had a field for each rule set, also of others than their own; a wing reads its own.
    """
    text = in_names((folder / "plan.json").read_text("utf-8"))
    path = tmp_path / "plan.json"
    path.write_text(re.sub(r'"(?:kep83|strict)": (?:null|false),? ?', "", text), "utf-8")
    return path


@pytest.mark.parametrize("folder", [*folders()], ids=lambda folder: folder.name)
def test_no_reported_plan_is_accepted(folder: Path, tmp_path: Path) -> None:
    state, plan = folder / "state.json", plan_of(folder, tmp_path)
    result = call("check", state, plan)
    assert result.exit_code == (2 if folder.name in NO_PLAN else 1), result.stdout
    for named in (NAMED.get(folder.name), STILL_FALSE.get(folder.name, (None,))[0]):
        if named is not None:
            accepted = call("check", state, plan, *named).exit_code == 0
            assert accepted == (folder.name in NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_an_answer_to_another_question_is_accepted_where_that_is_asked(
    name: str, tmp_path: Path
) -> None:
    accepted_where_asked(HERE / name, NAMED[name], tmp_path)


def accepted_where_asked(folder: Path, named: Sequence[str], tmp_path: Path) -> None:
    """Check a plan to which the answer names the options of its own question."""
    state, plan = folder / "state.json", plan_of(folder, tmp_path)
    refusal = call("check", state, plan)
    assert refusal.exit_code == 1
    assert "answers another question: " in refusal.stdout
    for option, value in zip(named[::2], named[1::2], strict=True):
        assert f"({option} {value} accepts it)" in refusal.stdout
    assert call("check", state, plan, *named).exit_code == 0


@pytest.mark.parametrize("name", STILL_FALSE)
def test_no_option_makes_a_lie_about_the_state_true(name: str) -> None:
    state, plan = HERE / name / "state.json", HERE / name / "plan.json"
    options, said = STILL_FALSE[name]
    result = call("check", state, plan, *options)
    assert result.exit_code == 1
    assert said in result.stdout


@pytest.mark.parametrize(("placement", "code"), [("any", 2), ("kueue", 1)])
def test_a_plan_sees_to_places_only_where_its_question_does(
    tmp_path: Path, placement: str, code: int
) -> None:
    """Else what is not modelled of places would be left out without a word."""
    folder = HERE / "forged-placement-0262"
    plan = json.loads((folder / "plan.json").read_text("utf-8")) | {"placement": placement}
    forged = tmp_path / "plan.json"
    forged.write_text(json.dumps(plan), "utf-8")
    result = call("check", folder / "state.json", forged, "--now", "2026-05-04T12:00:00Z")
    assert result.exit_code == code
    told(result.stdout + result.stderr)


def solved() -> Json:
    """Return the plan of the quickstart, as it is printed."""
    return as_json(planner.solve(quickstart()))


@pytest.mark.parametrize("status", ["optimal", "infeasible"])
def test_modes_are_facts_of_the_state(status: str) -> None:
    """CPU is not short and GPUs are: who swaps the two makes others candidates."""
    plan = solved()
    flavors = plan["assignment"]["podSets"][0]["flavors"]
    flavors["cpu"]["mode"], flavors["nvidia.com/gpu"]["mode"] = "Preempt", "Fit"
    plan["greedy"]["assignment"] = plan["assignment"]
    if status == "infeasible":
        plan |= {"status": status, "victims": [], "certificate": None}
    found = planner.check(quickstart(), Plan.model_validate(plan))
    assert refused(found) == {"CT-11"}
    told(found.verdicts[0].detail)


def test_what_kueue_said_is_compared_with_the_state_and_not_with_the_plan(tmp_path: Path) -> None:
    """15 GPUs are short, and Kueue says 3: a plan without its demand leaves that out no less."""
    dump = json.loads(QUICKSTART.read_text("utf-8"))
    pending = next(one for one in dump["items"] if one["metadata"]["name"].startswith("jobset-tr"))
    said = (
        "couldn't assign flavors to pod set workers: insufficient unused quota for nvidia.com/gpu "
        "in flavor h100, 3 more needed"
    )
    pending.setdefault("status", {})["conditions"] = [
        {
            "type": "QuotaReserved",
            "status": "False",
            "reason": "Pending",
            "message": said,
            "lastTransitionTime": "2026-11-12T09:42:10Z",
        }
    ]
    state = planner.read(write(tmp_path, dump, "state.json"))
    plan = planner.solve(state)
    assert (plan.status, planner.check(state, plan).accepted) == ("conditional", True)
    claimed = {"status": "optimal", "proved": None, "coverage": ()}
    for left_out in ({}, {"demand": ()}):
        forged = plan.model_copy(update=claimed | left_out)
        assert refused(planner.check(state, forged)) == {"CT-09"}


def test_the_planners_answer_is_not_called_kueues() -> None:
    plan = solved() | {"algorithm": "kueue", "greedy": None}
    found = planner.check(quickstart(), Plan.model_validate(plan))
    assert refused(found) == {"CT-10"}
    told(found.verdicts[-1].detail)


def test_words_for_the_reader_are_named_as_unchecked() -> None:
    plan = solved() | {"explanation": "seven victims are the best", "notes": ["all is well"]}
    found = planner.check(quickstart(), Plan.model_validate(plan))
    assert found.accepted
    assert {"explanation", "notes", "more_than_greedy"} <= {*found.unchecked}


def test_no_file_is_opened_that_a_plan_names(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('levels = ["workloads"]\n', "utf-8")
    plan = solved() | {"objective": str(mine)}
    result = call("check", QUICKSTART, write(tmp_path, plan, "plan.json"))
    assert result.exit_code == 2
    told(result.stderr)
