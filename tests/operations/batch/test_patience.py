"""How long a run waits for a cluster in which nobody works."""

import pytest

from planner.batch.engine import NobodyWorksError
from planner.operations.dask_cluster import Patience
from tests.told import told

ADDRESS = "tcp://10.0.0.1:8786"


class Waiting:
    """Patience with a clock that goes when it is told to, and what it gave notice of."""

    def __init__(self, seconds: float | None) -> None:
        self.now = 100.0
        self.notices: list[str] = []
        self.patience = Patience(ADDRESS, seconds, self.notices.append, lambda: self.now)

    def absent(self, *after: float) -> None:
        """Find nobody, after so many seconds each."""
        for seconds in after:
            self.now += seconds
            self.patience.absent("no worker")


def test_it_says_so_once_and_ends_in_time() -> None:
    waiting = Waiting(10)
    waiting.absent(50, 4, 5.9)
    told(waiting.notices)
    with pytest.raises(NobodyWorksError) as caught:
        waiting.absent(0.1)
    told(str(caught.value))
    assert len(waiting.notices) == 1


def test_a_row_makes_it_begin_anew() -> None:
    waiting = Waiting(10)
    for _ in range(5):
        waiting.absent(50, 9)
        assert waiting.patience.waiting
        waiting.patience.progress()
        assert not waiting.patience.waiting
    assert len(waiting.notices) == 5


def test_who_comes_and_goes_without_a_row_does_not_count() -> None:
    """While somebody is there, time does not run; an hour of work may be one row."""
    waiting = Waiting(10)
    waiting.absent(0)
    for _ in range(4):
        waiting.now += 2
        waiting.patience.present()
        assert not waiting.patience.waiting
        waiting.absent(3600)
    waiting.now += 2
    waiting.patience.present()
    with pytest.raises(NobodyWorksError):
        waiting.absent(3600)
    assert len(waiting.notices) == 1


def test_without_patience_it_ends_at_once() -> None:
    waiting = Waiting(0)
    with pytest.raises(NobodyWorksError, match=r"no worker$"):
        waiting.absent(0)
    assert waiting.notices == []


def test_for_ever() -> None:
    waiting = Waiting(None)
    waiting.absent(*[1e9] * 10)
    told(waiting.notices)


def test_nothing_is_tried_for_longer_than_is_left() -> None:
    waiting = Waiting(10)
    assert waiting.patience.left(25) == 25  # nobody is missing yet
    waiting.absent(50)
    waiting.now += 4
    assert waiting.patience.left(25) == 6
    assert waiting.patience.left(5) == 5
    waiting.now += 5.9
    assert waiting.patience.left(25) == 1  # what takes less is hardly worth a try
    forever = Waiting(None)
    forever.absent(50)
    assert forever.patience.left(25) == 25
