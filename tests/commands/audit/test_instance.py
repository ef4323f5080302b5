"""Files, folders and recorded lines as states, one by one."""

import gzip
import json
import pickle
from pathlib import Path

import pytest

from planner.commands.audit.instance import count_states, open_packed, packed_states
from planner.errors import InputError
from tests import recorded
from tests.cli.running import another_pending, cluster, write
from tests.conftest import ROOT
from tests.yunikorn.recorded import FOLDER, NAMES

PENDING = "ns/pending"


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
    assert names(tmp_path) == ["recorded.jsonl.gz: line 1", "a", "b"]


def test_the_dumps_of_the_project() -> None:
    """Each file of the issue zoo is a state, each folder of YuniKorn one."""
    found = names(ROOT / "instances" / "regressions")
    assert "kueue-1974-too-many-victims.yaml" in found
    assert "yunikorn-1877-opted-out-last" in found
    assert len(found) > 29


def test_an_empty_folder_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file to read"):
        list(packed_states(str(tmp_path)))


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
    with pytest.raises(InputError, match=r"states\.jsonl: line 1"):
        open_packed(packed)


def test_counting_states(tmp_path: Path) -> None:
    lines = tmp_path / "states.jsonl"
    lines.write_text("{}\n\n{}\n{}\n")
    assert count_states([str(lines), str(write(tmp_path, cluster())), "-"]) == 5
    assert count_states([str(lines), str(tmp_path)]) is None


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
    assert names == [str(folder) for folder in folders]


def test_a_link_to_a_folder_elsewhere_is_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    write(outside, cluster())
    (inside / "link").symlink_to(outside)
    assert [packed.name for packed in packed_states(str(inside))] == [str(inside / "link")]
