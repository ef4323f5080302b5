"""What a state of YuniKorn holds that is not modelled makes answers conditional."""

import json
import shutil
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.coverage.yunikorn import YuniKornCoverage
from planner.plan import Uncovered
from planner.quota.yunikorn.queue import BACKOFF_AFTER
from planner.state.yunikorn import YuniKornState
from tests.conftest import YUNIKORN
from tests.told import told
from tests.yunikorn.building import (
    above_max,
    allocation,
    ask,
    node,
    of_release,
    state_of,
    two_queues,
)

QUOTA = "Not enough user quota"
QUEUE = "Maximum number of running applications reached the queue limit (root.serving)"
BACKS_OFF = "too many unschedulable asks in the application, waiting"
ASK = "bc018a5b-01eb-4d89-a462-6516dbfbb560"


Found = Sequence[Uncovered]
LeftOut = Callable[..., Found]
Changed = Callable[..., YuniKornState]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """Return the quickstart after a change of its files."""

    def found(
        change: Callable[[dict[str, Any]], object] = len,
        queues: Callable[[str], str] = lambda text: text,
        pods: list[dict[str, Any]] | None = None,
    ) -> YuniKornState:
        folder = tmp_path / "dump"
        shutil.copytree(YUNIKORN, folder, dirs_exist_ok=True)
        dump = json.loads((folder / "statedump.json").read_text("utf-8"))
        change(dump)
        (folder / "statedump.json").write_text(json.dumps(dump), "utf-8")
        text = (folder / "queues.yaml").read_text("utf-8")
        (folder / "queues.yaml").write_text(queues(text), "utf-8")
        if pods is not None:
            (folder / "pods.json").write_text(
                json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}), "utf-8"
            )
        state = planner.read(folder)
        assert isinstance(state, YuniKornState)
        return state

    return found


@pytest.fixture
def left_out(changed: Changed) -> LeftOut:
    """Return what a plan for the ask of the quickstart leaves out, after a change of its files."""
    return lambda *changes, **more: YuniKornCoverage(changed(*changes, **more)).unmodelled(ASK)


def said(state: YuniKornState) -> str:
    """Return what holds the ask back, which a dump tells: the plan is certain all the same."""
    plan = planner.solve(state, pending=ASK)
    assert not plan.coverage
    if plan.status == "infeasible":
        return plan.explanation.removeprefix("the core passes over it: ")
    assert plan.status == "optimal"
    return "".join(note.partition("the core passes over it: ")[2] for note in plan.notes)


def features(found: Found) -> list[str]:
    return [one.feature for one in found]


def with_line(text: str, more: str, name: str = "serving") -> str:
    """Return queues.yaml with a line more of a queue, whose name may be in other letters."""
    lines = text.splitlines()
    (place,) = [i for i, line in enumerate(lines) if line.strip() == f"- name: {name.lower()}"]
    start = lines[place][: lines[place].index("-") + 2]
    named = [f"{start}name: {name}", " " * len(start) + more]
    return "\n".join([*lines[:place], *named, *lines[place + 1 :]])


def of_ranker(dump: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the application of the ask, and the ask."""
    (ranker,) = (one for one in dump["applications"] if one["applicationID"] == "ranker")
    (ask,) = (one for one in ranker["requests"] if one["allocationKey"] == ASK)
    return ranker, ask


def test_the_quickstart_is_covered(left_out: LeftOut) -> None:
    assert not left_out()
    plan = planner.solve(planner.read(YUNIKORN), pending=ASK)
    assert (plan.status, plan.coverage) == ("optimal", ())


# In the quickstart the user serving, of the group serving, has 26 vcore in two applications of
# root.serving, and asks for 8 more. All others have more than 100, in groups of their own.
@pytest.mark.parametrize(
    ("name", "limit", "expected"),
    [
        ("serving", "users: ['*'], maxresources: {vcore: 34, memory: 1Ti}", []),
        ("serving", "users: ['*'], maxresources: {vcore: 33999m}", ["user-limits"]),
        ("Serving", "users: [serving], maxresources: {vcore: 33999m}", []),
        ("serving", "users: [serving, ada], maxresources: {memory: 1Gi}", ["user-limits"]),
        ("serving", "users: [serving], maxresources: {nvidia.com/gpu: 1}", []),
        ("serving", "users: [serving], maxresources: {vcore: 0}", []),
        ("serving", "users: [ada], groups: [ml], maxresources: {vcore: 1}", []),
        ("serving", "groups: [serving], maxresources: {vcore: 34}", []),
        ("serving", "groups: [serving], maxresources: {vcore: 33}", ["user-limits"]),
        ("root", "users: ['*'], maxresources: {vcore: 34}", []),
        ("root", "users: ['*'], maxresources: {vcore: 33}", ["user-limits"]),
        ("root", "groups: ['*'], maxresources: {vcore: 1000}", []),
        ("root", "groups: ['*'], maxresources: {vcore: 34}", ["user-limits"]),
        ("training", "users: ['*'], maxresources: {vcore: 1}", []),
        ("serving", "users: ['*'], maxapplications: 1", []),
    ],
)
def test_limits_of_users_on_the_way_to_the_queue(
    left_out: LeftOut, name: str, limit: str, expected: list[str]
) -> None:
    limits = f"limits: [{{limit: all, {limit}}}]"

    assert features(left_out(queues=lambda text: with_line(text, limits, name))) == expected


@pytest.mark.parametrize(
    ("most", "started", "expected"),
    [(2, False, []), (1, False, ["user-limits"]), (1, True, []), (0, False, [])],
)
def test_how_many_applications_of_a_user_may_run(
    left_out: LeftOut, most: int, *, started: bool, expected: list[str]
) -> None:
    def change(dump: dict[str, Any]) -> None:
        ranker, _ = of_ranker(dump)
        if not started:
            ranker["applicationState"], ranker["allocations"] = "Accepted", None

    limits = f"limits: [{{users: [serving], maxapplications: {most}}}]"
    assert features(left_out(change, lambda text: with_line(text, limits))) == expected


@pytest.mark.parametrize(("used", "expected"), [(26_000, ""), (26_001, QUOTA)])
def test_limits_by_the_usage_endpoints(changed: Changed, used: int, expected: str) -> None:
    """They go before queues.yaml, by which nobody may have anything."""

    def change(dump: dict[str, Any]) -> None:
        row = {"queuePath": "root", "maxResources": {"vcore": 34_000}}
        row |= {"resourceUsage": {"vcore": used}}
        below = {"queuePath": "root.serving"}
        usage = {"users": [{"userName": "serving", "queues": {**row, "children": [below]}}]}
        dump["x"] = {"usage": usage}

    limits = "limits: [{users: ['*'], maxresources: {vcore: 1}}]"
    assert said(changed(change, lambda text: with_line(text, limits))) == expected


def test_an_accepted_gang_that_no_queue_counts(changed: Changed) -> None:
    """Its allocations are there since before a restart: queue objects say that it runs nowhere."""

    def change(accepted: list[str], dump: dict[str, Any]) -> None:
        ranker, _ = of_ranker(dump)
        ranker["applicationState"] = "Accepted"
        (root,) = dump["queues"]
        of_serving = next(one for one in root["children"] if one["queuename"] == "root.serving")
        root["status"] = of_serving["status"] = "Active"
        of_serving |= {"maxRunningApps": 1, "runningApps": 1, "allocatingAcceptedApps": accepted}

    assert said(changed(partial(change, ["ranker"]))) == ""
    assert said(changed(partial(change, []))) == QUEUE


def test_what_stands_in_pods_alone(left_out: LeftOut) -> None:
    """A dump with containers has them without ports: only the pod itself says that it has none."""

    def change(dump: dict[str, Any]) -> None:
        dump["rmDiagnostics"]["cache"]["pods"]["serving/ranker-2"]["containers"] = [{"name": "c"}]

    found = left_out(change)
    assert features(found) == ["predicates"]
    told(found[0].evidence)
    metadata = {"name": "ranker-2", "namespace": "serving", "uid": ASK}
    spec = {"containers": [{"name": "c"}], "priorityClassName": "serving"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    assert features(left_out(change, pods=[pod])) == []


def test_limits_where_the_dump_does_not_say_whose_an_application_is(left_out: LeftOut) -> None:
    def change(dump: dict[str, Any]) -> None:
        del of_ranker(dump)[0]["user"]

    limits = "limits: [{users: [ada], maxresources: {vcore: 1000}}]"
    assert features(left_out(change, lambda text: with_line(text, limits))) == ["user-limits"]


def test_the_core_counts_users_of_all_partitions_together() -> None:
    value = two_queues(allocation("one", {"gpu": 4}))
    value["applications"][1]["user"] = "ada"
    (partition,) = value["queues"]["partitions"]
    partition["limits"] = [{"users": ["*"], "maxresources": {"gpu": "1"}}]
    alone = YuniKornCoverage(state_of(value))
    assert alone.unmodelled("ask") == ()
    # A simulation goes on to asks that are not there yet.
    assert [one.feature for one in alone.everything()] == ["user-limits"]

    value["queues"]["partitions"].append({**deepcopy(partition), "name": "other", "limits": []})
    several = YuniKornCoverage(state_of(value)).unmodelled("ask")
    assert [one.feature for one in several] == ["user-limits"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodeSelector": {"zone": "a"}}, ["predicates"]),
        ({"affinity": {"nodeAffinity": {}}}, ["predicates"]),
        ({"topologySpreadConstraints": [{"maxSkew": 1}]}, ["predicates"]),
        ({"priorityClassName": "serving"}, []),
        ({"containers": [{"ports": [{"hostPort": 80}]}]}, ["predicates"]),
        ({"containers": [{"ports": [{"containerPort": 80}]}]}, []),
        ({"volumes": [{"persistentVolumeClaim": {"claimName": "data"}}]}, ["predicates"]),
        ({"volumes": [{"ephemeral": {}}]}, ["predicates"]),
        ({"volumes": [{"emptyDir": {}}, {"configMap": {"name": "x"}}]}, []),
    ],
)
def test_what_binds_the_pod_to_nodes(
    left_out: LeftOut, spec: dict[str, Any], expected: list[str]
) -> None:
    metadata = {"name": "ranker-2", "namespace": "serving", "uid": ASK}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    assert features(left_out(pods=[pod])) == expected


TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("tolerations", "taint", "of_ask", "keeps_off"),
    [
        ([], {}, {}, True),
        ([], {"effect": "NoExecute"}, {}, True),
        ([], {"effect": "PreferNoSchedule"}, {}, False),
        ([{"operator": "Exists"}], {}, {}, False),
        ([{"key": "gpu", "operator": "Exists"}], {}, {}, False),
        ([{"key": "gpu", "value": "yes"}], {}, {}, False),
        ([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}], {}, {}, False),
        ([{"key": "gpu", "value": "no"}], {}, {}, True),
        ([{"key": "cpu", "operator": "Exists"}], {}, {}, True),
        ([{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}], {}, {}, True),
        ([{"key": "gpu", "operator": "Gt", "value": "1"}], {}, {}, True),
        # Nodes that are out of the question: n2 is no other's required node, and too small for 8.
        ([], {}, {"requiredNodeId": "n1"}, False),
        ([], {}, {"requiredNodeId": "n2"}, True),
        ([], {}, {"resource": {"gpu": 8}}, False),
    ],
)
def test_a_taint_keeps_the_pod_off_a_node(
    tolerations: list[dict[str, str]],
    taint: dict[str, str],
    of_ask: dict[str, Any],
    *,
    keeps_off: bool,
) -> None:
    """Source: Kubernetes, concepts, Taints and Tolerations."""
    value = two_queues(allocation("one", {"gpu": 4}))
    value["applications"][1]["requests"][0] |= of_ask
    value["nodes"][0]["nodesInfo"].append(node("n2", {"gpu": 4}))
    pod = {"namespace": "a", "name": "b", "uid": "ask", "tolerations": tolerations}
    nodes = {"n1": {"name": "n1"}, "n2": {"name": "n2", "taints": [TAINT | taint]}}
    value["rmDiagnostics"] = {"cache": {"pods": {"a/b": pod}, "nodes": nodes}}
    found = YuniKornCoverage(state_of(value)).unmodelled("ask")
    assert [one.evidence for one in found] == (
        ["it has no toleration of the taint gpu of n2"] if keeps_off else []
    )
    value["nodes"][0]["nodesInfo"][1]["schedulable"] = False
    again = YuniKornCoverage(state_of(value)).unmodelled("ask")
    assert bool(again) == (of_ask == {"requiredNodeId": "n2"})


@pytest.mark.parametrize(
    ("on", "of_ask", "objects"),
    [
        ("n1", {}, ()),
        ("gone", {}, ("node gone",)),
        # The root may have what all nodes have together: less, by this dump, than it uses.
        ("gone", {"requiredNodeId": "n1"}, ("node gone",)),
        ("n1", {"requiredNodeId": "n1"}, ()),
        ("n1", {"requiredNodeId": "gone"}, ("node gone",)),
    ],
)
@pytest.mark.parametrize("recorded", [False, True])
def test_nodes_that_the_dump_lacks(
    on: str, of_ask: dict[str, Any], objects: tuple[str, ...], *, recorded: bool
) -> None:
    """A recorded instance is a whole cluster: it has ``now``, and a dump its ``timestamp``."""
    value = two_queues(allocation("one", {"gpu": 2}), allocation("two", {"gpu": 4}, on=on))
    value["applications"][1]["requests"][0] |= of_ask
    if not recorded:
        value["timestamp"] = value.pop("now")
    state = state_of(value)
    plan = planner.solve(state, "ask")
    expected = () if recorded else objects
    assert [one.objects for one in plan.coverage] == [expected] * bool(expected)
    assert {(one.feature, one.kind) for one in plan.coverage} <= {("nodes", "assumed")}
    assert (plan.status == "conditional") == bool(expected)
    assert any("nodes that the dump does not have" in one for one in plan.notes) == (on == "gone")


def test_an_ask_of_another_node_is_none_of_the_concern_of_others() -> None:
    """That a node is gone which only one ask requires says nothing of the others."""
    value = two_queues(allocation("one", {"gpu": 4}))
    value["timestamp"] = value.pop("now")
    elsewhere = ask("daemon", {"gpu": 1}, requiredNodeId="gone")
    value["applications"][1]["requests"].append(elsewhere)
    known = YuniKornCoverage(state_of(value))
    assert not known.unmodelled("ask")
    assert [one.objects for one in known.unmodelled("daemon")] == [("node gone",)]


@pytest.mark.parametrize(
    ("group", "placeholder", "expected"),
    [
        ("workers", {"placeholder": True, "taskGroupName": "workers"}, ["placeholders"]),
        ("workers", {"placeholder": True, "taskGroupName": "others"}, []),
        ("workers", {"taskGroupName": "workers"}, []),
        ("", {"placeholder": True, "taskGroupName": "workers"}, []),
    ],
)
@pytest.mark.parametrize("part", ["allocations", "requests"])
def test_placeholders_of_the_group(
    left_out: LeftOut, group: str, placeholder: dict[str, Any], part: str, expected: list[str]
) -> None:
    """An ask waits for the placeholders of its group that are held or asked for.

    Source: yunikorn-core be3bb487, scheduler/objects/application.go (canReplace,
    addPlaceholderData).
    """

    def held(dump: dict[str, Any]) -> None:
        ranker, ask = of_ranker(dump)
        other = {**ranker["allocations"][0], "allocationKey": "other", **placeholder}
        ask["taskGroupName"] = group
        ranker[part].append(other)

    assert features(left_out(held)) == expected


@pytest.mark.parametrize(
    ("state", "others", "maximum", "expected"),
    [
        ("Accepted", "Running", 1, ["running-applications"]),
        ("Accepted", "Accepted", 1, ["running-applications"]),
        ("Accepted", "Completing", 1, []),
        ("Accepted", "Running", 2, []),
        ("Accepted", "Running", 0, []),
        ("Running", "Running", 1, []),
    ],
)
def test_an_application_that_may_not_start(
    left_out: LeftOut, state: str, others: str, maximum: int, expected: list[str]
) -> None:
    """Besides ``ranker``, which holds nothing, one application is in the queue.

    Source: yunikorn-core be3bb487, scheduler/objects/queue.go (TryAllocate, canRunApp,
    incRunningApps, setAllocatingAccepted).
    """

    def accepted(dump: dict[str, Any]) -> None:
        known = {one["applicationID"]: one for one in dump["applications"]}
        known["ranker"] |= {"applicationState": state, "allocations": []}
        serving = known["ranker"]["queueName"]
        (other,) = (
            one
            for one in known.values()
            if one["queueName"] == serving and one["applicationID"] != "ranker"
        )
        other["applicationState"] = others

    capped = partial(with_line, more=f"maxapplications: {maximum}")
    assert features(left_out(accepted, capped)) == expected


@pytest.mark.parametrize("waits", [True, False])
def test_the_core_goes_by_its_count_of_placeholders(changed: Changed, *, waits: bool) -> None:
    """Whether a placeholder of the group is still there does not matter."""

    def counted(dump: dict[str, Any]) -> None:
        ranker, ask = of_ranker(dump)
        ask["taskGroupName"] = "workers"
        counts = {"taskGroupName": "workers", "count": 3, "replaced": 1, "timedout": 2 - waits}
        ranker["placeholderData"] = [counts]

    assert said(changed(counted)) == ("it waits for a placeholder of its group" if waits else "")


@pytest.mark.parametrize(
    ("deadline", "expected"),
    [
        ("2026-11-12T09:42:11Z", f"{BACKS_OFF}, until 2026-11-12T09:42:11+00:00"),
        ("2026-11-12T09:42:09Z", ""),
    ],
)
def test_an_application_that_backs_off(changed: Changed, deadline: str, expected: str) -> None:
    """The dump is of 2026-11-12T09:42:10Z."""

    def waits(dump: dict[str, Any]) -> None:
        of_ranker(dump)[0]["backoffDeadline"] = deadline

    assert said(changed(waits)) == expected


@pytest.mark.parametrize(
    ("most", "older", "priority", "expected"),
    [
        ("2", 2, 0, BACKS_OFF),
        ("2", 2, 1000, BACKS_OFF),
        ("2", 2, -1, ""),
        ("2", 1, 0, ""),
        ("0", 2, 0, ""),
        ("-2", 2, 0, ""),
        ("many", 2, 0, ""),
    ],
)
def test_asks_after_others_of_an_application_that_may_back_off(
    changed: Changed, most: str, older: int, priority: int, expected: str
) -> None:
    """Asks of higher priority come first, then older ones; the property is inherited.

    Source: yunikorn-core be3bb487, scheduler/objects/application.go (tryAllocate), allocation.go
    (LessThan) and queue.go (UpdateQueueProperties).
    """

    def crowded(dump: dict[str, Any]) -> None:
        ranker, ask = of_ranker(dump)
        more = {"requestTime": ask["requestTime"] - 1, "allocationTags": {}}
        more["priority"] = str(int(ask["priority"]) + priority)
        ranker["requests"] += [{**ask, **more, "allocationKey": f"more-{i}"} for i in range(older)]

    def backing_off(text: str) -> str:
        of_root = "properties:\n"
        return text.replace(of_root, f"{of_root}          {BACKOFF_AFTER}: {most}\n", 1)

    assert said(changed(crowded, backing_off)) == expected


def test_an_ask_in_a_queue_that_became_a_parent(changed: Changed) -> None:
    """Source: yunikorn-core be3bb487, scheduler/objects/queue.go (applyConf, TryAllocate)."""
    parent = partial(with_line, more="parent: true")
    parents = "its queue is a parent, and the core looks at asks in leaves only"
    assert said(changed(queues=parent)) == parents


@pytest.mark.parametrize(
    ("release", "policy", "expected"),
    [
        ("1.7.0", "fair", ["release"]),
        ("1.7.0", "fifo", []),
        ("1.8.0", "fair", []),
        ("1.5.2", "fifo", ["release"]),
        ("v1.6.0-1", "fifo", ["release"]),
        ("1.6.1", "fifo", []),
    ],
)
def test_nobody_knows_who_comes_first_by_fairness_nor_rules_up_to_1_6_0(
    release: str, policy: str, expected: list[str]
) -> None:
    """Up to 1.7 ten asks of a queue are tried in every cycle."""
    value = of_release(two_queues(allocation("one", {"gpu": 4})), release)
    value["applications"][1]["requests"] += [ask(f"more-{i}", {"gpu": 1}) for i in range(10)]
    (root,) = value["queues"]["partitions"][0]["queues"]
    root["queues"][1]["properties"]["application.sort.policy"] = policy
    assert features(YuniKornCoverage(state_of(value)).unmodelled("ask")) == expected


@pytest.mark.parametrize(
    ("release", "goes", "expected"),
    [("1.7.0", False, []), ("1.8.0", True, ["release"]), ("1.9.0", True, [])],
)
def test_how_1_8_comes_down_to_a_lowered_max_is_not_reproduced(
    release: str, expected: list[str], *, goes: bool
) -> None:
    """Before there is none. Source: yunikorn-core v1.8.0, scheduler/objects/quota_preemptor.go."""
    state = state_of(of_release(above_max(), release))
    assert features(YuniKornCoverage(state).unmodelled("root.research")) == expected
    plan = planner.solve(state, quota="root.research")
    assert plan.greedy is not None
    assert bool(plan.greedy.keys) == goes


@pytest.mark.parametrize(
    ("said", "evidence"),
    [
        ({"preemptionDelay": "30s"}, "in the dump preemptionDelay is 30 s, by queues.yaml 60 s"),
        ({"isPreemptionFence": True}, "isPreemptionFence is true, by queues.yaml false"),
        ({"isPriorityFence": True}, "isPriorityFence is true, by queues.yaml false"),
        ({"preemptionEnabled": False}, "preemptionEnabled is false, by queues.yaml true"),
        ({"priorityOffset": -3}, "priorityOffset is -3, by queues.yaml 0"),
        ({"preemptionDelay": "1m0s"}, ""),
    ],
)
def test_what_the_core_made_of_properties(
    left_out: LeftOut, said: dict[str, Any], evidence: str
) -> None:
    """Up to 1.8 a queue lost what it had inherited once queues.yaml changed.

    Source: yunikorn-core v1.8.0, scheduler/partition.go (updateQueues, which merges nothing), and
    be3bb487, webservice/dao/queue_info.go.
    """

    def changed(dump: dict[str, Any]) -> None:
        (serving,) = (
            one for one in dump["queues"][0]["children"] if one["queuename"] == "root.serving"
        )
        serving.update(said)

    found = left_out(changed)
    assert features(found) == (["in-force"] if evidence else [])
    for one in found:
        assert (one.kind, one.objects) == ("contradiction", ("queue root.serving",))
        assert evidence in one.evidence


def test_another_queues_yaml_is_not_held_against_what_is_in_force(left_out: LeftOut) -> None:
    assert features(left_out(queues=lambda text: text.replace("60s", "10s"))) == []
