"""A Dask cluster gives the same rows; its scheduler and workers are real, on loopback."""

import logging
import socket
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from planner.batch import Limits, Row, Settings, Task, Workers, run
from planner.errors import InputError
from planner.operations import dask_cluster as cluster
from tests.batch.program import HEADER, numbers
from tests.batch.runs import by_hand, file_by_hand
from tests.batch.test_run import words
from tests.batch.work import (
    HOARD,
    double,
    fail,
    kill_the_parent,
    length,
    misbehave,
    missing_work,
    slowly,
)
from tests.conftest import FOR_EVER_S
from tests.told import told

distributed = pytest.importorskip("distributed")


def start(workers: int) -> Any:
    """Start a scheduler, and workers that are started again when they die."""
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="module")
def shared() -> Iterator[Any]:
    """Give a cluster that all tests use."""
    with start(workers=2) as running:
        yield running


@pytest.fixture
def address(shared: Any) -> str:
    return str(shared.scheduler_address)


def at(address: str, seconds: float = FOR_EVER_S) -> Workers:
    """Return the workers of a cluster, which may be away: until a nanny starts the next, say."""
    return cluster.workers(address, seconds, print)


def refusal(address: str, limits: Limits | None = None) -> str:
    """Return what a run says that waits for nobody."""
    settings = Settings(workers=at(address, 0), limits=limits or Limits())
    with pytest.raises(InputError) as caught:
        run(numbers(3), double, settings, header=HEADER)
    return str(caught.value)


def test_same_rows_as_here(address: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    found = run(numbers(), slowly, Settings(workers=at(address), file=file), header=HEADER)
    assert list(found) == by_hand()
    assert file.read_bytes() == file_by_hand()


def test_same_failures_as_here(address: str) -> None:
    given = ("fine", "raise", "refuse", "bug", "no memory", "no JSON")
    there = list(run(words(*given), fail, Settings(workers=at(address)), header=HEADER))
    assert there == list(run(words(*given), fail, Settings(jobs=1), header=HEADER))
    found = [row.outcome for row in there]
    assert found == ["done", "bug", "failed", "bug", "out-of-memory", "bug"]


def test_limits_and_deaths_hold_there_too(address: str) -> None:
    limits = Limits(memory_bytes=HOARD)
    given = ("a", "hoard", "b", "die", "c")
    there = list(
        run(words(*given), misbehave, Settings(workers=at(address), limits=limits), header=HEADER)
    )
    outcomes = [row.outcome for row in there]
    assert outcomes == ["done", "out-of-memory", "done", "killed", "done"]
    told(there[3].detail)


def test_the_time_limit_holds_there_too(address: str) -> None:
    """Only for what never ends: what does may take longer than that on a busy machine."""
    limits = Limits(seconds=0.5)
    given = ("hang", "sleep")
    there = list(
        run(words(*given), misbehave, Settings(workers=at(address), limits=limits), header=HEADER)
    )
    assert [row.outcome for row in there] == ["timeout"] * 2
    assert list(run(numbers(), double, Settings(workers=at(address)), header=HEADER)) == by_hand()


def test_large_payloads(address: str) -> None:
    tasks = [Task(str(n), bytes(12_000_000)) for n in range(3)]
    found = run(tasks, length, Settings(workers=at(address)), header=HEADER)
    assert [row.result for row in found] == [{"length": 12_000_000}] * 3


def test_going_on_there_with_what_was_begun_here(address: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"".join(file_by_hand().splitlines(keepends=True)[:40]) + b'{"key"')
    run(numbers(), slowly, Settings(workers=at(address), file=file, resume=True), header=HEADER)
    assert file.read_bytes() == file_by_hand()


def test_a_task_that_always_kills_its_worker(
    shared: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask gives a task up with its first worker here, and so perhaps its neighbours, too."""
    monkeypatch.setattr(shared.scheduler, "allowed_failures", 0)
    settings = Settings(workers=at(address))
    found = list(run(numbers(12), kill_the_parent, settings, header=HEADER))
    expected = by_hand(12)
    expected[5] = Row("n:5", "killed", "every Dask worker that had it died", None)
    assert found == expected
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2)  # a cluster without them takes half a minute to close


def test_workers_that_have_other_versions(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(package: str) -> str:
        return "8.8.8" if package == "ortools" else version(package)

    monkeypatch.setattr(cluster, "version", other)
    message = refusal(address)
    assert f"has ortools {version('ortools')}\n  expected 8.8.8, as here" in message
    assert "worker tcp://127.0.0.1:" in message


def test_workers_that_cannot_load_the_work(address: str) -> None:
    with pytest.raises(InputError, match=r"a worker cannot do the work: .*ModuleNotFoundError"):
        run(numbers(), missing_work(), Settings(workers=at(address)), header=HEADER)


def test_no_workers() -> None:
    with start(workers=0) as own:
        message = refusal(own.scheduler_address)
    assert message.startswith(f"--cluster {own.scheduler_address}: no Dask worker is connected; ")


@pytest.mark.parametrize(
    "address",
    ["", "127.0.0.1:8786", "http://127.0.0.1:8786", "tcp://127.0.0.1", "tcp://:8786", "tcp://a:b"],
)
def test_other_addresses_are_not_tried(address: str) -> None:
    message = refusal(address)
    told(message)


def test_tls_needs_certificates() -> None:
    assert "TLS" in refusal("tls://127.0.0.1:8786")


@pytest.mark.parametrize(
    ("greeting", "reason"),
    [(b"SSH-2.0-OpenSSH_9.6 and more\r\n", "something else is there"), (b"", "nothing within 1 s")],
)
def test_something_else_listens(
    greeting: bytes, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not greeting:
        monkeypatch.setattr(cluster, "CONNECT_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as caller:
                caller.sendall(greeting)
                caller.settimeout(FOR_EVER_S)
                while caller.recv(4096):
                    pass

        threading.Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert f"no Dask scheduler answers: {reason}" in refusal(address)


def test_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert "no Dask scheduler answers: " in refusal(f"tcp://127.0.0.1:{port}")


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = refusal("tcp://127.0.0.1:8786")
    assert "distributed is not installed" in message or "import of distributed" in message
    told(message)


def test_memory_that_cannot_be_seen(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, _ = cluster.facts_here()
    answer = {"tcp://10.0.0.1:4": (ours, False)}
    monkeypatch.setattr(distributed.Client, "run", lambda *_, **__: answer)
    message = refusal(address, Limits(memory_bytes=1))
    assert "worker tcp://10.0.0.1:4 does not show the memory of a process" in message


def test_jobs_are_for_this_machine() -> None:
    with pytest.raises(InputError) as caught:
        run(numbers(), double, Settings(jobs=2, workers=at("tcp://127.0.0.1:8786")), header=HEADER)
    told(caught.value)
