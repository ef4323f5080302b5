"""YuniKorn: every finding where it must be and where it must not, and what its example does."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import planner
from planner.operations.lint import lint
from planner.operations.lint.lint import KINDS, Finding, files_of
from planner.reader.yunikorn import read_yunikorn_objects
from planner.reference.yunikorn.flow import Step, run_flow
from tests.told import told
from tests.yunikorn.building import Json, allocation, application, ask, cluster_value, node, queue

NODES = [node("n1", {"gpu": 4})]
TWO = {"gpu": 2}
PRIORITIES = ("-1000000", "-1", "0", "1", "1000000")


def two(name: str, **more: Any) -> Json:
    return queue(name, guaranteed=TWO, **more)


def cluster(*queues: Json, runs: tuple[Json, ...] = (), **more: Any) -> Json:
    return cluster_value(list(queues), NODES, list(runs), **more)


def opted(**x: Any) -> Json:
    return application("app", "root.b", allocation("k", {"gpu": 1}, x=x))


def asks(gpus: int) -> Json:
    """Build an application of root.a that asks for so many GPUs."""
    return application("waits", "root.a", asks=(ask("asks", {"gpu": gpus}, taskGroupName="tg"),))


def of_gang(one: Json, count: int, replaced: int, *, there: bool) -> Json:
    """Let an application be a gang; a placeholder is there, or none."""
    counts = {"taskGroupName": "tg", "count": count, "replaced": replaced}
    holds = allocation("ph", {"gpu": 1}, placeholder=True, taskGroupName="tg")
    return one | {"placeholderData": [counts], "allocations": [holds] * there}


def in_file(gpus: int, **whom: Any) -> Json:
    """Build root.a with a limit of ada's, or of somebody else's, of so many GPUs; 0 is none."""
    limit = (whom or {"users": ["ada"]}) | {"maxresources": {"gpu": str(gpus)}}
    return two("a") | {"limits": [limit] if gpus else []}


def in_force(path: str, kind: str = "user", who: str = "ada", **most: int) -> Json:
    """Say what the usage endpoints say."""
    rows = {"queuePath": path, "maxResources": most}
    return {"usage": {f"{kind}s": [{f"{kind}Name": who, "queues": rows}]}}


class Case(NamedTuple):
    """A cluster with a finding, one without, and an edit of the example that ends it."""

    code: str
    found: Json
    clean: Json
    edit: Callable[[Json], None]


def of_queue(name: str, **fields: Any) -> Callable[[Json], None]:
    """Set resources or properties of a queue, wherever it stands; None takes one away."""

    def edit(value: Json) -> None:
        ahead = [value["queues"]["partitions"][0]["queues"][0]]
        while ahead:
            one = ahead.pop()
            ahead += one["queues"]
            if one["name"] == name:
                one["properties"] |= {k.replace("_", "."): v for k, v in fields.items()}
                one["properties"] = {k: v for k, v in one["properties"].items() if v is not None}

    return edit


def resources(name: str, **fields: Any) -> Callable[[Json], None]:
    def edit(value: Json) -> None:
        for one in value["queues"]["partitions"][0]["queues"][0]["queues"]:
            if one["name"] == name:
                one["resources"] |= fields

    return edit


def switched_on(value: Json) -> None:
    value["queues"]["partitions"][0]["preemption"]["enabled"] = True


def larger_node(value: Json) -> None:
    value["nodes"][0]["nodesInfo"][0]["capacity"]["gpu"] += 1


CASES = (
    Case(
        "YL-01",
        cluster(queue("a"), two("b")),
        cluster(queue("p", queue("a"), guaranteed=TWO), two("b")),
        resources("a", guaranteed={"gpu": 1}),
    ),
    Case(
        "YL-02",
        cluster(two("a"), two("b"), preemption={"enabled": False}),
        cluster(queue("a"), queue("b"), preemption={"enabled": False}),
        switched_on,
    ),
    Case(
        "YL-03",
        cluster(two("a", preemption_policy="fence"), two("b")),
        cluster(queue("p", two("a"), two("c"), preemption_policy="fence"), two("b")),
        of_queue("a", preemption_policy=None),
    ),
    Case(
        "YL-04",
        cluster(two("a", max={"gpu": 1}), two("b")),
        cluster(two("a", max={"gpu": 2}), two("b")),
        resources("a", max={}),
    ),
    Case(
        "YL-05",
        cluster(queue("a", guaranteed={"gpu": 3}), two("b")),
        cluster(two("a"), two("b")),
        larger_node,
    ),
    Case("YL-06", cluster(two("q10"), two("q1")), cluster(two("q10"), two("q2")), larger_node),
    Case(
        "YL-07",
        cluster(two("a"), two("b", preemption_delay="30 seconds")),
        cluster(two("a"), two("b", preemption_delay="30s", priority_offset="-0")),
        of_queue("b", preemption_delay=None),
    ),
    Case(
        "YL-08",
        cluster(two("a"), two("b"), runs=(opted(allowPreemptSelf=False),)),
        cluster(two("a"), two("b"), runs=(opted(allowPreemptSelf=True),)),
        of_queue("b", preemption_policy="disabled"),
    ),
    Case(
        "YL-09",
        cluster(two("a"), two("b", quota_preemption_delay="1h")),
        cluster(two("a"), two("b", quota_preemption_delay="1h"),
                preemption={"quotapreemptionenabled": True}),
        of_queue("b", quota_preemption_delay=None),
    ),
    Case(
        "YL-10",
        cluster(two("a"), two("b"), runs=(asks(3),)),
        cluster(two("a"), two("b"), runs=(asks(2),)),
        resources("a", guaranteed={"gpu": 3}),
    ),
    Case(
        "YL-11",
        cluster(two("a"), two("b"), runs=(of_gang(asks(1), 2, 1, there=False),)),
        cluster(two("a"), two("b"), runs=(of_gang(asks(1), 2, 1, there=True),)),
        lambda value: value["applications"][-1]["placeholderData"][0].update(timedout=1),
    ),
    Case(
        "YL-12",
        cluster(in_file(3), two("b"), x=in_force("root.a", gpu=2)),
        cluster(in_file(3), two("b"), x=in_force("root.a", gpu=3)),
        lambda value: value.pop("x"),
    ),
    Case(
        "YL-13",
        cluster(queue("a", guaranteed={"cpu": "2"}), two("b")),
        cluster(queue("a", guaranteed={"vcore": "2"}), two("b")),
        resources("a", guaranteed={"vcore": "2"}),
    ),
)  # fmt: skip


def found_in(value: Json) -> list[Finding]:
    return list(lint(read_yunikorn_objects(value, where="test")).findings)


@cache
def finding_of(code: str) -> Finding:
    case = next(case for case in CASES if case.code == code)
    (found,) = (one for one in found_in(case.found) if one.code == code)
    return found


def read_back(found: Finding, folder: Path) -> Json:
    """Write the example as `--examples` does, read the file as a state, and return its objects."""
    ((name, text),) = files_of([found])
    path = folder / name
    path.write_text(text, encoding="ascii")
    assert planner.read(path).pending == (found.example.pending,)
    value: Json = json.loads(text)
    return value


def first_step(value: Json, priority: str = "0") -> Step | None:
    """Return what the only ask does first, None if it finds neither room nor victims."""
    value = deepcopy(value)
    value["applications"][-1]["requests"][0]["priority"] = priority
    steps = run_flow(read_yunikorn_objects(value, where="flow")).steps
    return steps[0] if steps else None


def edited(value: Json, edit: Callable[[Json], None]) -> Json:
    value = deepcopy(value)
    edit(value)
    return value


def cases(family: str) -> list[Any]:
    return [pytest.param(c, id=c.code) for c in CASES if KINDS[c.code].family == family]


def test_every_kind_of_yunikorn_has_a_case() -> None:
    assert [case.code for case in CASES] == [code for code in KINDS if code.startswith("YL")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_found_here_and_not_nearby(case: Case) -> None:
    assert finding_of(case.code).objects
    assert case.code not in {one.code for one in found_in(case.clean)}


@pytest.mark.parametrize("case", cases("impossible"))
def test_impossible_finds_nobody_whatever_the_priority(case: Case, tmp_path: Path) -> None:
    value = read_back(finding_of(case.code), tmp_path)
    assert [first_step(value, priority) for priority in PRIORITIES] == [None] * len(PRIORITIES)
    cured = first_step(edited(value, case.edit))
    assert cured is not None
    assert bool(cured.victims) == (case.code != "YL-05")


def test_a_gang_waits_until_its_placeholders_are_counted_out(tmp_path: Path) -> None:
    value = read_back(finding_of("YL-11"), tmp_path)
    assert first_step(value) is None
    (case,) = cases("starvation")
    step = first_step(edited(value, case.values[0].edit))
    assert step is not None
    assert step.kind == "allocate"


def test_asks_in_a_queue_that_became_a_parent() -> None:
    """And those of a queue to which nothing is guaranteed are told of by YL-01 alone."""
    parent = two("a") | {"parent": True}
    (found,) = (
        one for one in found_in(cluster(parent, two("b"), runs=(asks(1),))) if one.code == "YL-10"
    )
    assert found.objects == ("queue/root.a", "ask/asks")
    told(found.reason)
    none = found_in(cluster(queue("a"), two("b"), runs=(asks(1),)))
    assert [one.code for one in none] == ["YL-01"]


@pytest.mark.parametrize("field", ["guaranteed", "max"])
def test_cores_are_vcore_in_guaranteed_and_in_max(field: str, tmp_path: Path) -> None:
    """Pods ask for vcore: 2 of cpu keep 3 cores neither out of the queue nor from preempting."""
    parent = queue("p", queue("a"), **{field: {"cpu": "2"}})
    (found,) = (one for one in found_in(cluster(parent, queue("b"))) if one.code == "YL-13")
    assert found.objects == ("queue/root.p",)
    value = read_back(found, tmp_path)
    cured = edited(value, resources("p", **{field: {"vcore": "2"}}))
    steps = [first_step(value), first_step(cured)]
    done = [step is not None and (step.kind, bool(step.victims)) for step in steps]
    assert done == [("preempt", True) if field == "guaranteed" else ("allocate", False), False]
    assert not [
        one
        for one in found_in(cluster_value([parent, queue("b")], [node("n", {"cpu": 4})], []))
        if one.code == "YL-13"
    ]


@pytest.mark.parametrize(
    ("file", "force", "fits"),
    [
        (in_file(3), in_force("root.a", gpu=2), False),
        (in_file(2), in_force("root.a", gpu=3), True),
        (in_file(0), in_force("root.a", gpu=2), False),
        (in_file(2), in_force("root.a"), True),
        (in_file(3, users=["*"]), in_force("root.a", gpu=2), False),
        (in_file(2, groups=["ops"]), in_force("root.a", "group", "ops", gpu=3), True),
        (in_file(0), in_force("root.a", "group", "ops", gpu=3), False),
    ],
)
def test_a_restart_changes_who_is_passed_over(
    file: Json, force: Json, tmp_path: Path, *, fits: bool
) -> None:
    """The example asks for a little more than the smaller limit."""
    (found,) = (one for one in found_in(cluster(file, two("b"), x=force)) if one.code == "YL-12")
    value = read_back(found, tmp_path)
    assert (first_step(value) is not None) == fits
    del value["x"]
    assert (first_step(value) is not None) != fits


@pytest.mark.parametrize("code", ["YL-06", "YL-08"])
def test_protected_in_name_only(code: str, tmp_path: Path) -> None:
    value = read_back(finding_of(code), tmp_path)
    step = first_step(value)
    assert step is not None
    assert step.victims
    held = {
        one["allocationKey"]: one
        for application in value["applications"]
        for one in application["allocations"]
    }
    if code == "YL-08":
        assert not held[step.victims[0]]["x"]["allowPreemptSelf"]
    else:  # no more is used than is guaranteed
        assert sum(one["resource"]["gpu"] for one in held.values()) == TWO["gpu"]


def test_a_disabled_queue_protects_those_who_opted_out() -> None:
    case = next(case for case in CASES if case.code == "YL-08")
    assert first_step(edited(finding_of("YL-08").example.state, case.edit)) is None


@pytest.mark.parametrize("code", ["YL-07", "YL-09"])
def test_useless_changes_nothing(code: str, tmp_path: Path) -> None:
    value = read_back(finding_of(code), tmp_path)
    case = next(case for case in CASES if case.code == code)
    without = edited(value, case.edit)
    assert without != value
    for priority in PRIORITIES:
        assert first_step(value, priority) == first_step(without, priority)


@pytest.mark.parametrize(
    ("key", "value", "readable"),
    [
        ("preemption_policy", "fenced", False),
        ("preemption_policy", "disabled", True),
        ("preemption_policy", "Disabled", True),
        ("preemption_policy", "", True),
        ("preemption_delay", "", False),
        ("preemption_delay", "0s", False),
        ("preemption_delay", "1m30s", True),
        ("priority_policy", "disabled", False),
        ("priority_policy", "fence", True),
        ("priority_offset", "1.5", False),
        ("priority_offset", "3000000000", False),
        ("priority_offset", "-", False),
        ("priority_offset", "+-", False),
        ("priority_offset", "+00", True),
        ("priority_offset", "-100", True),
        ("quota_preemption_delay", "soon", False),
        ("quota_preemption_delay", "0", True),
        ("application_sort_policy", "anything", True),
    ],
)
def test_what_can_be_read(key: str, value: str, *, readable: bool) -> None:
    codes = [one.code for one in found_in(cluster(two("a"), two("b", **{key: value})))]
    assert ("YL-07" not in codes) == readable


def test_a_fence_around_others_that_are_disabled() -> None:
    inside = queue("p", two("a"), two("c", preemption_policy="disabled"), preemption_policy="fence")
    (found,) = (one for one in found_in(cluster(inside, two("b"))) if one.code == "YL-03")
    assert found.objects == ("queue/root.p.a", "queue/root.p")
    told(found.reason)


def test_leaves_with_the_same_name_are_found_like_any_others() -> None:
    """A change to one of them is not made to the other, elsewhere in the tree."""
    for names in (("batch", "web"), ("batch", "batch")):
        queues = [queue(above, queue(leaf)) for above, leaf in zip("ab", names, strict=True)]
        paths = {f"queue/root.{above}.{leaf}" for above, leaf in zip("ab", names, strict=True)}
        found = [one for one in found_in(cluster(*queues)) if one.code == "YL-01"]
        assert {path for one in found for path in one.objects} == paths


def test_a_leaf_is_renamed_and_not_its_namesake() -> None:
    """YL-06 gives root.a another name: the leaf root.ab.a keeps its own, and its applications."""
    (found,) = found_in(cluster(two("a"), queue("ab", two("a"))))
    assert (found.code, found.objects) == ("YL-06", ("queue/root.a", "queue/root.ab.a"))


def test_a_property_is_tried_at_or_below_its_queue() -> None:
    """And not in a queue whose name only begins with that of its queue."""
    value = cluster(two("ab"), queue("a", two("c"), preemption_policy="fenced"), two("b"))
    (found,) = (one for one in found_in(value) if one.code == "YL-07")
    (application,) = [
        one for one in found.example.state["applications"] if one["applicationID"] == "app-asks"
    ]
    assert application["queueName"] == "root.a.c"


def test_amounts_in_cores() -> None:
    value = cluster_value(
        [queue("a", guaranteed={"vcore": "2"}), queue("b")], [node("n1", {"vcore": 4000})], []
    )
    (found,) = found_in(value)
    assert (found.code, found.objects) == ("YL-01", ("queue/root.b",))


MIXED = [
    queue("a", queue("x", guaranteed={"vcore": "10", "memory": "50Gi"}), max={"memory": "10Gi"}),
    queue("b", guaranteed={"vcore": "10", "memory": "20Gi"}),
]
MIXED_NODES = [node("n1", {"vcore": 15000, "memory": 60 * 2**30})]


@pytest.mark.parametrize("order", [("vcore", "memory"), ("memory", "vcore")])
def test_every_guaranteed_type_is_looked_at(order: tuple[str, ...]) -> None:
    """Whichever comes first in queues.yaml; amounts are written as there."""

    def ordered(one: Json) -> Json:
        limits = {
            limit: {name: amounts[name] for name in order if name in amounts}
            for limit, amounts in one["resources"].items()
        }
        return {**one, "resources": limits, "queues": [ordered(below) for below in one["queues"]]}

    found = found_in(cluster_value([ordered(one) for one in MIXED], MIXED_NODES, []))
    assert {(one.code, one.reason.split(":")[0]) for one in found} == {
        ("YL-04", "queue/root.a.x is guaranteed 50Gi of memory and limited to 10Gi"),
        ("YL-05", "The queues are guaranteed 20 of vcore, and the nodes have 15"),
        ("YL-05", "The queues are guaranteed 70Gi of memory, and the nodes have 60Gi"),
    }


def test_findings_that_are_the_same_in_every_type_are_reported_once() -> None:
    limits = {"guaranteed": {"vcore": "2", "memory": "2Gi"}}
    nodes = [node("n1", {"vcore": 4000, "memory": 2**32})]
    queues = [queue("a", **limits), queue("ab", **limits, preemption_delay="soon"), queue("c")]
    found = found_in(cluster_value(queues, nodes, []))
    assert [one.code for one in found] == ["YL-01", "YL-06", "YL-07"]


def test_a_finding_names_its_partition_where_there_are_several() -> None:
    value = cluster(queue("a"), two("b"))
    (partition,) = value["queues"]["partitions"]
    value["queues"]["partitions"] = [partition, {**partition, "name": "other"}]
    value["nodes"].append({**value["nodes"][0], "partitionName": "other"})
    found = [one for one in found_in(value) if one.code == "YL-01"]
    for one, name in zip(found, ("default", "other"), strict=True):
        assert one.objects == ("queue/root.a", f"partition/{name}")
        told(one.reason)


def test_sound_queues_have_no_findings() -> None:
    assert found_in(cluster(two("a"), two("b"))) == []
