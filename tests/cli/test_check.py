"""``planner check``: what it accepts, refuses and cannot use, its formats, and what it loads."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import planner
from planner.cli import solve as proof
from planner.plan.kueue import Plan
from tests.cli.running import another_pending, answer, call, cluster, environment, refused, write
from tests.cluster import dump_of, pending, queue, running
from tests.conftest import ROOT, YUNIKORN
from tests.recorded import put
from tests.solver.test_stability import third_party
from tests.told import told
from tests.yunikorn.building import NOW, SECOND, allocation, two_queues


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return write(tmp_path, cluster())


@pytest.fixture
def plan(tmp_path: Path, state: Path) -> Path:
    return solved(tmp_path, state)


def solved(folder: Path, state: Path, *options: str | Path, name: str = "plan.json") -> Path:
    """Return the file of a plan as the command line writes it."""
    path = folder / name
    result = call("solve", state, "--format", "json", "-o", path, *options)
    assert result.exit_code in {0, 3, 4}, result.stderr
    return path


def changed(path: Path, *where: str | int, to: object) -> Path:
    """Write a plan with another value in one place."""
    value = json.loads(path.read_text("utf-8"))
    put(value, where, to)
    return write(path.parent, value, "changed.json")


def test_a_plan_is_accepted(state: Path, plan: Path) -> None:
    result = call("check", state, plan)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "preemptor        ns/pending"
    assert 'claim            workloads value=1 certified=yes title="' in result.stdout
    assert "claim            ties certified=yes" in result.stdout
    assert lines[-1].startswith("accepted         yes claims=9/9 laws=")


def test_table_and_markdown_end_in_the_answer(state: Path, plan: Path) -> None:
    table = call("check", state, plan, "--format", "table").stdout.splitlines()
    assert table[-1].startswith(" ACCEPTED: 9 of 9 claims certified, ")
    page = call("check", state, plan, "--format", "markdown").stdout
    assert "**Accepted**: 9 of 9 claims certified" in page
    assert "| `workloads` | workloads evicted | 1 | yes |" in page


@pytest.mark.parametrize(
    ("where", "to", "said"),
    [
        (("certificate", "levels", 2, "value"), 2, "CT-01"),
        (("certificate", "caps", 0, "most"), 3, "CT-06"),
        (("victims",), [], "KQ-01"),
        (("certificate", "trees"), [], "there is no tree"),
    ],
)
def test_what_does_not_hold_is_said(
    state: Path, plan: Path, where: tuple[str | int, ...], to: object, said: str
) -> None:
    forged = changed(plan, *where, to=to)
    for style in ("table", "markdown", "plain"):
        result = call("check", state, forged, "--format", style)
        assert result.exit_code == 1
        assert said in result.stdout
    assert result.stdout.splitlines()[-1].startswith("accepted         no ")


FIRST = "last_resort highest_priority"
LAST = "lost_work+restart_cost excess_freed queues victims ties"
CAPS = "cap-of-highest_priority cap-of-lost_work+restart_cost"


@pytest.mark.parametrize(
    ("options", "least", "certified"),
    [
        (("--stability",), 1, f"{FIRST} workloads priority_weight {LAST}"),
        # The other plans, which keep the cap on `highest_priority`, are not stable: trees ask the
        # scheduler.
        (("--stable",), 0, f"unstable {FIRST} workloads priority_weight {LAST} {CAPS}"),
        (
            ("--objective", "stable"),
            0,
            f"unstable {FIRST} workloads priority_weight past_preemptions {LAST}",
        ),
    ],
)
def test_victims_that_would_preempt_again(
    tmp_path: Path, options: tuple[str, ...], least: int, certified: str
) -> None:
    """Their number is replayed: a wrong one is refused, whether in terms, levels or Kueue's own."""
    state = write(tmp_path, dump_of(*third_party()), "third.json")
    plan = solved(tmp_path, state, *options)
    value = json.loads(plan.read_text("utf-8"))
    assert value["terms"]["unstable"] == least
    asked = {"--stable"}.intersection(options)
    printed = call("check", state, plan, "--format", "json", *asked).stdout
    checked = json.loads(printed)["checks"][0]
    assert all(verdict["holds"] for verdict in checked["verdicts"])
    claims = [one["claim"].replace(" ", "-") for one in checked["claims"] if one["certified"]]
    assert claims == certified.split()
    assert checked["accepted"]
    assert not checked["notes"]
    forged: list[tuple[tuple[str | int, ...], str]] = [
        (("terms", "unstable"), "CT-01"),
        (("greedy", "terms", "unstable"), "CT-08"),
    ]
    if value["certificate"]["levels"][0]["term"] == "unstable":
        forged.append((("certificate", "levels", 0, "value"), "CT-01"))
    for where, law in forged:
        said = call("check", state, changed(plan, *where, to=2), *asked).stdout
        assert re.search(rf"{law} holds=no \"\w+ unstable is [01], not 2", said)


@pytest.mark.parametrize(
    ("words", "claims"),
    [
        ("--stability", "9"),
        ("--stable", "9"),
        ("--stable --objective=stable", "[0-9]+"),
        ("--stable --objective=fewest-tenants", "[0-9]+"),
    ],
)
def test_a_stable_plan_is_accepted(tmp_path: Path, state: Path, words: str, claims: str) -> None:
    """By the fewest tenants the best plan is not stable: it stands in the way of the trees."""
    plan = solved(tmp_path, state, *words.split())
    assert json.loads(plan.read_text("utf-8"))["terms"]["unstable"] == 0
    result = call("check", state, plan)
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.search(rf"accepted         yes claims=({claims})/\1 laws=", result.stdout)


def test_too_many_victims_to_ask(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked, and a level of it is not certified; all else is judged."""
    monkeypatch.setattr("planner.commands.check.kueue.MOST_REPLAYED", 1)
    result = call("check", state, solved(tmp_path, state, "--stability"))
    assert result.exit_code == 0
    assert "who would preempt again was not recomputed" in result.stdout
    result = call("check", state, solved(tmp_path, state, "--objective", "stable"))
    assert result.exit_code == 1
    assert "claim            unstable value=0 certified=no" in result.stdout
    assert re.search(r"claim +workloads value=\d+ certified=yes", result.stdout)


def test_a_clock_between_two_microseconds(tmp_path: Path) -> None:
    """A plan tells its time to the microsecond; the ages are those of the state's own clock."""
    made = NOW - 100 * SECOND + 500
    held = allocation("x", {"gpu": 1}, requestTime=made, allocationTime=made)
    state = write(tmp_path, {**two_queues(held, size=1), "now": NOW + 500}, "between.json")
    plan = solved(tmp_path, state)
    assert call("check", state, plan).exit_code == 0
    value = json.loads(plan.read_text("utf-8"))
    again = planner.solve(planner.read(state), now=value["now"])
    assert again.victims[0].age_s == value["victims"][0]["age_s"] == 100


def test_another_state(tmp_path: Path, plan: Path) -> None:
    """There is less to free: the plan is legal still, and its proofs are of another question."""
    other = write(tmp_path, cluster(asks=1), "other.json")
    assert call("check", other, plan).exit_code == 1


def test_trees_apart(tmp_path: Path, state: Path) -> None:
    trees = tmp_path / "trees.jsonl"
    plan = solved(tmp_path, state, "--proof", trees)
    value = json.loads(plan.read_text("utf-8"))["certificate"]
    assert value["trees"] == []
    lines = [json.loads(line) for line in trees.read_text("utf-8").splitlines()]
    heads = [line for line in lines if "claim" in line]
    assert [head["preemptor"] for head in heads] == ["ns/pending"] * len(heads)
    assert sum(head["steps"] for head in heads) == value["trees_omitted"] == len(lines) - len(heads)
    alone = call("check", state, plan)
    assert alone.exit_code == 1
    assert "steps of trees were left out of the plan: give them with --proof FILE" in alone.stdout
    assert call("check", state, plan, "--proof", trees).exit_code == 0
    trees.write_text("\ufeff" + trees.read_text("utf-8"), "utf-8")  # as some editors store it
    assert call("check", state, plan, "--proof", trees).exit_code == 0


def test_trees_of_something_else(tmp_path: Path, state: Path, plan: Path) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(
        '{"preemptor": "ns/pending", "claim": "workloads", "steps": 2}\n{"law": "x"}\n'
    )
    told(refused("check", state, plan, "--proof", wrong))
    wrong.write_text('{"preemptor": "ns/other", "claim": "workloads", "steps": 0}\n')
    told(call("check", state, plan, "--proof", wrong).stderr)
    wrong.write_text("no tree\n")
    assert f"{wrong}: line 1: " in call("check", state, plan, "--proof", wrong).stderr


def test_long_trees_stay_out_of_the_plan(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "MOST_STEPS", 1)
    value = json.loads(solved(tmp_path, state).read_text("utf-8"))["certificate"]
    assert sum(len(tree["steps"]) for tree in value["trees"]) <= 1
    assert value["trees_omitted"] > 0


def test_all_plans_of_a_list(tmp_path: Path) -> None:
    state = write(tmp_path, cluster(another_pending("second")))
    plans, trees = tmp_path / "plans.json", tmp_path / "trees.jsonl"
    call("solve", state, "--all", "--format", "json", "-o", plans)
    value = json.loads(call("check", state, plans, "--format", "json").stdout)
    assert [one["preemptor"] for one in value["checks"]] == ["ns/pending", "ns/second"]
    assert value["accepted"]
    call("solve", state, "--all", "--format", "json", "-o", plans, "--proof", trees)
    assert call("check", state, plans, "--proof", trees).exit_code == 0
    broken = json.loads(plans.read_text("utf-8"))
    broken["plans"][1]["preemptor"] = "ns/nobody"
    result = call("check", state, write(tmp_path, broken, "broken.json"))
    assert result.exit_code == 2
    told(result.stderr)


def test_standard_input(state: Path, plan: Path) -> None:
    assert call("check", state, "-", stdin=plan.read_text("utf-8")).exit_code == 0
    assert call("check", "-", plan, stdin=state.read_text("utf-8")).exit_code == 0


def test_objective_and_costs(tmp_path: Path, state: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'name = "mine"\nlevels = ["workloads", "lost_work+restart_cost"]\n', encoding="utf-8"
    )
    plan = solved(tmp_path, state, "--objective", mine)
    assert call("check", state, plan).exit_code == 2
    assert call("check", state, plan, "--objective", mine).exit_code == 0
    assert call("check", state, plan, "--objective", "min-count").exit_code == 2
    costs = write(tmp_path, {"ns/big": 9}, "costs.json")
    plan = solved(tmp_path, state, "--objective", "min-cost", "--costs", costs)
    assert call("check", state, plan, "--costs", costs).exit_code == 0
    assert call("check", state, plan).exit_code == 1


def test_infeasible(tmp_path: Path) -> None:
    """One queue alone, whose workloads no policy lets go."""
    state = write(
        tmp_path, dump_of(queue("alone", 4), running("a", "alone", 4), pending("alone", 3))
    )
    plan = solved(tmp_path, state)
    assert json.loads(plan.read_text("utf-8"))["status"] == "infeasible"
    result = call("check", state, plan)
    assert result.exit_code == 0
    assert "claim            infeasible certified=yes" in result.stdout


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no plan",
        "[]",
        "{}",
        '{"scheduler": "slurm"}',
        '{"scheduler": "kueue"}',
        '{"plans": [7]}',
        '{"pending": []}',
        '{"points": []}',
        '{"apiVersion": "v1", "items": []}',
        '{"partitions": []}',
    ],
)
def test_what_is_no_plan(tmp_path: Path, state: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text, encoding="utf-8")
    error = refused("check", state, path)
    told(error)
    assert "expected " in error


@pytest.mark.parametrize(
    ("part", "with_part"),
    [
        ('"victims": [', '"victims": [], "victims": ['),
        ('"claim": "ties"', '"claim": "x", "claim": "ties"'),
        ('"podSets": [', '"pod_sets": [], "podSets": ['),
        ('"flavor": "default"', '"flavor": "default", "says": "all is well"'),
    ],
)
def test_what_readers_may_read_in_two_ways(
    state: Path, plan: Path, part: str, with_part: str
) -> None:
    """Of two values of one key some take the first, others the last; a strange key is no field."""
    text = plan.read_text("utf-8")
    assert part in text
    forged = plan.parent / "twice.json"
    forged.write_text(text.replace(part, with_part, 1), "utf-8")
    told(refused("check", state, forged))


def test_a_list_of_plans_says_nothing_besides(state: Path, plan: Path) -> None:
    value = json.loads(plan.read_text("utf-8"))
    listed = write(plan.parent, {"plans": [value]}, "listed.json")
    assert call("check", state, listed).exit_code == 0
    told(refused("check", state, write(plan.parent, {**value, "plans": [value]}, "both.json")))


def test_plans_are_read_as_windows_writes_them(state: Path, plan: Path) -> None:
    """With a mark of the order of bytes, or in UTF-16, which PowerShell's > writes."""
    text = plan.read_text("utf-8")
    marked = plan.parent / "marked.json"
    marked.write_text(text, "utf-8-sig")
    assert call("check", state, marked).exit_code == 0
    wide = plan.parent / "wide.json"
    wide.write_text(text, "utf-16")
    told(refused("check", state, wide))


def test_place_of_a_wrong_field(state: Path, plan: Path) -> None:
    path = changed(plan, "certificate", "levels", 0, "value", to="many")
    result = call("check", state, path)
    told(result.stderr)
    path = changed(plan, "certificate", "trees", 0, "steps", 0, to={"off": [1], "most": 0})
    result = call("check", state, path)
    told(result.stderr)


def test_a_tree_without_steps(state: Path, plan: Path) -> None:
    path = changed(plan, "certificate", "trees", 0, to={"claim": "workloads"})
    told(refused("check", state, path))


def test_files_that_are_not_there(tmp_path: Path, state: Path, plan: Path) -> None:
    missing = tmp_path / "missing.json"
    assert call("check", state, missing).exit_code == 2
    assert call("check", missing, plan).exit_code == 2
    assert call("check", state, tmp_path).exit_code == 2
    assert call("check", state, plan, "--proof", missing).exit_code == 2
    assert call("check", state, plan, "-o", tmp_path / "no" / "file").exit_code == 2


def test_plan_of_another_scheduler(plan: Path) -> None:
    assert call("check", YUNIKORN, plan).exit_code == 2


def test_no_solver_is_loaded(state: Path, plan: Path) -> None:
    code = (
        "import sys; from planner.cli.main import main\n"
        f"code = main(['check', {str(state)!r}, {str(plan)!r}], standalone_mode=False)\n"
        "print(code, {name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stderr.startswith("0 ")
    loaded = done.stderr.splitlines()[-1]
    assert not {name for name in ("ortools", "pandas", "scipy", "google") if f"'{name}'" in loaded}


def test_library_and_command_agree_and_the_schema_is_obeyed(state: Path, plan: Path) -> None:
    made = Plan.model_validate_json(plan.read_text("utf-8"))
    (printed,) = answer("check", "check", state, plan)["checks"]
    assert [claim["certified"] for claim in printed["claims"]] == [True] * 9
    assert printed == json.loads(planner.check(planner.read(state), made).model_dump_json())


@pytest.mark.parametrize(
    "options",
    [
        ("--proof", "-"),
        ("--proof", "same.json", "-o", "same.json"),
        ("--proof", "no/trees.jsonl"),
        ("--proof", "trees.jsonl", "--joint", "--all"),
        ("--certify", "--joint", "--all"),
        ("--certify", "--objective", "pareto:workloads,lost_work"),
    ],
)
def test_solve_refuses_trees_that_cannot_be(state: Path, options: tuple[str, ...]) -> None:
    told(refused("solve", state, *options))


def test_solve_without_trees(tmp_path: Path, state: Path) -> None:
    """Nothing is proved, and nothing is claimed but by the solver's word."""
    plan = solved(tmp_path, state, "--no-certify")
    value = json.loads(plan.read_text("utf-8"))
    assert value["status"] == "feasible"
    assert value["certificate"]["trees"] == []
    levels = [level for level in value["certificate"]["levels"] if level["value"]]
    assert {(level["bound"], level["proof"]) for level in levels} == {(0, None)}
    assert all(level["claimed"] == level["value"] for level in levels)
    assert call("check", state, plan).exit_code == 0


def test_a_plan_for_nodes_that_the_state_does_not_know(tmp_path: Path) -> None:
    dump = (ROOT / "instances" / "topology" / "needless.yaml").read_text("utf-8")
    state, plan = tmp_path / "state.yaml", tmp_path / "plan.json"
    state.write_text(dump, "utf-8")
    assert call("solve", state, "-o", plan).exit_code == 0
    assert call("check", state, plan).exit_code == 0
    state.write_text(dump.replace("kind: Topology\n", "kind: Else\n"), "utf-8")
    result = call("check", state, plan)
    assert result.exit_code == 1
    told(result.stdout)
