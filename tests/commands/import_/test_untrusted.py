"""Files may be made by anyone: whatever they hold, there is an error with a place, or states."""

import random
import tracemalloc
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.commands.import_ import Openb, Philly, read_nodes, read_outline
from planner.commands.import_.sample import sampled
from planner.errors import InputError
from planner.reader import read_objects
from tests.commands.import_.files import PHILLY_HEADER, PODS_HEADER, openb, states, write
from tests.conftest import TEST_ALL

WORDS = st.sampled_from(
    (
        *("", "0", "1", "8", "-1", "1e400", "9" * 30, "nan", "10000000000", "a", "LS", "BE", "G2"),
        *("2017-10-09 07:01:55", "9999-12-31T23:59:59", "G2|T4", "../..", "=1+1", "'", '"'),
        *("\u202e", "\x00"),
    )
)
ROWS = st.lists(st.lists(WORDS, min_size=3, max_size=9).map(",".join), max_size=6)
many = settings(
    max_examples=2000 if TEST_ALL else 150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def error_of(work: Callable[[], object]) -> InputError | None:
    """Return the error about input that some work ends with, None if it does not."""
    try:
        work()
    except InputError as error:
        return error
    return None


def attempt(trace: Philly | Openb, path: str) -> None:
    """Make states of a file, and read them."""

    def work() -> None:
        for state in states(trace, path, 2):
            read_objects(state, where="trace")

    error = error_of(work)
    assert error is None or error.where.startswith(path)
    assert len(str(error)) < 1000


@many
@given(rows=ROWS)
def test_any_words(tmp_path: Path, rows: list[str]) -> None:
    attempt(Philly(), write(tmp_path, PHILLY_HEADER, *rows))
    attempt(openb(), write(tmp_path, PODS_HEADER, *rows))


@many
@given(content=st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(content)
    attempt(Philly(), str(path))
    path.write_bytes(PHILLY_HEADER.encode() + b"\n" + content)
    attempt(Philly(), str(path))
    error = error_of(lambda: read_nodes(str(path)))
    assert error is None or error.where.startswith(str(path))


@many
@given(
    amounts=st.tuples(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 100_000)),
    times=st.tuples(st.integers(0, 10**10), st.integers(0, 10**10)),
)
def test_any_numbers_within_bounds(
    tmp_path: Path, amounts: tuple[int, int, int], times: tuple[int, int]
) -> None:
    milli, memory, gpus = amounts
    rows = [f"pod-{n},{milli},{memory},{gpus},,BE,{max(times)},{min(times)}" for n in range(3)]
    path = write(tmp_path, PODS_HEADER, *rows)
    list(states(openb(), path, 2))  # none of it is an error


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Eight times as many rows of the same kind take no more than half as much again."""
    chance = random.Random(0)  # noqa: S311 - no secret
    first = datetime(2025, 1, 1)  # noqa: DTZ001 - as the trace writes it

    def job() -> str:
        start = first + timedelta(seconds=int(chance.random() * 86400))
        return f"{start},{chance.randint(1, 3600)},1,vc-{chance.randint(1, 9)}"

    peaks = []
    for count in (500, 4000):
        path = write(tmp_path, PHILLY_HEADER, *(job() for _ in range(count)))
        tracemalloc.start()
        outline = read_outline(Philly(), path, arrivals=5, seed=0)
        instants = [int(arrival) for arrival in outline.arrivals]
        made = sampled(Philly(), path, instants, sampling="drawn", workloads=20, seed=0)
        assert [len(some) for some in made] == [20] * 5
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
