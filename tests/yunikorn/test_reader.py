"""What is read: queues.yaml in all its forms, instances and state dumps.

Source: docs/semantics/yunikorn.md §2 and §14.
"""

from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest

import planner
from planner.errors import InputError, SchemaError
from planner.quota.yunikorn.cluster import prepare
from planner.quota.yunikorn.queue import Properties
from planner.reader.yunikorn import ORIGINATORS_UNKNOWN, PLACED_MEANWHILE, read_yunikorn_objects
from planner.reader.yunikorn_pods import OPT_OUT_UNKNOWN
from planner.reader.yunikorn_queues import OTHER_AMOUNTS, read_queues
from planner.solver.yunikorn.start import lowered_quotas
from planner.state.clock import SECOND, from_nanoseconds
from planner.state.yunikorn import QueueConfig, YuniKornState, parse_yunikorn_quantity
from tests.recorded import put
from tests.told import told
from tests.yunikorn.building import NOW, allocation, ask, decided, two_queues

Json = dict[str, Any]

QUEUES = """
partitions:
  - name: default
    preemption:
      enabled: false
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            properties:
              priority.offset: 10
              preemption.delay: 10s
            resources:
              guaranteed: {vcore: 1500m, memory: 2Gi}
              max: {vcore: 4, nvidia.com/gpu: "2"}
"""

CAPITALS = {
    "Partitions": [
        {
            "Name": "default",
            "Preemption": {"Enabled": False},
            "Queues": [
                {
                    "Name": "root",
                    "Parent": True,
                    "SubmitACL": "*",
                    "Resources": {},
                    "Queues": [
                        {
                            "Name": "a",
                            "ChildTemplate": {"Resources": {}},
                            "Properties": {"priority.offset": "10", "preemption.delay": "10s"},
                            "Resources": {
                                "Guaranteed": {"vcore": "1500m", "memory": "2Gi"},
                                "Max": {"vcore": "4", "nvidia.com/gpu": "2"},
                            },
                        }
                    ],
                }
            ],
        }
    ]
}

CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "yunikorn-configs"},
    "data": {"queues.yaml": QUEUES},
}


@pytest.mark.parametrize("form", [QUEUES, CAPITALS, CONFIG_MAP])
def test_every_form_of_queues_yaml(form: object) -> None:
    (partition,) = read_queues(form, "test").partitions
    (root,) = partition.queues
    (leaf,) = root.queues
    assert not partition.preemption.enabled
    assert leaf.properties == {"priority.offset": "10", "preemption.delay": "10s"}
    assert leaf.resources.guaranteed == {"vcore": 1500, "memory": 2 * 2**30}
    assert leaf.resources.max == {"vcore": 4000, "nvidia.com/gpu": 2}


def test_numbers_are_read_as_they_are_written() -> None:
    """Names and amounts are texts to the core: a leading zero makes no octal number.

    Source: yunikorn-core be3bb487, common/configs/config.go (QueueConfig, with yaml.v3).
    """
    text = """
partitions:
  - name: default
    queues:
      - name: 0123
        maxapplications: 3
        properties: {priority.offset: 010}
        resources: {max: {memory: 010}}
"""
    (leaf,) = read_queues(text, "test").partitions[0].queues[0].queues
    assert (leaf.name, leaf.maxapplications) == ("0123", 3)
    assert leaf.properties == {"priority.offset": "010"}
    assert leaf.resources.max == {"memory": 10}


@pytest.mark.parametrize(
    ("text", "resource", "amount"),
    [
        ("2", "vcore", 2000),
        ("200m", "vcore", 200),
        ("2k", "vcore", 2_000_000),
        ("2", "memory", 2),
        ("2G", "memory", 2 * 10**9),
        ("2Ei", "memory", 2 * 2**60),
        ("8Ei", "memory", None),
        ("10E", "memory", None),
        ("200m", "memory", None),
        ("1.5", "vcore", None),
        ("-1", "vcore", None),
        ("1 G", "memory", 10**9),
        (" 3Ki\n", "memory", 3 * 2**10),
        ("1 Gi B", "memory", None),
        ("1 ", "vcore", 1000),
        ("1K", "memory", None),
        ("", "memory", None),
    ],
)
def test_quantities(text: str, resource: str, amount: int | None) -> None:
    """White space counts nothing around a quantity and before its suffix.

    Source: yunikorn-core be3bb487, common/resources/quantity.go (parse).
    """
    assert parse_yunikorn_quantity(text, resource) == amount


def test_a_root_that_is_not_written_is_added() -> None:
    value = two_queues(allocation("x", {"gpu": 1}), size=1)
    partition = value["queues"]["partitions"][0]
    partition["queues"] = partition["queues"][0]["queues"]
    assert decided(value).victim_keys == ("x",)


def dump_of(value: Json) -> Json:
    """Return an instance as the core would dump it: the config block and queue objects."""
    dump = deepcopy(value)
    dump["timestamp"] = dump.pop("now")
    dump["config"] = dump.pop("queues")
    dump["partitions"] = [{"name": "default", "preemptionEnabled": True}]
    names = {"low": {}, "high": {"guaranteedResource": {"gpu": 2}}}
    children = [{"queuename": f"root.{n}", "isLeaf": True, **more} for n, more in names.items()]
    dump["queues"] = [
        {"queuename": "root", "partition": "default", "isLeaf": False, "children": children}
    ]
    return dump


@pytest.mark.parametrize(("given", "clock"), [(0, 999), (1, 1000), (-1, -1000)])
def test_a_given_clock_is_the_own_one_to_the_microsecond(given: int, clock: int) -> None:
    """A plan tells the time in microseconds: read for it, a state keeps its nanoseconds."""
    value = {**two_queues(size=1), "now": NOW + 999}
    moment = from_nanoseconds(NOW) + timedelta(microseconds=given)
    for one in (value, dump_of(value)):
        state = planner.read(one, now=moment)
        assert isinstance(state, YuniKornState)
        assert state.now == NOW + clock


def test_a_dump_decides_as_its_instance() -> None:
    value = two_queues(allocation("x", {"gpu": 1}), size=1)
    dump = dump_of(value)
    assert decided(dump).victim_keys == decided(value).victim_keys == ("x",)
    del dump["config"]
    assert decided(dump).victim_keys == ("x",)


def test_a_dump_says_nothing_of_opting_out() -> None:
    dump = dump_of(two_queues(allocation("x", {"gpu": 1}), size=1))
    assert read_yunikorn_objects(dump, where="dump").notes == (OPT_OUT_UNKNOWN,)
    # Nor does one without the configuration, as of a core that had none.
    config = dump.pop("config")
    assert read_yunikorn_objects(dump, where="dump").notes == (OPT_OUT_UNKNOWN,)
    dump["config"] = config
    dump["applications"][0]["allocations"][0]["x"] = {"allowPreemptSelf": False}
    assert read_yunikorn_objects(dump, where="dump").notes == ()


def test_queues_the_core_made_itself_are_in_the_dump_only() -> None:
    dump = dump_of(two_queues(allocation("x", {"gpu": 1}), size=1))
    made = {
        "queuename": "root.made",
        "isLeaf": True,
        "maxResource": {"vcore": 1500},
        "properties": {"preemption.delay": "5s"},
    }
    dump["queues"][0]["children"].append(made)
    root = read_yunikorn_objects(dump, where="dump").partitions[0].root
    assert [queue.name for queue in root.queues] == ["low", "high", "made"]
    assert root.queues[2].resources.max == {"vcore": 1500}
    assert root.queues[2].properties == {"preemption.delay": "5s"}


@pytest.mark.parametrize("with_config", [True, False])
def test_queues_the_core_made_itself_inherit_nothing(*, with_config: bool) -> None:
    """Only configured queues take over properties of their parent.

    Source: yunikorn-core be3bb487, scheduler/objects/queue.go (newDynamicQueueInternal, which
    merges no properties, and NewConfiguredQueue, which does).
    """
    dump = dump_of(two_queues(allocation("x", {"gpu": 1}), size=1))
    passed = {"preemption.policy": "disabled", "preemption.delay": "1h"}
    dump["config"]["partitions"][0]["queues"][0]["properties"] = passed
    dump["queues"][0]["properties"] = passed
    made = {"queuename": "root.made", "isLeaf": True, "isManaged": False}
    of_template = {"properties": {"preemption.delay": "5s"}, "queuename": "root.other"}
    written = {"queuename": "root.low", "isLeaf": True, "isManaged": True, "properties": passed}
    high = {**written, "queuename": "root.high"}
    dump["queues"][0]["children"] = [made, {**made, **of_template}, written, high]
    if not with_config:
        del dump["config"]
    tree = prepare(read_yunikorn_objects(dump, where="dump")).tree
    known = {path: queue.properties for path, queue in tree.by_path.items()}
    assert known["root.made"] == Properties()
    assert known["root.other"] == Properties(delay=5 * SECOND)
    assert known["root.low"] == Properties(disabled=True, delay=3600 * SECOND)


@pytest.mark.parametrize("with_config", [True, False])
def test_the_recovery_queue_has_the_resources_of_its_template_only(*, with_config: bool) -> None:
    """It takes the template of the root like others, but its properties are never read.

    Source: yunikorn-core be3bb487, scheduler/objects/queue.go (NewRecoveryQueue, addChildQueue,
    UpdateQueueProperties).
    """
    dump = dump_of(two_queues(allocation("x", {"gpu": 1}), size=1))
    of_template = {
        "guaranteedResource": {"gpu": 1},
        "maxResource": {"gpu": 2},
        "properties": {"preemption.policy": "disabled", "priority.offset": "9"},
    }
    made = {"isLeaf": True, "isManaged": False, **of_template}
    names = ("root.@recovery@", "root.@recovery@2")
    dump["queues"][0]["children"] += [{"queuename": name, **made} for name in names]
    if not with_config:
        del dump["config"]
    tree = prepare(read_yunikorn_objects(dump, where="dump")).tree
    recovery, other = (tree.by_path[name] for name in names)
    assert (recovery.guaranteed, recovery.max) == ({"gpu": 1}, {"gpu": 2})
    assert recovery.properties == Properties()
    assert other.properties == Properties(disabled=True, priority_offset=9)


@pytest.mark.parametrize("managed", [True, False])
def test_for_a_lowered_quota_nobody_goes_where_the_core_made_the_queue(*, managed: bool) -> None:
    """Source: yunikorn-core be3bb487, scheduler/objects/queue.go (tryAcquirePreemption)."""
    dump = dump_of(two_queues(allocation("x", {"gpu": 1}), allocation("y", {"gpu": 1}), size=2))
    del dump["config"]
    delay = {"quota.preemption.delay": "10s"}
    low = {"isManaged": managed, "maxResource": {"gpu": 1}, "properties": delay}
    dump["queues"][0]["children"][0].update(low)
    dump["partitions"][0]["quotaPreemptionEnabled"] = True
    state = read_yunikorn_objects(dump, where="dump")
    plan = planner.solve(state, quota="root.low")
    assert plan.greedy is not None
    assert bool(plan.greedy.keys) == managed
    assert any("it made itself" in note for note in plan.notes) != managed
    assert lowered_quotas(state) == (["root.low"] if managed else [])


@pytest.mark.parametrize(("status", "delay"), [("Draining", 30), ("Active", 60)])
def test_a_dumped_queue_that_drains_inherits_nothing_new(status: str, delay: int) -> None:
    dump = dump_of(two_queues(allocation("x", {"gpu": 1}), size=1))
    del dump["config"]
    dump["queues"][0]["properties"] = {"preemption.delay": "60s"}
    dump["queues"][0]["children"][0]["status"] = status
    tree = prepare(read_yunikorn_objects(dump, where="dump")).tree
    assert tree.by_path["root.low"].properties.delay == delay * SECOND


@pytest.mark.parametrize(("reserved", "node"), [("asks|ask", "n1"), ("runs|else", None)])
def test_a_reservation_with_its_application(reserved: str, node: str | None) -> None:
    """YuniKorn 1.5 wrote the application before the ask (scheduler/objects/reservation.go)."""
    value = two_queues(allocation("x", {"gpu": 1}), size=1)
    value["nodes"][0]["nodesInfo"][0]["reservations"] = [reserved]
    assert decided(value).node == node


def test_an_ask_that_got_its_node_while_the_dump_was_taken() -> None:
    """The core lists asks before allocations, and does not stop in between.

    Source: yunikorn-core be3bb487, webservice/handlers.go (getApplicationDAO).
    """
    value = two_queues(allocation("x", {"gpu": 1}), size=1)
    value["applications"][0]["requests"] = [ask("x", {"gpu": 1}), ask("y", {"gpu": 1})]
    state = read_yunikorn_objects(value, where="test")
    assert [one.allocation_key for _, one in state.partitions[0].asks] == ["y", "ask"]
    assert state.notes == (f"{PLACED_MEANWHILE}: 1",)
    value["applications"][1]["requests"].append(ask("x", {"gpu": 1}))
    with pytest.raises(SchemaError, match='allocationKey "x" stands twice'):
        read_yunikorn_objects(value, where="test")


def test_old_dumps_do_not_say_who_is_an_originator() -> None:
    """The field came with 1.6, and ``uuid`` went (webservice/dao/allocation_info.go)."""
    value = two_queues(allocation("x", {"gpu": 1}, uuid="x-0"), size=1)
    assert read_yunikorn_objects(value, where="test").notes == (ORIGINATORS_UNKNOWN,)


def test_partitions_are_kept_apart() -> None:
    value = two_queues(allocation("x", {"gpu": 1}), size=1)
    partitions = value["queues"]["partitions"]
    partitions.append({"name": "gpu", "queues": [{"name": "root"}]})
    value["nodes"].append({"partitionName": "[rm]gpu", "nodesInfo": [{"nodeID": "n9"}]})
    value["applications"][0]["partition"] = "[rm]default"
    state = read_yunikorn_objects(value, where="test")
    assert [len(one.nodes) for one in state.partitions] == [1, 1]
    assert [len(one.applications) for one in state.partitions] == [2, 0]


@pytest.mark.parametrize(
    ("path", "bad"),
    [
        (("now",), None),
        (("queues",), None),
        (("queues",), {}),
        (("nodes",), {}),
        (("applications", 0), 3),
        (("applications", 0, "queueName"), 3),
        (("applications", 0, "allocations", 0, "resource", "gpu"), 1.5),
        (("applications", 0, "allocations", 0, "resource", "gpu"), 2**63),
        (("applications", 0, "allocations", 0, "priority"), "high"),
        (("applications", 0, "allocations", 0, "originator"), "yes"),
        (("applications", 0, "allocations", 0, "nodeId"), None),
        (("applications", 0, "allocations", 0, "nodeId"), ""),
        (("applications", 0, "allocations", 0, "allocationKey"), ""),
        (("nodes", 0, "nodesInfo", 0, "nodeID"), []),
        (("nodes", 0, "nodesInfo", 0, "nodeID"), ""),
        (("config",), []),
    ],
)
def test_an_error_says_where(path: tuple[str | int, ...], bad: object) -> None:
    value = two_queues(allocation("x", {"gpu": 1}), size=1)
    put(value, path, bad)
    with pytest.raises(InputError) as caught:
        read_yunikorn_objects(value, where="dump.json")
    told(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        [],
        "a: [",
        "",
        "--- {}\n--- {}",
        {"kind": "ConfigMap", "data": {}},
        {"partitions": [{"name": "default", "queues": [{"name": "a", "resources": {"max": 5}}]}]},
        {
            "partitions": [
                {"name": "p", "queues": [{"name": "a", "resources": {"max": {"vcore": "1.5"}}}]}
            ]
        },
    ],
)
def test_what_is_not_queues_yaml(bad: object) -> None:
    with pytest.raises(InputError):
        read_queues(bad, "queues.yaml")


def test_a_value_that_is_no_object() -> None:
    with pytest.raises(SchemaError, match="not an object"):
        read_yunikorn_objects([], where="dump.json")


def test_null_means_absent() -> None:
    value = two_queues(allocation("x", {"gpu": 1}), size=1)
    value["applications"][0]["requests"] = None
    value["applications"][0]["allocations"][0]["allocationTags"] = None
    value["nodes"][0]["nodesInfo"][0]["reservations"] = None
    assert decided(value).victim_keys == ("x",)


def test_the_digest_is_that_of_the_value() -> None:
    value = two_queues(allocation("x", {"gpu": 1}), size=1)
    digests = {read_yunikorn_objects(value, where=name).digest for name in ("a", "b")}
    assert len(digests) == 1
    value["applications"][1]["requests"].append(ask("more", {}))
    assert read_yunikorn_objects(value, where="a").digest not in digests


def test_the_state_is_frozen() -> None:
    queue = QueueConfig.model_validate({"name": "a"})
    with pytest.raises(ValueError, match="frozen"):
        queue.name = "b"


def test_amounts_that_the_core_counts_otherwise() -> None:
    """A dump lists applications before queues (webservice/state_dump.go, doStateDump).

    What is 0 is left out of a queue, or not; a dump that says nothing of the root is trimmed.
    """
    dump = dump_of(two_queues(allocation("x", {"gpu": 2}), size=4))
    root = dump["queues"][0]
    low, high = root["children"]

    def notes() -> list[str]:
        found = read_yunikorn_objects(dump, where="dump").notes
        return [one.removeprefix(f"{OTHER_AMOUNTS}: ") for one in found if one != OPT_OUT_UNKNOWN]

    assert notes() == []
    root["allocatedResource"], low["allocatedResource"] = {"gpu": 2, "vcore": 0}, {"gpu": 2}
    assert notes() == []
    high["allocatedResource"] = {"vcore": 1}
    told(notes())
    low["allocatedResource"] = {"gpu": 1}
    told(notes())
    del low["allocatedResource"]
    root["allocatedResource"] = {"gpu": 1}
    told(notes())
