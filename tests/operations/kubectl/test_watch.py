"""Several watches at once: what they tell, how they end, and when they begin again."""

import copy
import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.operations.kubectl.call import Kubectl
from planner.operations.kubectl.kueue_resource import WORKLOADS
from planner.operations.kubectl.watch import MAX_OBJECT, Streams, WatchEvent, reason
from tests.conftest import FOR_EVER_S
from tests.operations.kubectl.api_server import CUT, Log, api_server, failure, touch
from tests.operations.kubectl.test_real import OBJECTS, write
from tests.stand_in import Object
from tests.told import told

real_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")


class Clock:
    """A clock that goes only when somebody says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class Scripted:
    """Instead of kubectl: a shell that prints what is to be told, one program a start."""

    def __init__(self, *scripts: str) -> None:
        self.scripts = list(scripts)
        self.started: list[tuple[str, ...]] = []
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Run the next program."""
        self.started.append(words)
        script = self.scripts.pop(0) if self.scripts else "exec sleep 60"
        pipe = subprocess.PIPE
        shell = ["/bin/sh", "-c", script]
        process = subprocess.Popen(shell, stdout=pipe, stderr=pipe, start_new_session=True)
        self.processes.append(process)
        return process


LISTED = '{"type": "ADDED", "object": {"kind": "WorkloadList", "items": []}}'


def said(kind: str, name: str, version: int = 1) -> str:
    """Return what kubectl prints of an event, on a line of its own."""
    metadata = {"name": name, "resourceVersion": str(version)}
    event = {"type": kind, "object": {"kind": "Workload", "metadata": metadata}}
    return json.dumps(event)


@contextmanager
def streams(scripted: Any, clock: Callable[[], float] = time.monotonic) -> Iterator[Streams]:
    found = Streams(lambda: scripted, [WORKLOADS], clock)
    try:
        yield found
    finally:
        found.close()


def hear(source: Streams, until: Callable[[list[WatchEvent]], bool]) -> list[WatchEvent]:
    """Return what is told until that is enough."""
    news: list[WatchEvent] = []
    end = time.monotonic() + FOR_EVER_S
    while not until(news) and time.monotonic() < end:
        news += source.poll(0.05)
    return news


def ends(news: list[WatchEvent]) -> bool:
    return any(one.kind == "LOST" for one in news)


def test_events_in_pieces_and_several_in_one() -> None:
    text = f"{LISTED}\n{said('ADDED', 'a')}\n{said('MODIFIED', 'b')}"
    half = len(text) // 2 + 3
    first = f"printf '%s' '{text[:9]}'; sleep 0.1; printf '%s' '{text[9:half]}'; sleep 0.1"
    scripted = Scripted(f"{first}; printf '%s\n' '{text[half:]}'")
    with streams(scripted) as source:
        news = hear(source, ends)
    found = [(one.kind, one.value.get("metadata", {}).get("name")) for one in news]
    assert found == [("BEGUN", None), ("ADDED", "a"), ("MODIFIED", "b"), ("LOST", None)]
    words = scripted.started[0]
    assert words[:2] == ("get", WORKLOADS)
    assert {"--watch", "--output-watch-events", "--output=json"} <= set(words)


@pytest.mark.parametrize(
    "script",
    [
        "echo 'Error from server (Forbidden): no' >&2; exit 1",
        f"printf '%s\n' '{LISTED}' '{said('ERROR', 'x')}'",
        "printf 'x\n{}\n'",
        "printf 'x\n[\n'",
        "printf 'x\n7\n'",
        'printf \'x\n{"type": "ADDED", "object": 7}\n\'',
        "printf 'x\n\377\n'",
        "exit 3",
        f"head -c {MAX_OBJECT + 2} /dev/zero; echo; exit 4",
        f"echo; head -c {MAX_OBJECT + 2} /dev/zero",
    ],
)
def test_how_one_ends(script: str) -> None:
    with streams(Scripted(script)) as source:
        last = hear(source, ends)[-1]
    assert last.answer is not None
    told(reason(last.answer))


def test_it_begins_again_after_a_while_that_grows() -> None:
    clock = Clock()
    scripted = Scripted("exit 1", "exit 1", "exit 1", f"printf '%s\n' x '{said('ADDED', 'a')}'")
    starts, ended = [0.0], 0
    with streams(scripted, clock) as source:
        while len(starts) < 5:
            ended += sum(one.kind == "LOST" for one in source.poll(0.01))
            if len(scripted.started) > len(starts):
                starts.append(clock.now)
            if ended == len(starts):  # the clock goes only while it rests
                clock.now += 0.5
    waits = [later - before for before, later in itertools.pairwise(starts)]
    assert waits == [1, 2, 4, 1]  # it had told something: then it is as at first


@pytest.mark.parametrize(
    "line",
    [
        {"type": "BOOKMARK", "object": {"kind": "Workload", "metadata": {"resourceVersion": "9"}}},
        {"type": "BOOKMARK", "object": None},
        {"type": ["ADDED"], "object": {}},
        {"type": {"a": 1}, "object": 7},
        {"type": None, "object": []},
    ],
)
def test_what_is_no_change_is_passed_over(line: Object) -> None:
    script = f"printf '%s\n' x '{json.dumps(line)}' '{said('ADDED', 'a')}'"
    with streams(Scripted(script)) as source:
        news = hear(source, ends)
    assert [one.kind for one in news] == ["BEGUN", "ADDED", "LOST"]


def test_a_kubectl_that_cannot_be_started_any_more_is_tried_again() -> None:
    clock, scripted = Clock(), Scripted("exit 3", f"printf '%s\n' x '{said('ADDED', 'a')}'")
    there = True

    def connect() -> Any:
        if not there:
            raise InputError("kubectl", "is not on PATH", hint="install it")
        return scripted

    source = Streams(connect, [WORKLOADS], clock)
    try:
        (first,) = hear(source, ends)
        there = False
        told: list[WatchEvent] = []
        for _ in range(8):
            clock.now += 0.5
            told += source.poll(0)
        there = True
        clock.now += 60
        news = hear(source, ends)
    finally:
        source.close()
    assert first.answer is not None
    assert first.answer.code == 3
    said_of = [one.answer for one in told if one.answer]
    assert [(one.code, reason(one)) for one in said_of] == [
        (0, "kubectl: is not on PATH; hint: install it")
    ] * 2
    assert [one.kind for one in news] == ["BEGUN", "ADDED", "LOST"]


def test_a_kubectl_that_was_never_started_is_an_error() -> None:
    def connect() -> Any:
        raise InputError("kubectl", "is not on PATH")

    with pytest.raises(InputError) as caught:
        Streams(connect, [WORKLOADS]).poll(0)
    told(caught.value)


def test_one_that_has_nothing_to_tell_has_begun_after_a_while() -> None:
    clock = Clock()
    with streams(Scripted(), clock) as source:
        assert not source.poll(0)
        clock.now += 6
        assert [one.kind for one in source.poll(0)] == ["BEGUN"]
        assert not source.poll(0)


def test_nothing_is_left_running() -> None:
    scripted = Scripted()
    with streams(scripted) as source:
        source.poll(0)
    (process,) = scripted.processes
    assert process.returncode is not None


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "config"


@real_kubectl
def test_the_real_one(config: Path) -> None:
    """It tells what changes, and begins again once it is cut off or gone."""
    items: list[Object] = copy.deepcopy([one for one in OBJECTS if one["kind"] == "Workload"])
    for one in items:
        one["metadata"]["resourceVersion"] = "1"
    log: Log = []
    refused: list[int] = []
    with api_server(items, log=log, fault=lambda _: refused.pop() if refused else 0) as server:
        write(config, server)
        kubectl = Kubectl(context="this", kubeconfig=str(config))
        with streams(kubectl) as source:
            begun, *listed = hear(source, bool)
            assert begun.kind == "BEGUN"
            touch(items[0])
            log.append(("MODIFIED", items[0]))
            *more, changed = hear(source, lambda news: any(one.kind == "MODIFIED" for one in news))
            assert {one.kind for one in (*listed, *more)} <= {
                "ADDED"
            }  # kubectl lists pieces one by one
            assert (changed.kind, changed.value["metadata"]["resourceVersion"]) == ("MODIFIED", "2")
            gone = failure(410, "Expired", "too old resource version: 1 (7)")[1]
            for end in (("ERROR", gone), (CUT, {})):
                log.append(end)
                assert ends(hear(source, ends))
                refused.append(500)
                news = hear(source, lambda news: any(one.kind == "BEGUN" for one in news))
                assert {one.kind for one in news} <= {"BEGUN", "LOST", "ADDED"}


@real_kubectl
def test_the_real_one_is_refused(config: Path) -> None:
    with api_server(OBJECTS, forbidden=["Workload"]) as server:
        write(config, server)
        with streams(Kubectl(context="this", kubeconfig=str(config))) as source:
            (lost,) = hear(source, ends)
    assert lost.answer is not None
    assert "is forbidden" in reason(lost.answer)
