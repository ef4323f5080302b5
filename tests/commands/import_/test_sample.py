"""Who holds quota at an instant."""

from collections import Counter
from pathlib import Path

import pytest

from planner.commands.import_ import Philly, sample
from planner.commands.import_.sample import Running, sampled
from planner.commands.import_.traces import apportion, between, choose, draw, weighted
from tests.commands.import_.files import PHILLY_HEADER, write

START = 1507532515
"""2017-10-09 07:01:55 UTC."""


def at(path: str, *seconds: int, **more: object) -> list[list[Running]]:
    """Return who holds quota so many seconds after START."""
    settings = {"sampling": "running", "workloads": 1000, "seed": 0, **more}
    instants = [START + second for second in seconds]
    return list(sampled(Philly(), path, instants, **settings))  # type: ignore[arg-type]


def test_running_is_who_started_before_and_ends_after(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        PHILLY_HEADER,
        "2017-10-09 07:01:55,60,1,a",
        "2017-10-09 07:02:15,20,1,a",
        "2017-10-09 07:01:55,0,1,a",
    )
    lines = [{one.job.line: one.elapsed for one in some} for some in at(path, 60, 0, 1, 20, 21, 40)]
    assert lines == [{}, {}, {2: 1}, {2: 20}, {2: 21, 3: 1}, {2: 40}]


def test_running_beyond_the_bound_is_a_uniform_sample(tmp_path: Path) -> None:
    """Each of 10 jobs is among 3 of 10 in 3/10 of 2000 instants; four deviations are 82."""
    path = write(tmp_path, PHILLY_HEADER, *["2017-10-09 07:01:55,9000,1,a"] * 10)
    states = at(path, *range(1, 2001), workloads=3)
    assert all(len(some) == 3 for some in states)
    counts = Counter(one.job.line for some in states for one in some)
    assert counts.keys() == set(range(2, 12))
    assert all(abs(count - 600) < 82 for count in counts.values())


def test_drawn_is_by_duration(tmp_path: Path) -> None:
    """Of one job of 300 s and one of 100 s the first is drawn in 3 of 4 cases."""
    path = write(
        tmp_path,
        PHILLY_HEADER,
        "2017-10-09 07:01:55,300,1,a",
        "2017-11-09 07:01:55,100,1,a",
        "2017-11-09 07:01:55,0,1,a",
    )
    states = at(path, *range(2000), sampling="drawn", workloads=1)
    longer = [one.elapsed for (one,) in states if one.job.line == 2]
    assert abs(len(longer) - 1500) < 78  # four standard deviations
    # Somewhere in its run, anywhere alike: the mean of 1500 is within 4 deviations of the half.
    assert 0 <= min(longer) <= max(longer) < 300
    assert abs(sum(longer) / len(longer) - 150) < 10


def test_drawn_holds_no_job_twice(tmp_path: Path) -> None:
    path = write(tmp_path, PHILLY_HEADER, *["2017-10-09 07:01:55,9000,1,a"] * 10)
    (some,) = at(path, 5, sampling="drawn", workloads=50)
    assert [one.job.line for one in some] == list(range(2, 12))


def test_instants_do_not_depend_on_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither on their order, nor on how many are drawn in one pass over the file."""
    rows = [f"2017-10-09 07:{n:02}:00,{100 * n},1,a" for n in range(2, 60)]
    path = write(tmp_path, PHILLY_HEADER, *rows)
    for sampling in ("running", "drawn"):
        together = at(path, 1000, 500, 1000, sampling=sampling, workloads=5)
        alone = [at(path, second, sampling=sampling, workloads=5)[0] for second in (1000, 500)]
        assert together == [alone[0], alone[1], alone[0]]
        monkeypatch.setattr(sample, "MOST_AT_ONCE", 5)
        assert at(path, 1000, 500, 1000, sampling=sampling, workloads=5) == together


def test_draws_are_the_same_everywhere() -> None:
    """BLAKE2b of a text, as `printf 0/x | b2sum -l 64` prints it."""
    assert draw(0, "x") == ((0xAA31E94701C5D02F >> 12) + 0.5) / 2**52


def test_draws_are_uniform() -> None:
    drawn = [draw("uniform", n) for n in range(4000)]
    assert 0 < min(drawn) < max(drawn) < 1
    assert abs(sum(drawn) / 4000 - 0.5) < 0.02
    assert all(2 <= between(2, 5, n) <= 5 for n in range(100))
    assert {choose("abc", n) for n in range(100)} == set("abc")
    assert {weighted({"a": 1, "b": 0}, n) for n in range(100)} == {"a"}


def test_apportion() -> None:
    """Largest remainders: 10 by 1:1:1 is 3.33 each; by 1:2:3 it is 1.67, 3.33 and 5."""
    assert apportion(10, [1, 1, 1]) == [4, 3, 3]
    assert apportion(10, [1, 2, 3]) == [2, 3, 5]
    assert apportion(7, [0, 0]) == [4, 3]
    assert apportion(0, [5, 1]) == [0, 0]
