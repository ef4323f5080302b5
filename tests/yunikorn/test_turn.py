"""What holds an ask back, by hand (docs/semantics/yunikorn-features.md §18 to §25)."""

from typing import Any

import pytest

import planner
from planner.quota.yunikorn.cluster import prepare
from planner.quota.yunikorn.held_back import PARENT
from planner.reference.yunikorn.cycle import run_cycles
from planner.reference.yunikorn.flow import run_flow
from planner.reference.yunikorn.turn import COMES_LATE
from planner.state.yunikorn import YuniKornState
from tests.verifier.yunikorn.plans import broken, plan_of
from tests.yunikorn.building import (
    SECOND,
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    decided,
    node,
    of_release,
    queue,
    state_of,
)

GPU = {"gpu": 1}
CORE = {"vcore": 1}
QUOTA = "Not enough user quota"
QUEUE = "Maximum number of running applications reached the queue limit"
USER = "Maximum number of running applications reached the user/group limit"


def asking(
    *limits: Json,
    own: int = 1,
    wants: int = 1,
    of_others: tuple[str, ...] = ("dev", "ops"),
    **more: Any,
) -> Json:
    """Build a full node: ``low`` runs what goes; of ``high``, with limits, ada has some, and asks.

    ``of_others`` are the groups of the application that has some, ``more`` is of the one that asks.
    """
    held = [allocation(f"own-{i}", GPU, on="n2") for i in range(own)]
    high = queue("high", guaranteed={"gpu": 9}) | {"limits": list(limits)}
    return cluster_value(
        [queue("low"), high],
        [node("n1", {"gpu": 2}), node("n2", {"gpu": own or 1}, schedulable=False)],
        [
            application("runs", "root.low", allocation("v1", GPU), allocation("v2", GPU)),
            application("has", "root.high", *held) | {"user": "ada", "groups": of_others},
            application("asks", "root.high", asks=(ask("ask", {"gpu": wants}),))
            | {"user": "ada", "applicationState": "Accepted"}
            | more,
        ],
    )


def held_back(value: Json) -> str:
    """Return what holds the ask back; it preempts if and only if nothing does."""
    found = decided(value)
    assert found.conditions is not None
    assert found.triggered == (not found.conditions.held_back)
    return found.conditions.held_back


def of(users: str = "", groups: str = "", apps: int = 0, **most: int) -> Json:
    """Build a limit of one user or of groups."""
    whom = {"users": [users]} if users else {"groups": groups.split()}
    amounts = {name: str(amount) for name, amount in most.items()}
    return {**whom, "maxresources": amounts, "maxapplications": apps}


def tracked(path: str, used: int, most: int, *apps: str, **more: Any) -> Json:
    """Build a queue of the usage endpoints, with root above."""
    row = {"queuePath": path, "resourceUsage": {"gpu": used}, "maxResources": {"gpu": most}}
    row |= {"runningApplications": list(apps), **more}
    return {"queuePath": "root", "children": [row], "runningApplications": list(apps)}


@pytest.mark.parametrize(
    ("user", "group", "said"),
    [
        (tracked("root.high", 1, 3), None, ""),
        (tracked("root.high", 2, 3), None, QUOTA),
        (tracked("root.low", 0, 9), None, QUOTA),  # the file's limit of anybody is for 1
        (tracked("root.high", 0, 0), tracked("root.high", 1, 2), QUOTA),
        (tracked("root.high", 0, 0), tracked("root.low", 1, 1), ""),
        (tracked("root.high", 0, 0, "has", maxApplications=1), None, f"{USER} (root.high)"),
        (tracked("root.high", 0, 0, "asks", maxApplications=1), None, ""),
    ],
)
def test_usage_endpoints_go_before_the_file(user: Json, group: Json | None, said: str) -> None:
    value = asking(of("*", gpu=1), wants=2, groups=["ops"])
    users = [{"userName": "ada", "queues": user, "groups": {"asks": "ops"} if group else None}]
    groups = [{"groupName": "ops", "queues": group}] if group else None
    value["x"] = {"usage": {"users": users, "groups": groups}}
    assert held_back(value) == said


@pytest.mark.parametrize(
    ("most", "states", "state", "said"),
    [
        (1, {}, "Accepted", f"{QUEUE} (root.high)"),
        (2, {}, "Accepted", ""),
        (1, {}, "Running", ""),
        (9, {"maxRunningApps": 2, "runningApps": 2}, "Accepted", f"{QUEUE} (root.high)"),
        (9, {"maxRunningApps": 2, "runningApps": 1}, "Accepted", ""),
        (
            *(9, {"maxRunningApps": 2, "runningApps": 1, "allocatingAcceptedApps": ["x"]}),
            *("Accepted", f"{QUEUE} (root.high)"),
        ),
        (
            9,
            {"maxRunningApps": 1, "runningApps": 1, "allocatingAcceptedApps": ["asks"]},
            "Accepted",
            "",
        ),
    ],
)
def test_running_applications(most: int, states: Json, state: str, said: str) -> None:
    value = asking(applicationState=state)
    value["queues"]["partitions"][0]["queues"][0]["queues"][1]["maxapplications"] = most
    value["applications"][1]["applicationState"] = "Running"
    value["x"] = {"queueState": {"root.high": states} if states else {}}
    assert held_back(value) == said


def test_a_gang_that_a_restart_took_out_of_the_count() -> None:
    """Its placeholders are there, but the queue object does not count it: it may not start."""
    gang = allocation("ph", GPU, on="n2", placeholder=True, taskGroupName="tg")
    value = asking(own=0, allocations=[gang])
    states = {"root.high": {"maxRunningApps": 1, "runningApps": 1}}
    assert held_back({**value, "x": {"queueState": states}}) == f"{QUEUE} (root.high)"
    states["root.high"]["allocatingAcceptedApps"] = ["asks"]  # type: ignore[assignment]
    assert held_back({**value, "x": {"queueState": states}}) == ""


@pytest.mark.parametrize(
    ("held", "of_ask", "takes"),
    [
        ({}, {}, True),
        ({"resource": {"gpu": 2}}, {}, True),
        ({"resource": {"mem": 9}}, {}, False),  # smaller in one type
        ({"preempted": True}, {}, False),
        ({"x": {"released": True}}, {}, False),
        ({"taskGroupName": "other"}, {}, False),
        ({"placeholder": False}, {}, False),
        ({}, {"placeholder": True}, False),
        ({}, {"taskGroupName": ""}, False),
        ({}, {"requiredNodeId": "n1"}, True),
    ],
)
def test_an_ask_takes_the_place_of_a_placeholder(held: Json, of_ask: Json, *, takes: bool) -> None:
    """Whatever its user may have; the verifier finds it out by itself."""
    place = allocation("ph", GPU, on="n2") | {"placeholder": True, "taskGroupName": "tg"} | held
    request = ask("ask", GPU, **{"taskGroupName": "tg", **of_ask})
    state = state_of(asking(of("ada", gpu=1), allocations=[place], requests=[request]))
    plan = planner.solve(state, "ask")
    assert ("it takes the place of placeholder ph" in plan.explanation) == takes
    nothing = plan_of(state, None, rules=plan.rules)
    assert broken(state, nothing) == ([] if takes else ["YK-08"])


@pytest.mark.parametrize(("veto", "takes"), [(["n2"], False), (["n1"], True)])
def test_a_placeholder_on_a_node_that_the_shim_refuses(veto: list[str], *, takes: bool) -> None:
    """Another node has no room: then it stays."""
    place = allocation("ph", GPU, on="n2", placeholder=True, taskGroupName="tg")
    request = ask("ask", GPU, taskGroupName="tg")
    value: Json = asking(allocations=[place], requests=[request])
    value["x"] = {"vetoNodes": veto}
    for room in (False, True):
        if room:
            value["nodes"][0]["nodesInfo"].append(node("n3", GPU))
        state = state_of(value)
        assert (broken(state, plan_of(state, None)) == []) == (takes or room)
        assert (decided(value).replaces is not None) == (takes or room)


@pytest.mark.parametrize(
    ("release", "before", "more", "said"),
    [
        ("1.7.0", 10, {"priority": "1"}, COMES_LATE),
        ("1.7.0", 10, {"priority": "-1"}, ""),
        ("1.7.0", 9, {"priority": "1"}, ""),
        ("1.8.0", 10, {"priority": "1"}, ""),
    ],
)
def test_up_to_1_7_ten_asks_of_a_leaf_are_tried(
    release: str, before: int, more: Json, said: str
) -> None:
    value = of_release(asking(), release)
    asks = tuple(ask(f"more-{i}", GPU, **more) for i in range(before))
    value["applications"].append(application("more", "root.high", asks=asks))
    assert held_back(value) == said


def test_a_leaf_that_became_a_parent() -> None:
    value = asking()
    value["queues"]["partitions"][0]["queues"][0]["queues"][1]["parent"] = True
    assert held_back(value) == PARENT


def events(value: Json) -> list[tuple[str, str, list[str]]]:
    """Return what cycles do: the ask that is placed, where, and what is released."""
    return [
        (one.ask or "".join(one.triggered), one.node, [key for key, _ in one.released])
        for one in run_cycles(state_of(value))
    ]


def test_what_is_accepted_takes_the_place_of_others() -> None:
    """A placeholder is allocated, so that its gang counts as one that runs."""
    value = cluster_value(
        [queue("a", max={"gpu": 9}) | {"maxapplications": 1}],
        [node("n1", {"gpu": 9})],
        [
            application("gang", "root.a", asks=(ask("ph", GPU, placeholder=True, priority="5"),))
            | {"applicationState": "Accepted"}
            | {"placeholderData": [{"taskGroupName": "tg", "count": 2, "minResource": GPU}]},
            application("late", "root.a", asks=(ask("late", GPU),))
            | {"applicationState": "Accepted"},
        ],
    )
    assert events(value) == [("ph", "n1", [])]
    value["applications"][0]["placeholderData"] = []
    value["queues"]["partitions"][0]["queues"][0]["queues"][0]["maxapplications"] = 2
    assert events(value) == [("ph", "n1", []), ("late", "n1", [])]


def test_an_application_backs_off_after_asks_that_fit_nowhere() -> None:
    def value(most: str) -> Json:
        asks = [ask("a", {"gpu": 9}, priority="9"), ask("b", {"gpu": 1})]
        leaf = queue("a", application_unschedasks_backoff=most)
        held = application("held", "root.a", asks=tuple(asks))
        return cluster_value([leaf], [node("n1", {"gpu": 8}), node("n2", {"gpu": 2})], [held])

    assert events(value("1")) == []
    assert events(value("2")) == [("b", "n1", [])]


def moved(*nodes: Json, **of_other: Any) -> Json:
    """Build a gang whose real pod goes to n2, as n1 refuses it, and an ask of another queue."""
    held = allocation("ph", CORE, placeholder=True, taskGroupName="tg")
    real = ask("real", CORE, taskGroupName="tg")
    other = ask("other", {"vcore": 2}, **of_other)
    value = cluster_value(
        [queue("a"), queue("b")],
        [node("n1", CORE), node("n3", {"vcore": 20}), *nodes],
        [
            application("gang", "root.a", held, asks=(real,)),
            application("o", "root.b", allocation("z", {"vcore": 2}, on="n3"), asks=(other,)),
        ],
    )
    return value | {"x": {"vetoNodes": ["n1"]}}


@pytest.mark.parametrize(("priority", "goes"), [("9", ["real"]), ("-9", None)])
def test_who_took_a_place_on_another_node_may_go_from_there(
    priority: str, goes: list[str] | None
) -> None:
    """Source: yunikorn-core be3bb487, application.go (tryPlaceholderAllocate)."""
    value = moved(node("n2", {"vcore": 2}), requiredNodeId="n2", priority=priority)
    expected = [("real", "n2", ["ph"]), ("", "", [])]  # n2 is reserved
    assert events(value) == expected + ([("other", "", goes)] if goes else [])


@pytest.mark.parametrize(("size", "on"), [(8, "n3"), (30, "n2")])
def test_a_node_that_took_such_a_pod_is_used_more(size: int, on: str) -> None:
    """Of n3 2 of 20 are in use, of n2 what the real pod has, and 2 of a foreign one."""
    two = node("n2", {"vcore": size}, available={"vcore": size - 2})
    assert events(moved(two))[1:] == [("other", on, [])]


@pytest.mark.parametrize(("name", "said"), [("high", QUOTA), ("High", "")])
def test_limits_of_a_queue_with_capitals_never_hold(name: str, said: str) -> None:
    """Source: yunikorn-core be3bb487, scheduler/ugm/manager.go (internalProcessConfig)."""
    value = asking(of("ada", gpu=1))
    value["queues"]["partitions"][0]["queues"][0]["queues"][1]["name"] = name
    assert held_back(value) == said


def one_placed_and_one_that_preempts(placed: int) -> Json:
    """Build an ask of this age that finds a node; then it goes, or ``mid``, 5,000 s old."""
    return cluster_value(
        [queue("low"), queue("placed"), queue("high", guaranteed=GPU)],
        [node("n1", {"gpu": 2, "mem": 1})],
        [
            application("l", "root.low", allocation("mid", GPU, 5_000)),
            application("p", "root.placed", asks=(ask("placed", GPU | {"mem": 1}, placed),)),
            application("h", "root.high", asks=(ask("ask", GPU),)),
        ],
    )


@pytest.mark.parametrize(("placed", "victim"), [(20_000, "mid"), (4_000, "placed")])
def test_who_found_a_node_is_as_old_as_the_ask(placed: int, victim: str) -> None:
    """Source: yunikorn-core be3bb487, scheduler/objects/application.go (tryNode)."""
    value = one_placed_and_one_that_preempts(placed)
    assert [one[-1] for one in events(value)][:2] == [[], [victim]]
    assert [step.victims for step in run_flow(state_of(value)).steps] == [(), (victim,)]


def with_zero(named: Json, most: Json, of_parent: Json) -> Json:
    """Build a queue that has 2 of mem; its ask names some types, and has only 1 GPU to ask for."""
    held = allocation("old", {"mem": 2})
    return cluster_value(
        [queue("p", queue("a", max=most), max=of_parent)],
        [node("n1", {"gpu": 1, "mem": 4})],
        [application("x", "root.p.a", held, asks=(ask("ask", GPU | named),))],
    )


@pytest.mark.parametrize(
    ("named", "most", "of_parent", "finds_a_node"),
    [
        ({"mem": 0}, {"mem": 1}, {}, False),
        ({"mem": 0}, {}, {"mem": 1}, False),
        ({"mem": 0}, {"mem": 2}, {}, True),
        ({"mem": 0}, {"gpu": 1}, {}, True),
        ({}, {"mem": 1}, {"mem": 1}, True),
    ],
)
def test_nothing_of_a_type_of_which_there_is_too_much(
    named: Json, most: Json, of_parent: Json, *, finds_a_node: bool
) -> None:
    """Source: yunikorn-core be3bb487, scheduler/objects/queue.go (TryIncAllocatedResource)."""
    value = with_zero(named, most, of_parent)
    assert events(value)[:1] == [("ask" if finds_a_node else "", "n1" if finds_a_node else "", [])]
    conditions = decided(value).conditions
    assert conditions is not None
    assert conditions.allocatable_now == finds_a_node
    assert (broken(state_of(value), plan_of(state_of(value), None)) == []) == finds_a_node


def kept(release: str, was_there: str) -> YuniKornState:
    """Read a state whose queues.yaml took a delay away from a parent of queues that were there."""
    below = queue("a"), queue("b", preemption_delay="7s")
    after, before = [queue("p", *below)], [queue("p", *below, preemption_delay="5s")]
    before[0]["queues"] = [one for one in before[0]["queues"] if one["name"] in was_there]
    value = cluster_value(after, [node("n1", GPU)], [])
    value["x"] = {"queuesBefore": cluster_value(before, [], [])["queues"]}
    value["clusterInfo"] = [{"rmBuildInformation": [{"buildVersion": release}]}]
    return state_of(value)


def drained(before: Json, after: Json, path: str) -> Json:
    """Build a full node: ``p.low`` runs what may go, ``high`` asks; the leaf at a path drains.

    ``before`` and ``after`` is what is above ``p.low``, and was.
    """
    asks = application("asks", "root.high", asks=(ask("ask", GPU | {"mem": 2}),))
    runs = application("runs", "root.p.low", allocation("v", GPU))
    high = queue("high", guaranteed=GPU)
    value = cluster_value(
        [after, high][: 1 + (path != "root.high")], [node("n1", GPU | {"mem": 2})], [runs, asks]
    )
    limited = high | {"limits": [of("*", mem=1)]}
    old = cluster_value([before, limited], [], [])["queues"]
    value["x"] = {"queuesBefore": old, "queueState": {path: {"status": "Draining"}}}
    return value


DISABLED = {"preemption_policy": "disabled"}


@pytest.mark.parametrize(
    ("before", "after", "goes"), [({}, DISABLED, True), (DISABLED, {}, False), ({}, {}, True)]
)
def test_a_queue_that_drains_inherits_what_it_did(before: Json, after: Json, *, goes: bool) -> None:
    """Source: yunikorn-core be3bb487, scheduler/partition.go (updateQueues)."""
    old = queue("p", queue("low"), **before)
    value = drained(old, queue("p", **after) | {"parent": True}, "root.p.low")
    assert decided(value).triggered == goes


@pytest.mark.parametrize("parent", [True, False])
def test_nobody_goes_from_below_a_queue_that_is_now_a_leaf(*, parent: bool) -> None:
    """Nor is an ask looked at there. Source: yunikorn-core be3bb487, queue.go (applyConf)."""
    after = queue("p") | {"parent": parent}
    value = drained(queue("p", queue("low")), after, "root.p.low")
    assert decided(value).triggered == parent
    plan = plan_of(state_of(value), "n1", "v")
    assert (broken(state_of(value), plan) == []) == parent
    value["applications"][0]["requests"] = [ask("late", GPU)]
    late = decided(value, "late").conditions
    assert late is not None
    assert (late.held_back == "") == parent


def test_limits_of_a_queue_that_drains_are_gone() -> None:
    """Source: yunikorn-core be3bb487, scheduler/ugm/manager.go (clearEarlierSetLimits)."""
    both = queue("p", queue("low"))
    value = drained(both, both, "root.high")
    assert held_back(value) == ""
    value["queues"] = value["x"].pop("queuesBefore")
    assert held_back(value) == QUOTA


@pytest.mark.parametrize(
    ("release", "was_there", "delays"),
    [
        ("1.8.0", "ab", (5, 7)),
        ("1.9.0", "ab", (5, 7)),
        ("", "ab", (30, 7)),
        ("1.8.0", "b", (30, 7)),
        ("1.9.0", "b", (30, 7)),
    ],
)
def test_up_to_1_9_a_queue_keeps_what_it_inherited(
    release: str, was_there: str, delays: tuple[int, int]
) -> None:
    tree = prepare(kept(release, was_there)).tree
    found = [tree.by_path[f"root.p.{name}"].properties.delay // SECOND for name in "ab"]
    assert tuple(found) == delays


@pytest.mark.parametrize(("release", "delay"), [("1.8.0", 5), ("1.9.0", 6)])
def test_from_1_9_on_a_queue_takes_up_what_its_parent_has_now(release: str, delay: int) -> None:
    value = cluster_value([queue("p", queue("a"), preemption_delay="6s")], [node("n1", GPU)], [])
    before = cluster_value([queue("p", queue("a"), preemption_delay="5s")], [], [])["queues"]
    tree = prepare(state_of(of_release(value | {"x": {"queuesBefore": before}}, release))).tree
    assert tree.by_path["root.p.a"].properties.delay == delay * SECOND
