"""queues.yaml as a plain file: numbers and words as the core reads them, and what it passes over.

Source: yunikorn-core be3bb487, common/configs/config.go (decoded by go.yaml.in/yaml/v3: a number
or a word is a text where the field is one, and only there) and scheduler/objects/queue.go.
"""

import json
from pathlib import Path

import pytest

from planner.errors import SchemaError
from planner.quota.yunikorn.cluster import prepare
from planner.quota.yunikorn.queue import Queue
from planner.reader.yunikorn_queues import REFUSED, ROOT_IGNORED
from planner.state.yunikorn import YuniKornState
from tests.told import told
from tests.yunikorn.building import NOW, read_yunikorn

DUMP = {"now": NOW, "nodes": [], "applications": []}


def read(folder: Path, text: str) -> YuniKornState:
    """Read queues.yaml beside a dump without queues."""
    (folder / "queues.yaml").write_text(text, "utf-8")
    (folder / "statedump.json").write_text(json.dumps(DUMP), "utf-8")
    return read_yunikorn(str(folder))


def queue(folder: Path, body: str) -> Queue:
    """Read one queue below the root, and return it with what is in force."""
    text = f"partitions: [{{name: default, queues: [{{name: root, queues: [{{{body}}}]}}]}}]"
    tree = prepare(read(folder, text)).tree
    (child,) = tree.root.children
    return child


@pytest.mark.parametrize(
    ("written", "units"),
    [
        ("memory: 10", 10),
        ("memory: 010", 10),
        ("memory: '010'", 10),
        ("vcore: 2", 2000),
        ("vcore: 02", 2000),
        ("vcore: 1500m", 1500),
        ("memory: 10Gi", 10 * 2**30),
    ],
)
def test_amounts_are_the_digits_that_are_written(tmp_path: Path, written: str, units: int) -> None:
    found = queue(tmp_path, f"name: a, resources: {{max: {{{written}}}}}")
    assert found.max is not None
    assert list(found.max.values()) == [units]


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("3", 3),
        ("1e2", 100),
        ("0x10", 16),
        ("010", 8),
        ("0o10", 8),
        ("0b11", 3),
        ("08", 8),
        ("1_000", 1000),
        ("+5", 5),
        ("1.9", 1),
        ("-0.5", 0),
        ("", 0),
        ("~", 0),
        (str(2**64 - 1), 2**64 - 1),
    ],
)
def test_a_count_is_a_number_as_yaml_has_it(tmp_path: Path, written: str, number: int) -> None:
    """A scalar is resolved first: octal after 0, as a float where it is no integer, then cut."""
    text = f"partitions: [{{name: default, queues: [{{name: a, maxapplications: {written}}}]}}]"
    (found,) = read(tmp_path, text).partitions[0].root.queues
    assert found.maxapplications == number


@pytest.mark.parametrize(
    "written", ["-1", str(2**64), "9" * 5000, "yes", "true", "1e400", "2001-01-01", "_1"]
)
def test_what_is_no_count(tmp_path: Path, written: str) -> None:
    text = f"partitions: [{{name: default, queues: [{{name: a, maxapplications: {written}}}]}}]"
    with pytest.raises(SchemaError, match="maxapplications: ") as caught:
        read(tmp_path, text)
    told(str(caught.value).partition("maxapplications: ")[2])


@pytest.mark.parametrize(
    "written", ["1_000", "0x10", "0o10", "1.0", "1e3", "-1", "yes", "true", ""]
)
def test_amounts_that_the_core_refuses(tmp_path: Path, written: str) -> None:
    """None of these texts is a number of digits, whatever YAML makes of them."""
    with pytest.raises(SchemaError, match=r"queues\[0\]\.resources\.max\.memory") as caught:
        queue(tmp_path, f"name: a, resources: {{max: {{memory: {written}}}}}")
    assert "is not a quantity of YuniKorn" in str(caught.value)


@pytest.mark.parametrize(
    ("written", "name"),
    [("0123", "0123"), ("1e3", "1e3"), ("yes", "yes"), ("Off", "off"), ("true", "true")],
)
def test_names_that_look_like_something_else(tmp_path: Path, written: str, name: str) -> None:
    assert queue(tmp_path, f"name: {written}").path == f"root.{name}"


@pytest.mark.parametrize(
    ("written", "offset"),
    [("010", 10), ("+5", 5), ("-5", -5), ("0x10", 0), ("1_0", 0), ("1.0", 0), ("yes", 0), ("", 0)],
)
def test_offsets_are_decimal_numbers(tmp_path: Path, written: str, offset: int) -> None:
    """Source: scheduler/objects/queue.go (priorityOffset)."""
    found = queue(tmp_path, f"name: a, properties: {{priority.offset: {written}}}")
    assert found.properties.priority_offset == offset


def test_a_property_without_a_value_is_the_queues_own(tmp_path: Path) -> None:
    """It is an empty text, which is the default policy, in place of the one of the parent."""
    policy = "preemption.policy"
    found = queue(
        tmp_path,
        f"name: a, properties: {{{policy}: disabled}}, queues: "
        f"[{{name: b, properties: {{{policy}: }}}}, {{name: c}}]",
    )
    assert [one.properties.disabled for one in found.children] == [False, True]


@pytest.mark.parametrize(
    ("written", "is_leaf"),
    [
        ("yes", False),
        ("On", False),
        ("'yes'", False),
        ("true", False),
        ("TRUE", False),
        ("no", True),
        ("off", True),
        ("n", True),
    ],
)
def test_switches_of_older_yaml(tmp_path: Path, written: str, *, is_leaf: bool) -> None:
    assert queue(tmp_path, f"name: a, parent: {written}").is_leaf == is_leaf


@pytest.mark.parametrize("written", ["'true'", "1", "maybe"])
def test_what_is_no_switch(tmp_path: Path, written: str) -> None:
    with pytest.raises(SchemaError, match=r"queues\[0\]\.parent"):
        queue(tmp_path, f"name: a, parent: {written}")


def test_the_switch_of_preemption(tmp_path: Path) -> None:
    state = read(tmp_path, "partitions: [{name: default, preemption: {enabled: off}, queues: []}]")
    assert not state.partitions[0].preemption.enabled


def test_an_instance_in_yaml_has_the_same_numbers(tmp_path: Path) -> None:
    """Its other amounts are integers, as in a dump."""
    text = (
        f"now: {NOW}\nnodes: [{{nodesInfo: [{{nodeID: n1, capacity: {{memory: 100}}}}]}}]\n"
        "applications: []\nqueues:\n  partitions:\n  - name: default\n    queues:\n"
        "    - {name: 07, resources: {max: {memory: 010}}}\n"
    )
    (tmp_path / "instance.yaml").write_text(text, "utf-8")
    state = read_yunikorn(str(tmp_path / "instance.yaml"))
    tree = prepare(state).tree
    assert (tree.root.max, tree.by_path["root.07"].max) == ({"memory": 100}, {"memory": 10})


def test_resources_of_a_queue_that_is_named_root(tmp_path: Path) -> None:
    """The core passes over them by the name alone; all else of the queue counts.

    Source: scheduler/objects/queue.go (applyConf).
    """
    text = """
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: Root
            properties: {priority.offset: 5}
            resources: {guaranteed: {vcore: 1}, max: {vcore: 2}}
            queues:
              - name: a
                resources: {guaranteed: {vcore: 1}, max: {vcore: 2}}
          - name: root-a
            resources: {max: {vcore: 2}}
"""
    state = read(tmp_path, text)
    known = prepare(state).tree.by_path
    assert (known["root.root"].guaranteed, known["root.root"].max) == (None, None)
    assert known["root.root"].properties.priority_offset == 5
    assert (known["root.root.a"].guaranteed, known["root.root.a"].max) == (
        {"vcore": 1000},
        {"vcore": 2000},
    )
    assert known["root.root-a"].max == {"vcore": 2000}
    assert state.notes == (f"{ROOT_IGNORED}: root.root",)


def test_a_root_beside_another_queue_is_below_the_root(tmp_path: Path) -> None:
    """The core puts a root above several queues (common/configs/configvalidator.go)."""
    text = "partitions: [{queues: [{name: root, resources: {max: {vcore: 2}}}, {name: a}]}]"
    state = read(tmp_path, text)
    assert prepare(state).tree.by_path["root.root"].max is None
    assert state.notes == (f"{ROOT_IGNORED}: root.root",)


def tree(body: str) -> str:
    """Return queues.yaml with queues below the root."""
    return f"partitions: [{{name: default, queues: [{{name: root, queues: [{body}]}}]}}]"


OF_PARENT = "queues: [{name: b, resources: {guaranteed: {vcore: 2}}}, {name: c, resources: "


TWICE = OF_PARENT + "{guaranteed: {vcore: 2}}}]"
DEEP = "queues: [{name: b, queues: [{name: c, resources: {max: {vcore: 2}}}]}]"


@pytest.mark.parametrize(
    "text",
    [
        tree("{name: a, maxResources: {vcore: 1}}"),
        tree("{name: a, resources: {garanteed: {vcore: 1}}}"),
        "partitions: [{queues: [{name: a}], preemption: {active: yes}}]",
        "partitions: [{queues: [{name: a}]}]\nother: 1",
        "partitions: [{queues: [{name: root, resources: {max: {vcore: 1}}}]}]",
        # The validator takes it for the root in any case; the partition is not made of it then.
        "partitions: [{queues: [{name: Root, queues: [{name: a}]}]}]",
        "Partitions: [{Queues: [{Name: ROOT}]}]",
        tree("{name: a, resources: {guaranteed: {vcore: 2}, max: {vcore: 1}}}"),
        tree(f"{{name: a, resources: {{max: {{vcore: 1}}}}, {DEEP}}}"),
        tree(f"{{name: a, resources: {{guaranteed: {{vcore: 3}}}}, {TWICE}}}"),
        tree(f"{{name: a, resources: {{max: {{vcore: 3}}}}, queues: [{{name: d, {TWICE}}}]}}"),
        tree("{name: a, maxapplications: 2, queues: [{name: b, maxapplications: 3}]}"),
        tree("{name: a, maxapplications: 2, queues: [{name: b}]}"),
    ],
)
def test_what_the_core_refuses(tmp_path: Path, text: str) -> None:
    """It goes on with the configuration before, which a state dump has.

    Source: common/configs/config.go (KnownFields) and configvalidator.go (checkQueuesStructure,
    checkQueueResource, checkQueueMaxApplications); scheduler/partition.go
    (initialPartitionFromConfig: the name of the root is compared as it is written).
    """
    (note,) = (one for one in read(tmp_path, text).notes if one.startswith(REFUSED))
    told(note)


@pytest.mark.parametrize(
    "text",
    [
        "partitions: [{queues: [{name: Root}, {name: a}]}]",
        tree("{name: a, maxapplications: 2, queues: [{name: b, maxapplications: 2}]}"),
        tree(
            f"{{name: a, resources: {{guaranteed: {{vcore: 4}}, max: {{memory: 1}}}}, "
            f"{OF_PARENT}{{guaranteed: {{vcore: 2, memory: 1}}}}}}]}}"
        ),
        (
            "partitions: [{name: default, nodesortpolicy: {type: fair}, placementrules: [], "
            "userGroupResolver: {}, queues: [{name: a, submitacl: '*', adminacl: x, "
            "limits: [], childtemplate: {maxapplications: 1, resources: {max: {a: 1}}}}]}]\n"
            "checksum: x"
        ),
    ],
)
def test_what_the_core_takes(tmp_path: Path, text: str) -> None:
    assert not [one for one in read(tmp_path, text).notes if one.startswith(REFUSED)]
