"""``planner solve --objective pareto:A,B``: fronts in every format, with their exit codes."""

from pathlib import Path

import pytest

from tests.cli.running import BIG, SMALL, another_pending, answer, call, cluster, refused, write
from tests.cluster import NOW
from tests.conftest import YUNIKORN
from tests.told import told

PARETO = ("--objective", "pareto:workloads,lost_work")
AT_NOW = (*PARETO, "--now", NOW)


def test_json_holds_every_point_with_its_plan(trade: Path) -> None:
    value = answer("front", "solve", trade, *AT_NOW)
    assert value["status"] == "optimal"
    assert value["preemptor"] == "ns/pending"
    assert [measure["term"] for measure in value["measures"]] == ["workloads", "lost_work"]
    assert [point["values"] for point in value["points"]] == [[1, 12_000], [2, 4_800]]
    victims = [[one["workload"] for one in point["plan"]["victims"]] for point in value["points"]]
    assert victims == [["ns/big"], ["ns/half-1", "ns/half-2"]]
    assert all(point["plan"]["certificate"]["levels"] for point in value["points"])
    greedy = value["greedy"]
    assert (greedy["values"], greedy["place"], greedy["points"]) == ([2, 4_800], "on", [2])
    assert greedy["plan"]["algorithm"] == "kueue"


def test_a_scheduler_behind_the_front(dump: Path) -> None:
    text = call("solve", dump, *AT_NOW, "--format", "table").stdout
    told(" ".join(text.split()))
    lines = call("solve", dump, *AT_NOW).stdout.splitlines()
    assert "points           1" in lines
    assert f"point_victim     1 {BIG}" in lines
    sum(60 * (60 - 10 - i) for i in range(1, 5))
    told(lines)
    assert {line.split()[2] for line in lines if line.startswith("greedy_victim")} == set(SMALL)


def test_without_time_there_is_a_plan_and_no_proof(dump: Path) -> None:
    result = call("solve", dump, *AT_NOW, "--time-limit", "0")
    assert result.exit_code == 4
    assert "status           feasible" in result.stdout
    assert "unproved         - workloads=4 " in result.stdout
    assert " place=open" in result.stdout
    text = call("solve", dump, *AT_NOW, "--time-limit", "0", "--format", "table").stdout
    assert "NOT COMPLETE" in text
    assert "not proved" in text


def test_infeasible_is_an_answer(tmp_path: Path) -> None:
    path = write(tmp_path, cluster(asks=100))
    for style in ("table", "plain", "json"):
        assert call("solve", path, *PARETO, "--format", style).exit_code == 3
    told(call("solve", path, *PARETO, "--format", "table").stdout)


def test_all(tmp_path: Path) -> None:
    path = write(tmp_path, cluster(another_pending("second", amount=2)))
    value = answer("fronts", "solve", path, *PARETO, "--all")
    assert [front["preemptor"] for front in value["fronts"]] == ["ns/pending", "ns/second"]
    result = call("solve", path, *PARETO, "--all")
    assert "2 pending: 2 optimal" in result.stderr
    assert result.stdout.count("points  ") == 2
    text = call("solve", path, *PARETO, "--all", "--format", "table").stdout
    assert text.count("PROVED COMPLETE") == 2


def test_yunikorn(tmp_path: Path) -> None:
    value = answer("front", "solve", YUNIKORN, *PARETO)
    assert value["scheduler"] == "yunikorn"
    values = [point["values"] for point in value["points"]]
    assert values == sorted(values)
    assert values[0][1] > values[1][1]
    assert value["greedy"]["place"] == "behind"
    table = call("solve", YUNIKORN, *PARETO, "--format", "table", "-o", tmp_path / "front.txt")
    assert table.exit_code == 0
    told((tmp_path / "front.txt").read_text("utf-8"))
    plain = call("solve", YUNIKORN, *PARETO).stdout
    told(plain)


def test_costs_of_one_s_own(trade: Path, tmp_path: Path) -> None:
    costs = write(tmp_path, {"ns/big": 1, "ns/half-1": 3, "ns/half-2": 4}, "costs.json")
    value = answer(
        "front",
        "solve",
        trade,
        "--now",
        NOW,
        "--objective",
        "pareto:cost,lost_work",
        "--costs",
        costs,
    )
    assert [point["values"] for point in value["points"]] == [[1, 12_000], [7, 4_800]]


@pytest.mark.parametrize(
    "words", [("whatif", "--set", "workload/ns/pending.priority=11"), ("explain",), ("boost",)]
)
def test_other_commands_ask_for_one_plan(words: tuple[str, ...], trade: Path) -> None:
    command, *more = words
    said = refused(command, trade, *more, *PARETO)
    told(said)


@pytest.mark.parametrize(
    "words",
    [
        ("--objective", "pareto:workloads"),
        ("--objective", "pareto:workloads,D99"),
        ("--objective", "pareto:workloads,workloads+lost_work"),
        (*PARETO, "--flavors", "optimal"),
    ],
)
def test_what_cannot_be_used(words: tuple[str, ...], trade: Path) -> None:
    told(refused("solve", trade, *words))


def test_no_time_for_what_the_scheduler_is_asked(tmp_path: Path) -> None:
    """A term of the scheduler's plan is not known then: an error of the user's limit, not ours."""
    state = write(tmp_path, cluster())
    said = refused("solve", state, "--objective", "pareto:lost_work,unstable", "--time-limit", "0")
    told(said)
