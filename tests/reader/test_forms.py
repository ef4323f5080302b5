"""One state, whatever form it comes in."""

import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.errors import InputError
from planner.reader import read as read_any
from planner.state.kueue import State
from tests.cluster import queue, running
from tests.kueue_state import read, read_objects
from tests.reader.dumps import (
    NOW,
    V1BETA2,
    Object,
    cluster_queue,
    kueue,
    listed,
    quota_of,
    workload,
    write,
)
from tests.told import told

QUEUE = cluster_queue("cq", resourceGroups=quota_of(nominalQuota="4Gi"))
FLAVOR = kueue("ResourceFlavor", "default")
TRAIN = workload("train", queueName="lq", podSets=[{"count": 3}])
OBJECTS: list[Object] = [FLAVOR, QUEUE, TRAIN]


def without_origin(state: State) -> State:
    return state.model_copy(update={"source": "", "digest": ""})


EXPECTED = without_origin(read_objects(listed(*OBJECTS), where="expected", now=NOW))


def as_yaml(*documents: Any) -> str:
    return yaml.safe_dump_all(documents)


FORMS = {
    "list.json": json.dumps(listed(*OBJECTS)),
    "pretty.json": json.dumps(listed(*OBJECTS), indent=4),
    "array.json": json.dumps(OBJECTS),
    "lines.json": "\n".join(map(json.dumps, OBJECTS)),
    "joined.json": "".join(map(json.dumps, OBJECTS)),
    "several-pretty.json": "\n\n".join(json.dumps(o, indent=2) for o in OBJECTS) + "\n",
    "nested.json": json.dumps(listed(listed(FLAVOR), listed(listed(QUEUE), TRAIN))),
    "bom.json": "\ufeff" + json.dumps(listed(*OBJECTS)),
    "space-first.json": "\r\n\t " + json.dumps(listed(*OBJECTS)),
    "list.yaml": as_yaml(listed(*OBJECTS)),
    "documents.yaml": as_yaml(*OBJECTS),
    "empty-documents.yaml": "---\n# nothing\n---\n" + as_yaml(*OBJECTS) + "---\n",
    "bom.yaml": "\ufeff" + as_yaml(*OBJECTS),
    "json-in.yaml": json.dumps(listed(*OBJECTS)),
    "yaml-in.json": as_yaml(*OBJECTS),
    "no-extension": as_yaml(listed(*OBJECTS)),
    "flow.yaml": "{apiVersion: v1, kind: List, items: " + json.dumps(OBJECTS) + "}",
    "flow-in.json": "{apiVersion: v1, kind: List, items: " + json.dumps(OBJECTS) + "}",
    "comment-in-json.yaml": json.dumps(listed(*OBJECTS)) + "\n# a comment, which JSON has not",
    # As `kubectl get -o json; echo ---; kubectl get -o json` prints them, and with YAML after them.
    "separated.json": "\n---\n".join(json.dumps(one, indent=1) for one in OBJECTS),
    "mixed.json": f"{json.dumps(OBJECTS[0])}\n---\n{as_yaml(*OBJECTS[1:])}",
    "null-items.json": json.dumps([listed(*OBJECTS), {"kind": "List", "items": None}]),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_state(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name, FORMS[name])
    assert without_origin(read(path, now=NOW)) == EXPECTED


@pytest.mark.parametrize("name", FORMS)
def test_gzip_is_undone_whatever_the_name(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name, gzip.compress(FORMS[name].encode()))
    assert without_origin(read(path, now=NOW)) == EXPECTED


def test_path_may_be_a_text(tmp_path: Path) -> None:
    path = write(tmp_path, "list.json", listed(*OBJECTS))
    assert read(os.fspath(path), now=NOW) == read(path, now=NOW)


def test_typed_list_gives_its_items_their_kind(tmp_path: Path) -> None:
    def typed(kind: str, *items: Object) -> Object:
        bare = [{"metadata": i["metadata"], "spec": i.get("spec", {})} for i in items]
        return {"apiVersion": V1BETA2, "kind": f"{kind}List", "metadata": {}, "items": bare}

    dump = [typed("ResourceFlavor", FLAVOR), typed("ClusterQueue", QUEUE), typed("Workload", TRAIN)]
    assert without_origin(read(write(tmp_path, "typed.json", dump), now=NOW)) == EXPECTED


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_piece_of_a_list_says_so(tmp_path: Path, suffix: str) -> None:
    """What `kubectl get --raw '...?limit=2'` prints; the last piece has no mark."""
    first = {**listed(FLAVOR, QUEUE), "metadata": {"continue": "e30"}}
    whole = first if suffix == ".json" else {**first, "kind": "ClusterQueueList"}
    write(tmp_path, f"1{suffix}", json.dumps(whole))
    write(tmp_path, f"2{suffix}", json.dumps(listed(TRAIN)))
    (remark,) = read(tmp_path, now=NOW).notes
    told(remark.removeprefix(str(tmp_path)))


@pytest.mark.parametrize("value", [OBJECTS, tuple(OBJECTS), listed(*OBJECTS)])
def test_parsed_values_are_read_and_left_alone(value: Any) -> None:
    before = json.dumps(value)
    assert without_origin(read_objects(value, where="a value", now=NOW)) == EXPECTED
    assert json.dumps(value) == before


def test_single_object() -> None:
    assert read_objects(QUEUE, where="q", now=NOW).cluster_queues == EXPECTED.cluster_queues


def test_queues_that_the_dump_lacks_are_named() -> None:
    """Kueue keeps a ClusterQueue in which quota is held: without it, its cohort looks smaller."""
    kept = [cluster_queue("cq"), *running("a", "cq", 1)]
    assert not read_objects(kept, where="q", now=NOW).notes
    lacking = [*kept, *running("b", "gone", 1)]
    (found,) = read_objects(lacking, where="q", now=NOW).notes
    told(found)
    lacking += running("c", "other", 1)
    state = read_objects(lacking, where="q", now=NOW)
    (found,) = state.notes
    told(found)
    assert state.absent_queues == ("gone", "other")
    # A recorded instance is a whole cluster.
    instance = {"now": NOW, "state": listed(*lacking)}
    assert (state.whole, read_objects(instance, where="q").whole) == (False, True)


@pytest.mark.parametrize(("status", "lacks"), [("True", True), ("False", False), (None, False)])
def test_a_queue_to_which_an_active_local_queue_leads_is_there(
    status: str | None, *, lacks: bool
) -> None:
    """Kueue calls a LocalQueue active only if its ClusterQueue is there, and active."""
    (local,) = (one for one in queue("gone", 1) if one["kind"] == "LocalQueue")
    if status is not None:
        local["status"] = {"conditions": [{"type": "Active", "status": status}]}
    state = read_objects([cluster_queue("cq"), local], where="q", now=NOW)
    said = "the dump lacks ClusterQueue gone, to which a LocalQueue leads, active by its condition"
    assert [note.startswith(said) for note in state.notes] == [True] * lacks
    assert state.absent_queues == ("gone",) * lacks


def test_state_remembers_its_source(tmp_path: Path) -> None:
    path = write(tmp_path, "list.json", listed(*OBJECTS))
    assert read(path, now=NOW).source == str(path)
    assert read_objects(OBJECTS, where="line 7", now=NOW).source == "line 7"


def test_order_is_that_of_the_dump() -> None:
    names = ["c", "a", "b"]
    state = read_objects([workload(name) for name in names], where="w", now=NOW)
    assert [each.metadata.name for each in state.workloads] == names


def test_directory_reads_its_files_in_order_and_ignores_others(tmp_path: Path) -> None:
    write(tmp_path, "1.yaml", as_yaml(workload("a")))
    write(tmp_path, "2.json.gz", gzip.compress(json.dumps(workload("b")).encode()))
    write(tmp_path, "3.yml", as_yaml(workload("c")))
    write(tmp_path, "4.json", workload("d"))
    write(tmp_path, "README.md", "not for us: {")
    write(tmp_path, ".hidden.json", "{")
    write(tmp_path, "5.YAML", as_yaml(workload("e")))
    (tmp_path / "folder.json").mkdir()
    (tmp_path / ".git").mkdir()
    state = read(tmp_path, now=NOW)
    assert [each.metadata.name for each in state.workloads] == ["a", "b", "c", "d", "e"]
    assert state.source == str(tmp_path)
    told(state.notes)


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


@pytest.mark.parametrize("name", ["list.json", "documents.yaml"])
def test_dash_is_standard_input(stdin: Callable[[bytes], None], name: str) -> None:
    stdin(FORMS[name].encode())
    state = read("-", now=NOW)
    assert without_origin(state) == EXPECTED
    assert state.source == "stdin"


def test_standard_input_may_be_gzip(stdin: Callable[[bytes], None]) -> None:
    stdin(gzip.compress(FORMS["list.json"].encode()))
    assert without_origin(read("-", now=NOW)) == EXPECTED


def test_standard_input_may_be_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(FORMS["list.json"]))
    assert without_origin(read("-", now=NOW)) == EXPECTED


def test_many_documents_of_growing_size_are_all_read(tmp_path: Path) -> None:
    """Documents are handed to the parser in pieces, so small ones before large ones matter."""
    sizes = [0, 1, 5_000, 3, 100_000, 2, 4_096, 0]
    objects = [workload(f"w{n}", podSets=[], note="x" * size) for n, size in enumerate(sizes)]
    text = " ".join(map(json.dumps, objects))
    state = read(write(tmp_path, "many.json", text), now=NOW)
    assert [each.metadata.name for each in state.workloads] == [f"w{n}" for n in range(len(sizes))]


def test_what_a_file_holds_is_read_as_the_file(tmp_path: Path) -> None:
    """Its bytes, an open file, and what ``json.load`` makes of it."""
    dump = json.dumps(listed(*OBJECTS))
    path = tmp_path / "dump.json"
    path.write_text(dump, encoding="utf-8")
    expected = read_any(path, now=NOW)
    for given in (dump.encode(), gzip.compress(dump.encode()), json.loads(dump)):
        state = read_any(given, now=NOW)
        assert isinstance(state, State)
        assert without_origin(state) == EXPECTED
    with path.open("rb") as octets, path.open(encoding="utf-8") as text:
        for stream in (octets, text):
            assert read_any(stream, now=NOW) == expected


def test_what_is_handed_over_is_bounded_and_may_be_wrong() -> None:
    with pytest.raises(InputError) as caught:
        read_any(b"[1,2]", max_bytes=4)
    told(caught.value)
    with pytest.raises(InputError) as caught:
        read_any(io.StringIO("[1,2]"), max_bytes=4)
    told(caught.value)
    with pytest.raises(InputError, match="the value"):
        read_any([{"kind": 3}])
    latin = io.TextIOWrapper(io.BytesIO(b"\xff"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_any(latin)
    told(caught.value)
