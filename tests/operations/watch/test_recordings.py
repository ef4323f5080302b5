"""What ``planner watch --record`` keeps: the states around each preemption."""

import copy
import errno
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

import planner
from planner.errors import InputError
from planner.operations.kubectl.kueue_resource import WATCHED
from planner.operations.kubectl.watch import WatchEvent
from planner.operations.watch.kueue.keep import Keeper, Store, Whole, text_of
from planner.operations.watch.record import Note, Preemption
from planner.state.kueue import of_kueue
from planner.state.kueue_topology import HOST
from tests.cli.running import SMALL
from tests.operations.kubectl.api_server import touch
from tests.operations.watch.stage import TAKEN, Cluster, nothing, of
from tests.reference.topology.racks import runs, state_of
from tests.told import told


def test_what_cannot_be_recorded_is_told_all_the_same(kueue: Cluster, tmp_path: Path) -> None:
    """A file is in the way of the folder for two preemptions; the third is recorded."""
    folder = tmp_path / "recordings"
    folder.touch()

    def mended() -> Sequence[WatchEvent]:
        folder.unlink()
        return kueue.preempt(SMALL[2])

    first, second = (partial(kueue.preempt, one) for one in SMALL[:2])
    kueue.steps = [kueue.begin, first, nothing, second, nothing, mended, nothing, nothing]
    lines = kueue.run(Store(folder))
    preemptions = of(lines, Preemption)
    assert [bool(one.recording) for one in preemptions] == [False, False, True]
    assert [Path(one.recording).parent for one in preemptions[2:]] == [folder]
    texts = [one.text for one in of(lines, Note) if "read:" not in one.text]
    assert [text.partition(":")[0] for text in texts] == [
        "nothing is recorded",
        "preemptions are recorded again",
    ]
    assert "Not a directory" in texts[0]


def test_half_a_recording_is_not_left(
    kueue: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full before the second of the two files."""
    whole, write = Keeper(kueue.take(), {}, lambda: 0.0).whole, Path.write_bytes

    def until_full(path: Path, data: bytes) -> int:
        if path.name.startswith("after"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", until_full)
    with pytest.raises(InputError) as caught:
        Store(tmp_path).keep(_preempted_for("ns/a"), whole, whole)
    told(caught.value)
    assert [*tmp_path.iterdir()] == []


def test_a_recording_has_the_quotas_of_its_time(kueue: Cluster, tmp_path: Path) -> None:
    """While the victims leave, the quota is raised and everything is read again."""

    def raised() -> Sequence[WatchEvent]:
        found = next(one for one in kueue.items if one["metadata"]["name"] == "lender")
        (flavor,) = found["spec"]["resourceGroups"][0]["flavors"]
        flavor["resources"][0]["nominalQuota"] = "1000"
        touch(found)
        return [WatchEvent(WATCHED[1], "MODIFIED", copy.deepcopy(found))]

    kueue.steps = [kueue.begin, nothing, lambda: kueue.preempt(*SMALL), raised, *[nothing] * 4]
    (preemption,) = of(kueue.run(Store(tmp_path)), Preemption)
    quotas = []
    for label in ("before", "after"):
        state = of_kueue(planner.read(Path(preemption.recording, f"{label}.json.gz")))
        (queue,) = (one for one in state.cluster_queues if one.metadata.name == "lender")
        quotas.append(queue.spec.resource_groups[0].flavors[0].resources[0].nominal_quota)
    assert quotas[1] == quotas[0] * 1000 // 8


def test_places_in_the_form_of_an_older_version_are_recorded_in_that_of_the_newer() -> None:
    """Of v1beta2, which a recording is, the API server knows no ``domains``."""
    (one,) = runs("r", {"gpu": 1}, {"n1": 1, "n2": 2})
    (assigned,) = one["status"]["admission"]["podSetAssignments"]
    domains = [{"values": ["n1"], "count": 1}, {"values": ["n2"], "count": 2}]
    assigned["topologyAssignment"] = {"levels": [HOST], "domains": domains}
    one["apiVersion"] = "kueue.x-k8s.io/v1beta1"
    read_before = state_of([one])
    (written,) = json.loads(text_of(Whole(read_before, [])))["items"]
    assert written["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    state = state_of([written])
    assert state.notes == read_before.notes
    found = [each.status.admission for each in (*read_before.workloads, *state.workloads)]
    places = [
        [*each.pod_set_assignments[0].topology.places()]
        for each in found
        if each and each.pod_set_assignments[0].topology
    ]
    assert places == [[(("n1",), 1), (("n2",), 2)]] * 2


def test_recordings_are_bounded(
    kueue: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.operations.watch.kueue.keep.MOST", 2)
    store = Store(tmp_path / "deep" / "er")
    whole = Keeper(kueue.take(), {}, lambda: 0.0).whole
    for name in "abc":
        store.keep(_preempted_for(f"ns/{name}"), whole, whole)
    assert [one.name.split("-")[3] for one in _sorted(tmp_path)] == ["b", "c"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("team-a/b-train", "team/a-b-train"), (f"ns/{'long' * 30}-1", f"ns/{'long' * 30}-2")],
)
def test_two_preemptors_of_a_second_have_folders_of_their_own(
    kueue: Cluster, tmp_path: Path, first: str, second: str
) -> None:
    store, whole = Store(tmp_path), Keeper(kueue.take(), {}, lambda: 0.0).whole
    folders = {store.keep(_preempted_for(key), whole, whole).recording for key in (first, second)}
    assert folders == {str(one) for one in tmp_path.iterdir()}
    assert len(folders) == 2


def _preempted_for(key: str) -> Preemption:
    return Preemption(at=TAKEN, preemptor=key, queue="q", outcome="equal", evicted=())


def _sorted(folder: Path) -> Iterator[Path]:
    return iter(sorted((folder / "deep" / "er").iterdir()))
