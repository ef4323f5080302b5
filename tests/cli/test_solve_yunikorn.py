"""``planner solve`` on the bundled YuniKorn cluster, and on asks that cannot be planned for."""

import json
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.errors import InputError
from planner.state.yunikorn import YuniKornState
from tests.cli.running import call, cluster, refused, valid, write
from tests.conftest import YUNIKORN
from tests.told import told
from tests.yunikorn.building import (
    above_max,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    of_release,
    queue,
    two_queues,
)

POD = "serving/ranker-2"

Json = dict[str, Any]


def solved(path: Path, *options: str | Path) -> Json:
    """Run solve and return the JSON plan."""
    result = call("solve", path, "--format", "json", *options)
    assert result.exit_code in {0, 3, 4, 5}, result.stderr
    plan: Json = valid("plan", result.stdout)
    return plan


def victims(plan: Json) -> list[str]:
    return [victim["allocation"] for victim in plan["victims"]]


def quickstart() -> YuniKornState:
    state = planner.read(YUNIKORN)
    assert isinstance(state, YuniKornState)
    return state


def crowd(**of_ask: Any) -> Json:
    """Build a full node of 4 GPUs: ``low`` runs on all, ``high`` may have 2.

    Three asks wait: one can be helped, one is larger than any node, one may not preempt.
    """
    running = [allocation(f"run-{i}", {"gpu": 1}, i) for i in range(1, 5)]
    never: Json = {"x": {"allowPreemptOther": False}}
    asks = (
        ask("ask", {"gpu": 1}, **of_ask),
        ask("huge", {"gpu": 9}),
        ask("polite", {"gpu": 1}, **never),
    )
    return cluster_value(
        [queue("low"), queue("high", guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 4})],
        [application("runs", "root.low", *running), application("asks", "root.high", asks=asks)],
    )


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write(tmp_path, crowd())


@pytest.mark.parametrize("options", [(), ("--laws", "design"), ("--laws", "code")])
def test_fewer_victims_than_the_core_takes(options: tuple[str, ...]) -> None:
    """One executor with the room that the core makes with a worker and an executor."""
    plan = solved(YUNIKORN, *options)
    laws = options[-1] if options else "design"
    assert (plan["status"], plan["rules"]) == ("optimal", f"yunikorn-{laws}")
    assert len(plan["victims"]) == 1
    assert len(plan["greedy"]["victims"]) == 2
    assert {victim["priority"] for victim in plan["victims"]} == {100}
    levels = plan["certificate"]["levels"]
    assert all(level["value"] == level["bound"] for level in levels)
    assert all(verdict["holds"] for verdict in plan["certificate"]["verdicts"])


def test_ask_by_its_key_and_by_its_pod() -> None:
    (key,) = [
        one.allocation_key
        for each in quickstart().partitions[0].applications
        for one in each.requests
    ]
    alone, by_key, by_pod = (
        solved(YUNIKORN, *options) for options in ((), ("--pending", key), ("--pending", POD))
    )
    for plan in (alone, by_key, by_pod):
        plan["certificate"]["wall_time_s"] = 0
        assert (plan["preemptor"], plan["pod"]) == (key, POD)
    assert alone == by_key == by_pod


def test_asks_to_choose_from_are_called_as_people_know_them() -> None:
    several = YUNIKORN.parent / "guide-normal"
    told(refused("solve", several))


def test_costs_by_allocation_key_decide(dump: Path, tmp_path: Path) -> None:
    words = ("--pending", "ask", "--objective", "min-cost", "--costs")
    for cheap in ("run-2", "run-4"):
        prices = {f"run-{i}": 9 for i in range(1, 5)} | {cheap: 3}
        plan = solved(dump, *words, write(tmp_path, prices, "costs.json"))
        assert victims(plan) == [cheap]
        assert plan["terms"]["cost"] == 3


def test_cost_of_an_allocation_that_is_not_there(dump: Path, tmp_path: Path) -> None:
    costs = write(tmp_path, {"typo": 1}, "costs.json")
    words = ("--pending", "ask", "--objective", "min-cost", "--costs")
    told(refused("solve", dump, *words, costs))


@pytest.mark.parametrize(
    "words",
    [
        ("--pending", "serving/nobody"),
        ("--assignment", "flavors.json"),
        ("--flavors", "optimal"),
        ("--requests", "recorded"),
        ("--stability",),
        ("--stable",),
        ("--laws", "spirit"),
    ],
)
def test_what_means_nothing_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"main": {"gpu": {"flavor": "default"}}}, "flavors.json")
    told(refused("solve", YUNIKORN, *words))


@pytest.mark.parametrize("laws", ["written", "design", "code"])
def test_laws_mean_nothing_for_kueue(tmp_path: Path, laws: str) -> None:
    said = refused("solve", write(tmp_path, cluster()), "--laws", laws)
    told(said)


def test_errors_name_what_the_user_wrote(tmp_path: Path) -> None:
    """The option on the command line, also in the rows of many; the parameter in Python."""
    found = '"code" means nothing for Kueue'
    path = write(tmp_path, cluster())
    with pytest.raises(InputError) as caught:
        planner.solve(planner.read(path), rules="code")
    assert (caught.value.where, caught.value.found) == ("rules", found)
    every = call("solve", path, "--all", "--laws", "code")
    assert f": --laws: {found}" in every.stderr
    audit = call("audit", path, "--laws", "code", "--format", "json")
    (failure,) = json.loads(audit.stdout)["failures"]
    assert failure["detail"].startswith(f"--laws: {found}")


def test_an_option_of_kueue_names_the_nearest_that_there_is() -> None:
    told = "error: --stable: only Kueue's victims queue again\n  hint: leave it out; planner"
    assert told in refused("solve", YUNIKORN, "--stable")


def test_several_asks_are_listed(dump: Path) -> None:
    result = call("solve", dump)
    assert (result.exit_code, result.stdout) == (2, "")
    for word in ("ask", "huge", "polite", "--pending", "--all"):
        assert word in result.stderr


def test_all(dump: Path) -> None:
    result = call("solve", dump, "--all", "--format", "json")
    value = valid("plans", result.stdout)
    assert [(plan["preemptor"], plan["status"]) for plan in value["plans"]] == [
        ("ask", "optimal"),
        ("huge", "infeasible"),
        ("polite", "infeasible"),
    ]
    assert result.exit_code == 3
    told(result.stderr)


@pytest.mark.parametrize("pending", ["huge", "polite"])
def test_infeasible_is_an_answer_with_its_reason(dump: Path, pending: str) -> None:
    plan = solved(dump, "--pending", pending)
    assert plan["status"] == "infeasible"
    told(plan["explanation"])
    assert plan["victims"] == []
    assert call("solve", dump, "--pending", pending).exit_code == 3


def test_preemption_switched_off(tmp_path: Path) -> None:
    value = crowd()
    value["queues"]["partitions"][0]["preemption"] = {"enabled": False}
    plan = solved(write(tmp_path, value), "--pending", "ask")
    assert plan["status"] == "infeasible"
    assert "switched off" in plan["explanation"]


def test_nothing_has_to_go(tmp_path: Path) -> None:
    value = crowd()
    value["nodes"][0]["nodesInfo"].append({"nodeID": "n2", "capacity": {"gpu": 1}})
    plan = solved(write(tmp_path, value), "--pending", "ask")
    assert (plan["status"], plan["victims"]) == ("optimal", [])


def test_before_the_delay_is_over_there_is_a_plan_and_a_note(tmp_path: Path) -> None:
    """The delay of 30 s is the core's own default; the ask has been waiting for 10 of them."""
    path = write(tmp_path, crowd(requestTime=crowd()["now"] - 10 * 10**9))
    plan = solved(path, "--pending", "ask")
    assert plan["status"] == "optimal"
    assert len(plan["victims"]) == 1
    told(plan["notes"])
    assert plan["greedy"]["victims"] == []
    told(call("solve", path, "--pending", "ask").stderr)


@pytest.mark.parametrize(
    ("of_node", "size", "notes"),
    [
        ({}, 1, ["ask: the core reserves n1 first, and looks for victims after that"]),
        ({"reservations": ["ask"]}, 1, []),
        ({}, 99, []),  # the node itself is too small to be reserved
        (
            {"reservations": ["ask"]},
            100,
            ["ask: the core looks for victims only once its queues have room for it"],
        ),
    ],
)
def test_a_required_node_is_reserved_first(
    tmp_path: Path, of_node: dict[str, Any], size: int, notes: list[str]
) -> None:
    value = crowd(requiredNodeId="n1")
    value["applications"][1]["requests"][0]["resource"] = {"gpu": size}
    value["nodes"][0]["nodesInfo"][0] |= of_node
    value["nodes"][0]["nodesInfo"].append({"nodeID": "n2", "capacity": {"gpu": 99}})
    plan = solved(write(tmp_path, value), "--pending", "ask")
    assert plan["notes"] == notes
    assert bool(plan["greedy"]["victims"]) == (bool(of_node) and not notes)


def test_no_time_at_all_leaves_the_core_s_own_plan() -> None:
    result = call("solve", YUNIKORN, "--time-limit", "0", "--format", "json")
    assert result.exit_code == 4
    plan = json.loads(result.stdout)
    assert plan["status"] == "feasible"
    assert victims(plan) == victims(plan["greedy"])
    told(plan["explanation"])
    levels = plan["certificate"]["levels"]
    assert all(level["bound"] <= level["value"] for level in levels)


def test_no_time_and_no_plan_of_the_core_proves_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, crowd(requestTime=crowd()["now"] - 10 * 10**9))
    result = call("solve", path, "--pending", "ask", "--time-limit", "0", "--format", "json")
    assert result.exit_code == 5
    plan = json.loads(result.stdout)
    assert (plan["status"], plan["victims"]) == ("unknown", [])
    assert "nothing proved" in plan["explanation"]


@pytest.mark.parametrize(
    ("told", "given", "uncovered"),
    [
        ("", [], []),
        ("1.7.0", [], ["release"]),
        ("1.7.0", ["1.9.0"], []),
        ("", ["1.7.0"], ["release"]),
    ],
)
def test_the_release_is_told_or_given(
    tmp_path: Path, told: str, given: list[str], uncovered: list[str]
) -> None:
    """Up to 1.7 it matters who comes first, which is not known by fairness."""
    value = two_queues(allocation("one", {"gpu": 4}))
    value["applications"][1]["requests"] += [ask(f"more-{i}", {"gpu": 1}) for i in range(10)]
    high = value["queues"]["partitions"][0]["queues"][0]["queues"][1]
    high["properties"]["application.sort.policy"] = "fair"
    path = write(tmp_path, of_release(value, told))
    options = [part for one in given for part in ("--yunikorn-release", one)]
    result = call("solve", path, "--pending", "ask", "--format", "json", *options)
    found = [one["feature"] for one in json.loads(result.stdout)["coverage"]]
    assert found == uncovered


@pytest.mark.parametrize(
    ("option", "value"), [("--yunikorn-release", "1.5.2"), ("--kueue-release", "0.18.6")]
)
def test_a_release_without_rules(option: str, value: str) -> None:
    result = call("solve", YUNIKORN, option, value)
    assert result.exit_code == 2
    assert value in result.stderr or "no release of Kueue applies" in result.stderr


@pytest.fixture
def lowered(tmp_path: Path) -> Path:
    """Give a queue root.research of 6 GPUs with a max of 4; 10 of its 14 memory are guaranteed."""
    return write(tmp_path, above_max())


def test_a_queue_comes_down_to_its_max(lowered: Path) -> None:
    plan = solved(lowered, "--quota", "root.research")
    assert (plan["status"], plan["rules"]) == ("optimal", "yunikorn-lowered-quota")
    assert victims(plan) == ["other"]
    assert victims(plan["greedy"]) == ["large"]
    told(plan["explanation"])
    (use,) = (one for one in plan["queues"] if one["queue"] == "root.research" and one["max"])
    assert (use["before"], use["after"], use["max"]) == (6, 4, 4)
    assert planner.solve(planner.read(lowered), quota="root.Research").keys == ("other",)


def test_a_queue_on_a_terminal_and_a_page(lowered: Path) -> None:
    """It is called a queue, not an ask, and has no application."""
    words = ("solve", lowered, "--quota", "root.research", "--format")
    told = call(*words, "table", "--details").stdout
    assert "Queue      root.research" in told
    assert "Application" not in told.partition("Victim")[0]
    assert "YK-02 no queue is left below its guaranteed" in told
    brief = call(*words, "table").stdout
    assert "Above max  2 gpu" in brief
    assert "Ask" not in brief
    page = call(*words, "html").stdout
    assert "root.research is above its max" in page
    assert "What is not short" not in page


def test_a_queue_that_cannot_come_down(tmp_path: Path) -> None:
    """All four hold 6 GPUs, and only 4 of their memory may go."""
    path = write(tmp_path, above_max(most=2))
    result = call("solve", path, "--quota", "root.research")
    assert result.exit_code == 3
    assert "leaves every queue its guaranteed" in result.stdout
    assert "planner explain" not in result.stderr


def test_whom_the_core_cannot_take(tmp_path: Path) -> None:
    """One of 4 GPUs is too much, and both allocations hold 2: the core takes no more than one."""
    value = above_max(most=3)
    value["queues"]["partitions"][0]["queues"][0]["queues"][0]["resources"]["guaranteed"] = {}
    del value["applications"][0]["allocations"][2:]
    plan = solved(write(tmp_path, value), "--quota", "root.research")
    assert (plan["status"], victims(plan)) == ("optimal", ["large"])
    told(plan["greedy"]["explanation"])


def test_what_is_being_preempted_may_be_enough(tmp_path: Path) -> None:
    value = above_max()
    value["applications"][0]["allocations"][1]["preempted"] = True
    path = write(tmp_path, value)
    plan = solved(path, "--quota", "root.research")
    said = "what is being preempted already brings it to its max"
    assert (plan["status"], plan["explanation"], victims(plan)) == ("optimal", said, [])
    state = planner.read(path)
    assert planner.check(state, planner.solve(state, quota="root.research")).accepted


@pytest.mark.parametrize("change", [{"preemption": {}}, {"delay": ""}, {"release": "1.7.0"}])
def test_on_what_it_depends_that_the_core_does_so(tmp_path: Path, change: Json) -> None:
    value = above_max()
    (partition,) = value["queues"]["partitions"]
    if "delay" in change:
        partition["queues"][0]["queues"][0]["properties"] = {}
    partition |= {key: part for key, part in change.items() if key == "preemption"}
    words = ["--yunikorn-release", change["release"]] if "release" in change else []
    plan = solved(write(tmp_path, value), "--quota", "root.research", *words)
    told(" ".join(plan["notes"]))


@pytest.mark.parametrize(
    "words",
    [
        ("--quota", "root.reserach"),
        ("--quota", "root.batch"),
        ("--quota", "root"),
        ("--quota", "root.research", "--laws", "code"),
        ("--quota", "root.research", "--pending", "x"),
        ("--quota", "root.research", "--all"),
        ("--quota", "root.research", "--objective", "pareto:workloads,pods"),
    ],
)
def test_queues_that_cannot_be_planned_for(lowered: Path, words: tuple[str, ...]) -> None:
    told(refused("solve", lowered, *words))


def test_a_queue_of_kueue_and_a_queue_beside_an_ask(tmp_path: Path, lowered: Path) -> None:
    told(refused("solve", write(tmp_path, cluster(), "kueue.json"), "--quota", "a"))
    with pytest.raises(InputError) as caught:
        planner.solve(planner.read(lowered), "ask", quota="root.research")
    told(caught.value)
