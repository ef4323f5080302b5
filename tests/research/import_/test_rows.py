"""Rows are read one at a time; files may be made by anyone: an error with a place, or states."""

import gzip
import random
import tracemalloc
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.errors import InputError, SchemaError
from planner.reader import read_objects
from planner.research.import_ import Openb, Philly, read_nodes, read_outline
from planner.research.import_.kueue_knobs import Knobs
from planner.research.import_.sample import Outline, sampled
from planner.research.import_.traces import MAX_LINE, usable
from tests.conftest import TEST_ALL
from tests.research.import_.files import PHILLY_HEADER, PODS_HEADER, openb, states, write
from tests.told import told

GOOD = "2017-10-09 07:01:55,66.0,1,11cb48"


def outline(path: str, **more: object) -> Outline:
    """Read a file of the Philly form as a whole."""
    return read_outline(Philly(), path, arrivals=1, seed=0, **more)  # type: ignore[arg-type]


def rows(path: str, *columns: str) -> list[dict[str, str]]:
    """Return the fields of all rows."""
    return [fields for fields in usable(path, columns, lambda row: row.fields) if fields]


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, "b,unused,a", '1,"x, y",2', "", "3,,4")
    assert rows(path, "a", "b") == [{"a": "2", "b": "1"}, {"a": "4", "b": "3"}]


def test_gzip_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfa,b\r\n1,2\r\n"))
    assert rows(str(path), "a", "b") == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    "row",
    [
        "2017-10-09 07:01:55,x,1,a",
        "2017-10-09 07:01:55,-1,1,a",
        "2017-10-09 07:01:55,nan,1,a",
        "2017-10-09 07:01:55,1e9,1,a",
        "2017-10-09 07:01:55,99999999999,1,a",
        "2017-10-09 07:01:55,66.0,0,a",
        "2017-10-09 07:01:55,66.0,1.0,a",
        "2017-10-09 07:01:55,66.0,100001,a",
        "2017-10-09 07:01:55,66.0,1,",
        "2017-10-09 07:01:55,66.0,1,A/b",
        f"2017-10-09 07:01:55,66.0,1,{'a' * 54}",
        "yesterday,66.0,1,a",
        "1969-12-31 07:01:55,66.0,1,a",
        "0001-01-01 00:00:00+14:00,6,1,a",
        "2017-10-09 07:01:55,66.0,1",
        '2017-10-09 07:01:55,66.0,1,"a',
    ],
)
def test_bad_row(tmp_path: Path, row: str) -> None:
    with pytest.raises(SchemaError) as caught:
        outline(write(tmp_path, PHILLY_HEADER, GOOD, row))
    told(caught.value)


def test_value_in_a_message_is_cut_short(tmp_path: Path) -> None:
    path = write(tmp_path, PHILLY_HEADER, f"2017-10-09 07:01:55,66.0,{'9' * 60_000},a")
    with pytest.raises(SchemaError) as caught:
        outline(path)
    assert len(str(caught.value)) < 300 + len(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"timestamp,num_gpus\n",
        b"\xff\xfe\n",
        PHILLY_HEADER.encode() + b"\n",
        b"x" * (MAX_LINE + 1),
        gzip.compress(f"{PHILLY_HEADER}\n".encode(), mtime=0)[:-6],
    ],
    ids=["empty", "columns missing", "not UTF-8", "header only", "long line", "damaged"],
)
def test_bad_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        outline(str(path))
    told(caught.value)


def test_one_endless_field_is_not_read_to_its_end(tmp_path: Path) -> None:
    """A gigabyte of zeros, packed small."""
    path = tmp_path / "trace.csv"
    with gzip.open(path, "wb", 1) as file:
        file.write(f"{PHILLY_HEADER}\n".encode())
        for _ in range(64):
            file.write(bytes(2**20))
    with pytest.raises(InputError) as caught:
        outline(str(path))
    told(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    """A device or a pipe may be endless, and is not the same when it is read again."""
    for path in (str(tmp_path), "/dev/zero"):
        with pytest.raises(InputError) as caught:
            outline(path)
        told(caught.value)


def test_no_file() -> None:
    with pytest.raises(InputError) as caught:
        outline("missing.csv")
    told(caught.value)


def test_rows_that_are_passed_over_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, PHILLY_HEADER, GOOD, "x,1,1,a", "short", GOOD)
    errors: list[SchemaError] = []
    whole = outline(path, on_bad=errors.append)
    assert (whole.rows, whole.jobs) == (4, 2)
    told([error.where for error in errors])


def test_too_many_queues(tmp_path: Path) -> None:
    many = (f"2017-10-09 07:01:55,66.0,1,vc{number}" for number in range(1001))
    with pytest.raises(InputError) as caught:
        outline(write(tmp_path, PHILLY_HEADER, *many))
    told(caught.value)


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ("a,1,1,1,,SOON,5,1", "qos"),
        ("a,1,1,1,,LS,1,5", "deletion_time"),
        ("a,1,1,1,H100,LS,5,1", "gpu_spec"),
        ("../a,1,1,1,,LS,5,1", "name"),
        ("a,x,1,1,,LS,5,1", "cpu_milli"),
        ("a,1,-1,1,,LS,5,1", "memory_mib"),
    ],
)
def test_bad_pod(tmp_path: Path, row: str, column: str) -> None:
    path = write(tmp_path, PODS_HEADER, row)
    with pytest.raises(SchemaError) as caught:
        read_outline(openb(), path, arrivals=1, seed=0)
    assert caught.value.where == f"{path}: line 2, column {column}"
    told(caught.value.expected)


def test_bad_node(tmp_path: Path) -> None:
    path = write(tmp_path, "cpu_milli,memory_mib,gpu,model", "1,1,two,T4", "1000,1024,2,T4")
    with pytest.raises(SchemaError) as caught:
        read_nodes(path)
    told(caught.value)
    errors: list[SchemaError] = []
    (model,) = read_nodes(path, errors.append).values()
    assert (model.gpus, model.cpu_milli, model.memory) == (2, 1000, 2**30)
    assert len(errors) == 1


@pytest.mark.parametrize("nodes", [["1,1,0,T4"], [f"1,1,1,m{n}" for n in range(101)]])
def test_nodes_of_no_use(tmp_path: Path, nodes: list[str]) -> None:
    path = write(tmp_path, "cpu_milli,memory_mib,gpu,model", *nodes)
    with pytest.raises(InputError) as caught:
        read_nodes(path)
    told(caught.value)


WORDS = st.sampled_from(
    (
        *("", "0", "1", "8", "-1", "1e400", "9" * 30, "nan", "10000000000", "a", "LS", "BE", "G2"),
        *("2017-10-09 07:01:55", "9999-12-31T23:59:59", "G2|T4", "../..", "=1+1", "'", '"'),
        *("\u202e", "\x00"),
    )
)
ROWS = st.lists(st.lists(WORDS, min_size=3, max_size=9).map(",".join), max_size=6)
many = settings(
    max_examples=2000 if TEST_ALL else 75,
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
    for count in (250, 2000):
        path = write(tmp_path, PHILLY_HEADER, *(job() for _ in range(count)))
        tracemalloc.start()
        outline = read_outline(Philly(), path, arrivals=5, seed=0)
        instants = [int(arrival) for arrival in outline.arrivals]
        made = sampled(Philly(), path, instants, Knobs(sampling="drawn", workloads=20))
        assert [len(some) for some in made] == [20] * 5
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
