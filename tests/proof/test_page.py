"""The page on proof trees: its numbers are those of the quickstart, and its trees are accepted."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter

import planner
from planner.plan.kueue import Plan
from planner.plan.proof import CaseSplit, Step
from planner.proof.kueue.rules import KueueRules
from planner.proof.question import Question
from planner.state.kueue import State
from tests import kueue_state
from tests.cli.running import call
from tests.conftest import QUICKSTART, ROOT
from tests.page import blocks
from tests.proof.recheck import faults, recorded
from tests.told import told

PAGE = ROOT / "docs/explanation/proof.md"
FIT = "nvidia.com/gpu in flavor h100 at cohort/company"
ROW = re.compile(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\S+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def state() -> State:
    return kueue_state.read(QUICKSTART)


@pytest.fixture(scope="module")
def plan(state: State) -> Plan:
    return planner.solve(state)


@pytest.fixture
def questions(state: State, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> dict[str, Question]:
    """Give the question of each level that has a tree."""
    walked = recorded(monkeypatch)
    assert planner.check(state, plan).accepted
    assert plan.certificate is not None
    trees = [tree.claim for tree in plan.certificate.trees]
    asked = [question for question, _ in walked]
    return dict(zip(trees, asked, strict=True))


def test_table_of_classes(questions: dict[str, Question]) -> None:
    question = questions["lost_work+restart_cost"]
    rules, root = question.rules, question.root
    assert isinstance(rules, KueueRules)
    costs = question.table.separable["lost_work"] + question.table.separable["restart_cost"]
    fr = next(fr for fr, name in enumerate(rules.tree.frs) if FIT.startswith(str(name)))
    found = [
        (
            str(k),
            str(root.most[k]),
            str(rules.held(fr)[k]),
            str(costs[rules.classes.first[k]]),
            rules.first[k].key,
        )
        for k in root.most.nonzero()[0].tolist()
    ]
    assert ROW.findall(PAGE.read_text("utf-8")) == found


def test_rows_that_are_added_up(questions: dict[str, Question]) -> None:
    """15 GPUs are missing; at most one workload, at most two, and less than 14,280."""
    rows = {claim: question.rows(question.root) for claim, question in questions.items()}
    assert rows["workloads"][FIT].least == rows["lost_work+restart_cost"][FIT].least == 15
    assert rows["workloads"]["better"].least == -1
    assert set(rows["workloads"]["better"].amounts.tolist()) == {-1}
    assert rows["lost_work+restart_cost"]["workloads <= 2"].least == -2
    assert rows["lost_work+restart_cost"]["better"].least == -14279


def test_trees_of_the_page(questions: dict[str, Question]) -> None:
    shown = [block.content for block in blocks(PAGE, "json")]
    step: TypeAdapter[Step] = TypeAdapter(Step)
    of_count = [step.validate_json(shown[0])]
    questions["workloads"].check(of_count)
    assert list(faults(questions["workloads"], of_count)) == []
    by_hand = [step.validate_json(line) for line in shown[1].splitlines()[1:]]
    questions["lost_work+restart_cost"].check(by_hand)
    assert list(faults(questions["lost_work+restart_cost"], by_hand)) == []


def test_file_of_the_page_takes_the_place_of_a_tree(tmp_path: Path, plan: Plan) -> None:
    value = json.loads(plan.model_dump_json(by_alias=True))
    trees = value["certificate"]["trees"]
    value["certificate"]["trees"] = [
        tree for tree in trees if tree["claim"] != "lost_work+restart_cost"
    ]
    file, proof = tmp_path / "plan.json", tmp_path / "by-hand.jsonl"
    file.write_text(json.dumps(value), encoding="utf-8")
    (titled,) = (block for block in blocks(PAGE, "json") if block.title)
    proof.write_text(titled.content, encoding="utf-8")
    assert call("check", QUICKSTART, file).exit_code == 1
    checked = call("check", QUICKSTART, file, "--proof", proof)
    assert checked.exit_code == 0
    (said,) = (one for one in checked.stdout.splitlines() if " lost_work+restart_cost " in one)
    told(said)
    assert said.endswith('how="5 steps"')


def test_every_split_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    names = get_args(CaseSplit.model_fields["split"].annotation)
    assert [name for name in names if f'{{"split": "{name}"' not in page] == []
