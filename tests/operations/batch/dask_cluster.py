"""A Dask cluster of real processes on loopback, to be killed and started again."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import pytest

from tests.cli.running import environment
from tests.conftest import FOR_EVER_S

distributed = pytest.importorskip("distributed")


class DaskCluster:
    """A scheduler at one address for good, and workers of one thread without a nanny."""

    def __init__(self, workers: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            self._port = server.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._wanted = workers
        self._scheduler: subprocess.Popen[bytes] | None = None
        self._workers: list[subprocess.Popen[bytes]] = []

    @classmethod
    @contextmanager
    def of(cls, workers: int) -> Iterator[Self]:
        """Start one, and end it."""
        made = cls(workers)
        try:
            made.start_scheduler()
            made.start_workers()
            yield made
        finally:
            made.kill_workers()
            made.kill_scheduler()

    def start_scheduler(self) -> None:
        """Start one, at the address that it always had."""
        port = str(self._port)
        self._scheduler = _started("dask_scheduler", "--host", "127.0.0.1", "--port", port)

    def start_workers(self) -> None:
        """Start as many workers as there should be more."""
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        words = ("dask_worker", self.address, "--nthreads", "1", "--no-nanny")
        while len(self._workers) < self._wanted:
            self._workers.append(_started(*words))

    def wait_for_workers(self) -> None:
        """Wait until the scheduler knows them all."""
        with distributed.Client(self.address, timeout=FOR_EVER_S, set_as_default=False) as client:
            client.wait_for_workers(self._wanted, timeout=FOR_EVER_S)

    def kill_worker(self) -> None:
        """Send SIGKILL to the oldest worker."""
        worker = self._workers.pop(0)
        worker.kill()
        worker.wait()

    def kill_workers(self) -> None:
        """Send SIGKILL to all workers."""
        while self._workers:
            self.kill_worker()

    def kill_scheduler(self) -> None:
        """Send SIGKILL to the scheduler; workers end by themselves then."""
        if self._scheduler is not None:
            self._scheduler.kill()
            self._scheduler.wait()
            self._scheduler = None


def _started(program: str, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{program}", *words, "--no-dashboard"],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
