"""Files, folders and recorded lines as states, one by one."""

import gzip
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from planner.commands.study.instance import (
    Place,
    count_states,
    find_places,
    open_packed,
    packed_states,
)
from planner.errors import InputError
from planner.reader.settings import TAKEN_AT
from planner.state.yunikorn import YuniKornState
from tests import recorded
from tests.cli.running import another_pending, cluster, write
from tests.cluster import dump_of, queue
from tests.conftest import ROOT, YUNIKORN
from tests.told import told
from tests.yunikorn.recorded import FOLDER, NAMES

PENDING = "ns/pending"
TIME = "2026-05-01T13:00:00Z"


def names(path: Path) -> list[str]:
    """Return the names of all states in a folder or file, without the folder."""
    return [one.name.removeprefix(f"{path}/") for one in packed_states(str(path))]


def test_a_dump_is_one_state(tmp_path: Path) -> None:
    (packed,) = packed_states(str(write(tmp_path, cluster(another_pending("second")))))
    instance = open_packed(packed)
    assert instance.name == str(tmp_path / "cluster.json")
    assert instance.pending == (PENDING, "ns/second")


def test_a_packed_state_needs_no_file(tmp_path: Path) -> None:
    path = write(tmp_path, cluster())
    (packed,) = packed_states(str(path))
    path.unlink()
    assert open_packed(pickle.loads(pickle.dumps(packed))).pending == (PENDING,)  # noqa: S301 - ours


def test_a_folder_of_one_kind_a_file_is_one_state(tmp_path: Path) -> None:
    items = cluster()["items"]
    for kind in {item["kind"] for item in items}:
        some = [item for item in items if item["kind"] == kind]
        write(tmp_path, {"apiVersion": "v1", "kind": "List", "items": some}, f"{kind}.json")
    (packed,) = packed_states(str(tmp_path))
    assert open_packed(packed).pending == (PENDING,)


def test_a_folder_of_dumps_is_a_state_a_file(tmp_path: Path) -> None:
    write(tmp_path, cluster(), "monday.json")
    write(tmp_path, cluster(another_pending("second")), "tuesday.json")
    assert names(tmp_path) == ["monday.json", "tuesday.json"]
    opened = [open_packed(packed).pending for packed in packed_states(str(tmp_path))]
    assert opened == [(PENDING,), (PENDING, "ns/second")]


def test_dumps_of_a_folder_are_bounded_one_by_one(tmp_path: Path) -> None:
    """And found under any name, but for hidden files."""
    size = len(json.dumps(cluster()))
    for name in ("1.json", "2.json", "cluster 9.41\u202fAM.json"):
        write(tmp_path, cluster(), name)
    for name in ("._1.json", "._rows.jsonl"):
        (tmp_path / name).write_text("{}")
    found = list(packed_states(str(tmp_path), size + 1000))
    assert len(found) == 3
    assert [open_packed(packed).pending for packed in found] == [(PENDING,)] * 3


def test_folders_below(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, cluster())
    with gzip.open(tmp_path / "recorded.jsonl.gz", "wt") as file:
        file.write(json.dumps({"id": "x", "state": cluster()}) + "\n")
    assert names(tmp_path) == ["recorded.jsonl.gz: line 1", "a/cluster.json", "b/cluster.json"]


def test_the_dumps_of_the_project() -> None:
    """Each file of the issue zoo is a state, each folder of YuniKorn one."""
    found = names(ROOT / "instances" / "regressions")
    assert "kueue-1974-too-many-victims.yaml" in found
    assert "yunikorn-1877-opted-out-last" in found
    assert len(found) > 29


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "notes.txt", "below/rows.jsonl"])
def test_a_folder_without_a_state_says_what_is_missing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("\n")
    paths = [tmp_path, tmp_path / name] if name.startswith("rows") else [tmp_path]
    for path in paths:
        with pytest.raises(InputError) as caught:
            find_places(str(path))
        told(caught.value)
        assert caught.value.where == str(path)


def test_a_folder_that_goes_while_another_is_looked_at_has_no_state(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        write(tmp_path / name, cluster())

    def order(path: Path) -> str:
        if path.parent.name == "a":
            shutil.rmtree(tmp_path / "b", ignore_errors=True)
        return path.name

    found = [one.name for one in packed_states(str(tmp_path), order=order)]
    assert found == [str(tmp_path / "a" / "cluster.json")]


def test_a_folder_below_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path, cluster())
    assert names(tmp_path) == ["cluster.json"]


@pytest.mark.parametrize("name", ["", "absent.json", "absent.jsonl", "a\0b", "/dev/null"])
def test_what_is_no_file_is_refused_before_anything_is_read(name: str) -> None:
    with pytest.raises(InputError):
        find_places(name)


def yunikorn(nanoseconds: int = 0) -> dict[str, Any]:
    """Return a state dump of the core, of so much later."""
    dump = json.loads((YUNIKORN / "statedump.json").read_text("utf-8"))
    return {**dump, "timestamp": dump["timestamp"] + nanoseconds}


def test_state_dumps_of_yunikorn_are_a_state_each(tmp_path: Path) -> None:
    """One beside queues.yaml and PriorityClasses is one state with them."""
    dumps = [yunikorn(9), yunikorn(10)]
    write(tmp_path, dumps[0], "09.json")
    (tmp_path / "10.json").write_text(json.dumps(dumps[1], indent=1))
    with gzip.open(tmp_path / "11.yaml.gz", "wt") as file:
        file.write("".join(f"{name}: {json.dumps(part)}\n" for name, part in dumps[1].items()))
    (tmp_path / "one").mkdir()
    for own in YUNIKORN.iterdir():
        shutil.copy(own, tmp_path / "one")
    found = list(packed_states(str(tmp_path)))
    assert [one.name.removeprefix(f"{tmp_path}/") for one in found] == [
        "09.json",
        "10.json",
        "11.yaml.gz",
        "one",
    ]
    opened = [open_packed(one) for one in found]
    assert len({one.pending for one in opened}) == 1
    states = [one.state for one in opened]
    first, *others = (one.now for one in states if isinstance(one, YuniKornState))
    assert [later - first for later in others] == [1, 1, -9]


def test_lines_that_are_state_dumps_of_yunikorn(tmp_path: Path) -> None:
    file = tmp_path / "day.jsonl"
    file.write_text("".join(f"{json.dumps(yunikorn(at))}\n" for at in (9, 10)))
    alone = open_packed(next(packed_states(str(write(tmp_path, yunikorn(9))))))
    first, second = (open_packed(one) for one in packed_states(str(file)))
    assert first.pending == second.pending == alone.pending != ()
    assert first.state.digest != second.state.digest


def test_snapshots_of_a_quiet_time_are_states(tmp_path: Path) -> None:
    """What the planner itself took is whole, also where nothing ran or waited."""
    quiet = dump_of(queue("alone", 4))
    for name in ("1.json", "2.json"):
        write(tmp_path, {**quiet, "metadata": {"annotations": {TAKEN_AT: TIME}}}, name)
    assert names(tmp_path) == ["1.json", "2.json"]
    for name in ("3.json", "4.json"):
        write(tmp_path, cluster(), name)
    write(tmp_path, quiet, "5.json")
    assert names(tmp_path) == [f"{number}.json" for number in range(1, 6)]


def test_a_typed_list_has_the_kind_of_its_items(tmp_path: Path) -> None:
    """As the API server answers."""
    items: dict[str, list[Any]] = {}
    for item in cluster()["items"]:
        items.setdefault(item["kind"], []).append(item)
    lists = [
        {"apiVersion": some[0]["apiVersion"], "kind": f"{kind}List", "items": some}
        for kind, some in items.items()
    ]
    for one in (item for some in items.values() for item in some):
        del one["kind"]
    for name in ("1.json", "2.json"):
        (tmp_path / name).write_text("\n".join(map(json.dumps, lists)))
    assert names(tmp_path) == ["1.json", "2.json"]
    assert open_packed(next(packed_states(str(tmp_path)))).pending == (PENDING,)


@pytest.mark.parametrize("state", [cluster(), yunikorn()], ids=["kueue", "yunikorn"])
def test_what_belongs_to_no_state_of_a_folder_is_named(tmp_path: Path, state: object) -> None:
    """Nobody can say to which of them: neither to none nor to all."""
    for name in ("1.json", "2.json"):
        write(tmp_path, state, name)
    write(tmp_path, {"apiVersion": "v1", "kind": "List", "items": []}, "pods.json")
    with pytest.raises(InputError) as caught:
        find_places(str(tmp_path))
    assert caught.value.where == str(tmp_path)
    told(caught.value.found)


def test_what_cannot_be_read_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    text = json.dumps(cluster()).encode()
    (tmp_path / "1.json.gz").write_bytes(gzip.compress(text))
    (tmp_path / "2.json.gz").write_bytes(gzip.compress(text)[:-9])
    (tmp_path / "3.json").write_bytes(text[:30])
    (tmp_path / "4.json").write_bytes(b" " * (len(text) + 101))
    (tmp_path / "5.json").symlink_to("nowhere")
    lines = gzip.compress(b"".join(b"%s\n" % text for _ in range(9)))
    (tmp_path / "6.jsonl.gz").write_bytes(lines[:-9])
    found = list(packed_states(str(tmp_path), len(text) + 100))
    assert count_states(find_places(str(tmp_path), len(text) + 100)) == len(found)
    said = {}
    for one in found:
        name = one.name.removeprefix(f"{tmp_path}/")
        again = pickle.loads(pickle.dumps(one))  # noqa: S301 - ours
        assert again.digest == one.digest
        try:
            said[name] = open_packed(again).pending[0]
        except InputError as error:
            said[name] = error.found
    lost = said.popitem()
    assert said.pop("1.json.gz") == PENDING
    told(said.pop("2.json.gz"))
    told(said.pop("3.json"))
    assert said.pop("4.json").startswith("has ")
    assert set(said.values()) <= {PENDING}
    told(lost[0])
    assert lost[1].startswith("is damaged")


def test_one_state_beside_a_damaged_file_is_read(tmp_path: Path) -> None:
    write(tmp_path, cluster(), "1.json")
    (tmp_path / "2.json.gz").write_bytes(b"\x1f\x8b")
    assert names(tmp_path) == ["1.json", "2.json.gz"]


def test_a_link_to_a_dump_beside_it_is_no_second_state(tmp_path: Path) -> None:
    for name in ("1.json", "2.json"):
        write(tmp_path, cluster(), name)
    (tmp_path / "latest.json").symlink_to("2.json")
    assert names(tmp_path) == ["1.json", "2.json"]


def test_a_recorded_line_names_who_waits_and_the_flavors() -> None:
    path = recorded.path_of("flavors")
    assert path is not None
    packed = next(packed_states(str(path)))
    line = next(recorded.lines("flavors"))
    instance = open_packed(packed)
    assert packed.name == f"{path}: line 1"
    assert instance.pending == (line["pending"],)
    assert instance.assignment == line.get("assignment")
    assert instance.state.digest == line["id"]


def test_a_whole_cycle_is_about_everybody() -> None:
    path = recorded.path_of("cycle-classical")
    assert path is not None
    instance = open_packed(next(packed_states(str(path))))
    line = next(recorded.lines("cycle-classical"))
    waiting = [
        f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        for item in line["state"]["items"]
        if item["kind"] == "Workload" and not item.get("status", {}).get("admission")
    ]
    assert set(instance.pending) == set(waiting)


@pytest.mark.skipif("small-generic" not in NAMES, reason="no recorded answers")
def test_a_recorded_line_of_yunikorn() -> None:
    path = FOLDER / "small-generic.jsonl.gz"
    with gzip.open(path, "rt") as file:
        line = json.loads(next(file))
    instance = open_packed(next(packed_states(str(path))))
    assert instance.pending == (line["ask"]["allocationKey"],)


@pytest.mark.skipif("arith" not in NAMES, reason="no recorded answers")
def test_a_line_without_an_ask_is_refused() -> None:
    packed = next(packed_states(str(FOLDER / "arith.jsonl.gz")))
    with pytest.raises(InputError, match="arith"):
        open_packed(packed)


def test_a_line_that_is_a_dump(tmp_path: Path) -> None:
    path = tmp_path / "states.jsonl"
    path.write_text(json.dumps(cluster()) + "\n\n" + json.dumps(cluster()) + "\n")
    first, second = packed_states(str(path))
    assert (first.name, second.name) == (f"{path}: line 1", f"{path}: line 3")
    assert open_packed(second).pending == (PENDING,)


@pytest.mark.parametrize("text", ['{"id": "x", "state": 3}', "[1]", "{", '{"id": "x"}'])
def test_a_bad_line_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "states.jsonl"
    path.write_text(text + "\n")
    (packed,) = packed_states(str(path))
    with pytest.raises(InputError) as caught:
        open_packed(packed)
    told(caught.value)


def test_counting_states(tmp_path: Path) -> None:
    lines = tmp_path / "states.jsonl"
    lines.write_text("{}\n\n{}\n{}\n")
    dump = write(tmp_path, cluster())
    assert count_states([Place(str(lines), lines=True), Place(str(dump)), Place("-")]) == 5


def test_links_are_not_followed_round_and_round(tmp_path: Path) -> None:
    """Every folder is read once, under its own name."""
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
        write(folder, cluster())
        (folder / "0-up").symlink_to(tmp_path)
    for folder in folders:
        for other in folders:
            (folder / f"to-{other.name}").symlink_to(other)
    (tmp_path / "0-first").symlink_to(folders[1])
    names = [packed.name for packed in packed_states(str(tmp_path))]
    assert names == [str(folder / "cluster.json") for folder in folders]


def test_a_link_to_a_folder_elsewhere_is_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    write(outside, cluster())
    (inside / "link").symlink_to(outside)
    assert names(inside) == ["link/cluster.json"]
