"""When the decision is made, and what names the input."""

import gzip
import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.reader.settings import TAKEN_AT
from tests.cluster import queue, running
from tests.cluster import state_of as small
from tests.kueue_state import read, read_objects
from tests.reader.dumps import Object, cluster_queue, error_of, kueue, listed, workload, write
from tests.told import told

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-06-01T12:30:00.25Z"
LATE_MOMENT = datetime(2026, 6, 1, 12, 30, 0, 250_000, UTC)


def created(moment: str, kind: str = "Workload", name: str = "a") -> Object:
    made = kueue(kind, name)
    return {**made, "metadata": {**made["metadata"], "creationTimestamp": moment}}


def changed(moment: str, kind: str = "Workload", name: str = "b") -> Object:
    conditions = [{"type": "Active", "status": "True", "lastTransitionTime": moment}]
    return {**kueue(kind, name), "status": {"conditions": conditions}}


@pytest.mark.parametrize(
    "objects",
    [
        [created(EARLY), created(LATE, name="z"), created(EARLY, name="y")],
        [created(EARLY), changed(LATE)],
        [created(EARLY), created(LATE, "ClusterQueue")],
        [created(EARLY), changed(LATE, "ClusterQueue")],
        [created(EARLY), changed(LATE, "AdmissionCheck")],
        [changed(EARLY), created(LATE, "ResourceFlavor")],
        [{**created(LATE, "WorkloadPriorityClass"), "value": 1}, created(EARLY)],
    ],
)
def test_newest_timestamp_of_any_object_is_the_clock(objects: list[Object]) -> None:
    assert read_objects(objects, where="dump").now == LATE_MOMENT
    assert read_objects(objects[::-1], where="dump").now == LATE_MOMENT


@pytest.mark.parametrize(
    "now",
    [
        "2026-03-08T21:06:00Z",
        "2026-03-08T22:06:00+01:00",
        "2026-03-08t21:06:00z",
        "2026-03-08 21:06:00.000+00:00",
        datetime(2026, 3, 8, 21, 6, tzinfo=UTC),
        datetime(2026, 3, 8, 22, 6, tzinfo=timezone(timedelta(hours=1))),
    ],
)
def test_given_clock_wins_and_is_utc(now: str | datetime) -> None:
    instance = {"now": EARLY, "state": listed(created(LATE))}
    moment = read_objects(instance, where="dump", now=now).now
    assert moment == datetime(2026, 3, 8, 21, 6, tzinfo=UTC)
    assert moment.utcoffset() == timedelta(0)


def test_recorded_instance_brings_its_clock_and_only_its_state_is_read(tmp_path: Path) -> None:
    instance = {
        "id": "x-1",
        "now": EARLY,
        "pending": "team-a/a",
        "state": listed(created(LATE)),
        "expect": {"items": ["anything"]},
    }
    for value in (instance, {**instance, "state": [created(LATE)]}):
        state = read(write(tmp_path, "instance.json", value))
        assert state.now == datetime(2026, 1, 1, tzinfo=UTC)
        assert [each.key for each in state.workloads] == ["team-a/a"]


def test_errors_in_an_instance_have_its_path() -> None:
    broken = {"now": EARLY, "state": listed(workload(podSets=[{"count": -1}]))}
    error = error_of(lambda: read_objects(broken, where="x-1"))
    told(error.where)


def test_instance_without_a_clock_has_the_newest_timestamp() -> None:
    assert read_objects({"state": [created(LATE)]}, where="x").now == LATE_MOMENT


@pytest.mark.parametrize(
    "now", ["", "yesterday", "2026-03-08", "2026-03-08T21:06:00", "2026-13-08T21:06:00Z", "21:06"]
)
def test_clock_that_is_no_timestamp_is_refused(now: str) -> None:
    error = error_of(lambda: read_objects([created(EARLY)], where="dump", now=now))
    assert error.where == "now"
    assert f'"{now}"' in error.found
    assert "RFC 3339" in error.expected


@pytest.mark.parametrize(
    "now",
    [
        datetime(2026, 3, 8, 21, 6),  # noqa: DTZ001 - without a zone is the point
        datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
    ],
)
def test_clock_without_a_place_in_utc_is_refused(now: datetime) -> None:
    error = error_of(lambda: read_objects([created(EARLY)], where="dump", now=now))
    assert error.where == "now"


@pytest.mark.parametrize("now", [5, "soon", {}, True])
def test_broken_clock_of_an_instance_is_refused(now: Any) -> None:
    error = error_of(lambda: read_objects({"now": now, "state": []}, where="x-1"))
    assert error.where == "x-1: now"


def test_without_any_timestamp_a_clock_is_asked_for() -> None:
    error = error_of(lambda: read_objects(listed(cluster_queue()), where="dump.json"))
    assert error.where == "dump.json"
    assert "now=2026" in error.hint
    values: tuple[Any, ...] = ([], listed(), listed(cluster_queue()))
    for value in values:
        assert read_objects(value, where="dump.json", now=EARLY).workloads == ()


def test_two_instances_are_not_one_state(tmp_path: Path) -> None:
    line = json.dumps({"now": EARLY, "state": listed(created(EARLY))})
    error = error_of(lambda: read(write(tmp_path, "many.jsonl", f"{line}\n{line}\n")))
    told(error.where)
    assert "planner replay" in error.hint


def test_digest_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    data = json.dumps([created(EARLY)]).encode()
    for name, stored in {"a.json": data, "a.json.gz": gzip.compress(data)}.items():
        path = write(tmp_path, name, stored)
        assert read(path).digest == hashlib.sha256(stored).hexdigest()


def test_digest_of_a_directory_depends_on_names_and_bytes(tmp_path: Path) -> None:
    def digest(folder: str, **files: Object) -> str:
        (tmp_path / folder).mkdir()
        for name, value in files.items():
            write(tmp_path / folder, f"{name}.json", value)
        return read(tmp_path / folder).digest

    one, two = created(EARLY, name="one"), created(EARLY, name="two")
    first = digest("first", a=one, b=two)
    assert first == digest("same", b=two, a=one)
    assert first != digest("swapped", a=two, b=one)
    assert first != digest("renamed", a=one, c=two)
    assert len(first) == 64


def test_digest_of_a_value_ignores_the_order_of_keys() -> None:
    value = created(EARLY)
    turned = dict(reversed(value.items()))
    expected = hashlib.sha256(
        json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()
    assert read_objects(value, where="x").digest == expected
    assert read_objects(turned, where="x").digest == expected


def test_given_digest_is_kept() -> None:
    assert read_objects(created(EARLY), where="x", digest="abc").digest == "abc"


def test_value_that_is_not_json_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in ({"kind": object()}, [{1, 2}], deep, {"kind": "List", "items": [10**5000]}):
        error = error_of(partial(read_objects, value, where="x"))
        assert error.where == "x"


def test_the_time_of_a_snapshot_is_the_clock() -> None:
    taken = {**listed(created(EARLY)), "metadata": {"annotations": {TAKEN_AT: LATE}}}
    assert read_objects(taken, where="dump").now == LATE_MOMENT
    taken = {**listed(created(LATE)), "metadata": {"annotations": {TAKEN_AT: EARLY}}}
    assert read_objects(taken, where="dump").now == LATE_MOMENT


@pytest.mark.parametrize("said", ["yesterday", 7, None, {}])
def test_a_snapshot_time_that_is_none_is_refused(said: Any) -> None:
    taken = {**listed(created(EARLY)), "metadata": {"annotations": {TAKEN_AT: said}}}
    if said is None:
        assert read_objects(taken, where="dump").notes == ()
        return
    with pytest.raises(InputError) as caught:
        read_objects(taken, where="dump")
    told(caught.value)


def test_quota_held_since_nobody_knows_when_is_a_note() -> None:
    def notes(*parts: Iterable[Object]) -> list[str]:
        return [one for one in small(*parts).notes if "since when" in one]

    first, second = running("first", "a", 1), running("second", "a", 1)
    assert notes(queue("a", 2), first, second) == []
    for one in (*first, *second):
        for condition in one["status"]["conditions"]:
            del condition["lastTransitionTime"]
    (note,) = notes(queue("a", 2), first, second)
    assert note.endswith("ns/first and 1 more")
