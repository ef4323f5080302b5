"""Which scheduler the documents are of, in every form they come in."""

import gzip
import io
import json
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

import planner
from planner.errors import InputError
from planner.quota.yunikorn.cluster import prepare
from planner.reader import Ignored, bound, read, read_objects, yunikorn_queues
from planner.reader.kueue import read_kueue_objects
from planner.reader.parse import Document
from planner.reader.yaml_text import parse_yaml
from planner.reader.yunikorn import CONFIG_DIFFERS
from planner.reader.yunikorn_files import yunikorn_files
from planner.state.kueue import State
from planner.state.yunikorn import QueueConfig, YuniKornState
from tests.reader.dumps import cluster_queue, error_of, listed, workload, write
from tests.reader.yunikorn_dumps import (
    NOW,
    QUEUES_YAML,
    SECOND,
    allocation,
    application,
    claim,
    claims_of,
    config_map,
    dump,
    folder_of,
    packed_map,
    priority_class,
    queue,
    state_of,
)
from tests.told import told
from tests.yunikorn.building import two_queues

Json = dict[str, Any]

APPLICATIONS = (
    application("app", "root.batch", [allocation("run-0")]),
    application("wants", "root.prod", (), [claim("ask-0")]),
)
DUMP = dump(*APPLICATIONS)
CONFIG = yaml.safe_load(QUEUES_YAML)


def without_origin(state: object) -> YuniKornState:
    assert isinstance(state, YuniKornState)
    return state.model_copy(update={"source": "", "digest": "", "notes": ()})


EXPECTED = without_origin(read_objects(DUMP, where="expected"))

FORMS = {
    "dump.json": json.dumps(DUMP),
    "pretty.json": json.dumps(DUMP, indent=2) + "\n",
    "dump.yaml": yaml.safe_dump(DUMP),
    "bom.json": "\ufeff" + json.dumps(DUMP),
    "no-extension": json.dumps(DUMP),
    "with-queues.json": json.dumps(DUMP) + json.dumps(CONFIG),
    "queues-first.yaml": yaml.safe_dump_all([CONFIG, DUMP]),
    "with-config-map.json": json.dumps(DUMP) + json.dumps(config_map()),
    "config-map-in-a-list.json": json.dumps(listed(config_map())) + json.dumps(DUMP),
    "with-config.json": json.dumps({**DUMP, "config": CONFIG}),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_state(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name, FORMS[name])
    assert without_origin(planner.read(path)) == EXPECTED


@pytest.mark.parametrize("name", ["dump.json", "dump.yaml", "with-config-map.json"])
def test_gzip_is_undone(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, f"{name}.gz", gzip.compress(FORMS[name].encode()))
    state = read(path)
    assert without_origin(state) == EXPECTED
    assert state.source == str(path)


@pytest.mark.parametrize("name", ["dump.json", "queues-first.yaml"])
def test_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FORMS[name].encode())))
    assert without_origin(read("-")) == EXPECTED


@pytest.mark.parametrize("queues", [QUEUES_YAML, config_map(), listed(config_map()), CONFIG])
def test_folder_with_queues_yaml(tmp_path: Path, queues: object) -> None:
    state = folder_of(tmp_path, DUMP, queues)
    assert without_origin(state) == EXPECTED
    assert state.source == str(tmp_path)
    assert len(state.digest) == 64


packed = partial(gzip.compress, mtime=0)
PACKED = packed(QUEUES_YAML.encode())


@pytest.mark.parametrize("again", [False, True])
def test_queues_yaml_may_be_packed_in_its_config_map(tmp_path: Path, *, again: bool) -> None:
    """Once, as Kubernetes writes what is binary, or twice, where what stands there is a text."""
    value = packed_map(PACKED, again=again)
    assert without_origin(folder_of(tmp_path, DUMP, value)) == EXPECTED
    text = value["binaryData"]["queues.yaml.gz"]
    value["binaryData"]["queues.yaml.gz"] = f"{text[:40]}\n{text[40:]}\n"
    assert without_origin(folder_of(tmp_path, DUMP, listed(value))) == EXPECTED


@pytest.mark.parametrize(
    "found",
    [
        b"partitions: []",
        b"cGFydGl0",
        PACKED[:-9],
        packed(b"\xff\xfe"),
        packed(b"a: ["),
        packed(b" " * (8 * 2**20 + 1)),
        packed(b"[" * 300),
    ],
)
def test_what_is_no_packed_queues_yaml(tmp_path: Path, found: bytes) -> None:
    with pytest.raises(InputError) as caught:
        folder_of(tmp_path, DUMP, packed_map(found))
    told(caught.value)


def test_what_is_unpacked_has_a_bound_on_its_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bound, "AT_LEAST", 100)
    monkeypatch.setattr(yunikorn_queues, "MOST_UNPACKED", 800)
    value = packed_map(packed(b"a: [" + b"0," * 200 + b"]"))
    with pytest.raises(InputError) as caught:
        folder_of(tmp_path, DUMP, value)
    told(caught.value)


def test_what_is_packed_counts_where_both_are_there(tmp_path: Path) -> None:
    both = {**packed_map(PACKED), "data": {"queues.yaml": "partitions: []"}}
    assert without_origin(folder_of(tmp_path, DUMP, both)) == EXPECTED


def test_the_text_in_a_config_map_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []

    def counted(text: str, *rest: Any, **how: Any) -> list[object]:
        texts.append(text)
        return parse_yaml(text, *rest, **how)

    monkeypatch.setattr(yunikorn_queues, "parse_yaml", counted)
    folder_of(tmp_path, DUMP, config_map())
    assert texts == [QUEUES_YAML]


def test_a_recorded_instance_is_read() -> None:
    state = state_of(two_queues())
    assert state.now == two_queues()["now"]
    assert set(claims_of(state)) == {"ask"}


def leaves(state: YuniKornState) -> dict[str, QueueConfig]:
    return {one.name: one for one in state.partitions[0].root.queues}


@pytest.mark.parametrize("name", ["Default", "DEFAULT", '""', "null"])
def test_the_default_partition_has_any_case_or_no_name(tmp_path: Path, name: str) -> None:
    beside = QUEUES_YAML.replace("name: default", f"name: {name}")
    assert without_origin(folder_of(tmp_path, DUMP, beside)) == EXPECTED


def test_queues_yaml_beside_the_dump_goes_first(tmp_path: Path) -> None:
    beside = QUEUES_YAML.replace("guaranteed: {vcore: 2}", "guaranteed: {vcore: 3}")
    state = folder_of(tmp_path, {**DUMP, "config": CONFIG}, beside)
    assert leaves(state)["prod"].resources.guaranteed == {"vcore": 3000}
    assert state.notes[0] == CONFIG_DIFFERS


def test_the_same_queues_yaml_beside_the_dump_is_not_remarked(tmp_path: Path) -> None:
    assert CONFIG_DIFFERS not in folder_of(tmp_path, {**DUMP, "config": CONFIG}, QUEUES_YAML).notes


def test_the_second_config_map_of_the_shim_overrides_its_defaults(tmp_path: Path) -> None:
    defaults = config_map(QUEUES_YAML.replace("vcore: 2", "vcore: 1"), "yunikorn-defaults")
    state = folder_of(tmp_path, DUMP, listed(defaults, config_map()))
    assert leaves(state)["prod"].resources.guaranteed == {"vcore": 2000}


def test_the_defaults_alone_are_used(tmp_path: Path) -> None:
    defaults = config_map(QUEUES_YAML.replace("vcore: 2", "vcore: 1"), "yunikorn-defaults")
    state = folder_of(tmp_path, DUMP, defaults)
    assert leaves(state)["prod"].resources.guaranteed == {"vcore": 1000}


@pytest.mark.parametrize("alone", [QUEUES_YAML, config_map(), CONFIG])
def test_queues_alone_ask_for_the_state_dump(tmp_path: Path, alone: object) -> None:
    path = write(tmp_path, "queues.yaml", alone)
    error = error_of(lambda: read(path))
    assert error.where == str(path)
    told(error.found)
    told(error.hint)


def test_queues_with_priority_classes_still_ask_for_the_state_dump(tmp_path: Path) -> None:
    error = error_of(lambda: folder_of(tmp_path, config_map(), priority_class("low", 1)))
    told(error.found)


def test_objects_of_kueue_beside_a_dump_are_refused(tmp_path: Path) -> None:
    error = error_of(lambda: folder_of(tmp_path, DUMP, listed(cluster_queue())))
    assert error.where == f"{tmp_path / '1.json'}: items[0]"
    told(error.found)
    assert "one scheduler" in error.expected


def test_objects_of_kueue_beside_queues_yaml_are_refused(tmp_path: Path) -> None:
    error = error_of(lambda: folder_of(tmp_path, QUEUES_YAML, cluster_queue()))
    told(error.found)


def test_the_config_map_in_a_dump_of_kueue_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path, "1.json", config_map())
    write(tmp_path, "2.json", listed(workload(), cluster_queue()))
    ignored = Ignored()
    state = read(tmp_path, now="2026-03-08T21:06:00Z", ignored=ignored)
    assert isinstance(state, State)
    assert len(state.workloads) == 1
    assert ignored.kinds == {"ConfigMap": 1}


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (DUMP, True),
        ({"queues": {}, "nodes": [], "applications": []}, True),
        ({"queues": [], "partitions": []}, True),
        ({"queues": [], "kind": "List", "nodes": []}, False),
        ({"kind": "ConfigMap", "data": {"other": ""}}, False),
        ({"kind": "ConfigMap", "data": None}, False),
        (listed(), False),
        ([], False),
        ("partitions: []", False),
    ],
)
def test_what_is_recognised(value: object, *, is_one: bool) -> None:
    assert (yunikorn_files([Document("x", value)]) is not None) == is_one


def test_where_kueue_is_meant_a_dump_is_refused() -> None:
    error = error_of(lambda: read_kueue_objects(DUMP, where="line 7"))
    assert error.where == "line 7"


def test_two_dumps_are_refused(tmp_path: Path) -> None:
    error = error_of(lambda: folder_of(tmp_path, DUMP, DUMP))
    assert error.where == str(tmp_path / "1.json")
    assert str(tmp_path / "0.json") in error.found


def test_two_instances_are_for_replay(tmp_path: Path) -> None:
    line = json.dumps(two_queues())
    error = error_of(lambda: read(write(tmp_path, "many.jsonl", f"{line}\n{line}\n")))
    told(error.where)
    assert "planner replay" in error.hint


def test_two_queues_yaml_are_refused(tmp_path: Path) -> None:
    error = error_of(lambda: folder_of(tmp_path, DUMP, config_map(), QUEUES_YAML))
    told(error.found)


@pytest.mark.parametrize(
    "now",
    [
        "2027-01-15T08:00:01.5Z",
        "2027-01-15T09:00:01.5+01:00",
        datetime(2027, 1, 15, 8, 0, 1, 500_000, UTC),
    ],
)
def test_the_clock_may_be_given(now: str | datetime) -> None:
    assert state_of(DUMP, now=now).now == NOW + SECOND * 3 // 2


def test_the_clock_is_the_time_of_the_dump() -> None:
    assert state_of(DUMP).now == NOW


@pytest.mark.parametrize("now", ["yesterday", "", "2300-01-01T00:00:00Z", "1600-01-01T00:00:00Z"])
def test_a_clock_that_cannot_be_used(now: str) -> None:
    assert error_of(lambda: state_of(DUMP, now=now)).where == "now"


@pytest.mark.parametrize("timestamp", [None, "now", True, 1.5, 2**63])
def test_a_dump_without_a_clock(timestamp: object) -> None:
    error = error_of(lambda: state_of({**DUMP, "timestamp": timestamp}))
    assert error.where.startswith("dump.json")
    assert "clock" in error.found


def test_fields_and_kinds_that_are_not_read_are_counted(tmp_path: Path) -> None:
    unread = [{**one, "finishedTime": None, "stateLog": []} for one in APPLICATIONS]
    write(tmp_path, "1.json", dump(*unread))
    write(tmp_path, "2.yaml", QUEUES_YAML)
    write(tmp_path, "3.json", listed({"apiVersion": "apps/v1", "kind": "Deployment"}))
    ignored = Ignored()
    read(tmp_path, ignored=ignored)
    assert ignored.kinds == {"Deployment.apps": 1}
    assert ignored.fields["Application.stateLog"] == 2
    assert ignored.fields["queues.yaml.partitions.queues.submitacl"] == 1


def test_bounds_hold_for_dumps(tmp_path: Path) -> None:
    path = write(tmp_path, "dump.json", DUMP)
    size = path.stat().st_size
    assert without_origin(read(path, max_bytes=size)) == EXPECTED
    assert "max_bytes=BYTES" in error_of(lambda: read(path, max_bytes=size - 1)).hint


@pytest.mark.parametrize("ended", ["Completed", "Rejected"])
def test_applications_that_are_over_may_be_of_queues_that_are_gone(ended: str) -> None:
    done = {**application("done", "root.gone"), "applicationState": ended}
    idle = application("idle", "root.batch")
    state = state_of(dump(*APPLICATIONS, done, idle))
    names = [one.application_id for one in state.partitions[0].applications]
    assert names == ["app", "wants", "idle"]
    prepare(state)


def test_a_queue_that_does_not_exist_is_said_when_the_cluster_is_made_ready() -> None:
    state = state_of(dump(application("app", "root.gone", [allocation("run")])))
    error = error_of(lambda: prepare(state))
    assert "root.gone" in error.found


def nested(depth: int, leaf: Json) -> Json:
    for _ in range(depth):
        leaf = {"name": "a", "queues": [leaf]}
    return leaf


def twice(name: str) -> Json:
    return {"name": "default", "queues": [{"name": name}, {"name": name.upper()}]}


REFUSED: dict[str, tuple[Json, str]] = {
    "node": (
        {"nodes": [{"nodesInfo": [{"nodeID": "n1"}, {"nodeID": "n1"}]}]},
        'node "n1" stands twice',
    ),
    "key": (
        {"applications": [application("a", "root.batch", [allocation("k"), allocation("k")])]},
        'allocationKey "k" stands twice',
    ),
    "queue": ({"config": {"partitions": [twice("a")]}}, r"queue root\.a stands twice"),
    "root": ({"config": {"partitions": [twice("root")]}}, r"queue root\.root stands twice"),
    "dotted": ({"config": {"partitions": [twice("a.b")]}}, "is not the name of a queue"),
    "partition": (
        {"config": {"partitions": [{"name": "p"}, {"name": "p"}]}},
        'partition "p" stands twice',
    ),
    "partition-case": (
        {"config": {"partitions": [{"name": "p"}, {"name": "P"}]}},
        'partition "P" stands twice',
    ),
    "partition-default": (
        {"config": {"partitions": [{"name": "Default"}, {"name": ""}]}},
        'partition "default" stands twice',
    ),
    "no-partition": ({"config": {"partitions": []}}, "has no queues"),
    "other-partition": (
        {"nodes": [{"partitionName": "gpu", "nodesInfo": []}]},
        'partition "gpu" is not in the queues',
    ),
    "no-queues": ({"queues": None}, "has no queues"),
    "dumped-twice": (
        {"queues": [queue("root", queue("root.a"), queue("root.a"))]},
        r"queue root\.a stands twice",
    ),
    "dumped-max": ({"queues": [queue("root", maxResource={"vcore": 1.5})]}, "not a whole number"),
    "switch": ({"partitions": [{"name": "default", "preemptionEnabled": "no"}]}, "neither true"),
    "usage": ({"x": {"queueUsage": {"root.gone": {}}}}, "there is no such queue"),
    "quantity": (
        {
            "config": {
                "partitions": [{"queues": [{"name": "a", "resources": {"max": {"x": "1m"}}}]}]
            }
        },
        '"1m" is not a quantity of YuniKorn',
    ),
    "half-a-character": (
        {
            "config": {
                "partitions": [{"queues": [{"name": "a", "resources": {"max": {"x": "\ud800"}}}]}]
            }
        },
        r'"\\ud800" is not a quantity of YuniKorn',
    ),
    "deep": (
        {"config": {"partitions": [{"queues": [nested(90, {"name": [5]})]}]}},
        "is not a string",
    ),
    "too-deep": (
        {"config": {"partitions": [{"queues": [nested(50_000, {"name": "a"})]}]}},
        "Recursion",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_core_would_have(name: str) -> None:
    change, message = REFUSED[name]
    error = error_of(partial(read_objects, {**DUMP, **change}, where="dump.json", digest="x"))
    assert error.where.startswith("dump.json")
    with pytest.raises(type(error), match=message):
        raise error


def test_a_queue_that_contains_itself() -> None:
    turning: Json = {"name": "a"}
    turning["queues"] = [turning]
    config = {"partitions": [{"queues": [turning]}]}
    error = error_of(partial(read_objects, {**DUMP, "config": config}, where="x", digest="x"))
    assert "cyclic" in error.found
