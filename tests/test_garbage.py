"""The collector of cycles is paused while reading and planning, and left as it was found."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

import planner
from planner.garbage import older_objects_aside, without_garbage_collection
from tests.conftest import ROOT
from tests.reader.dumps import cluster_queue, refused, state_of, workload


@pytest.fixture(autouse=True)
def as_python_starts() -> Iterator[None]:
    gc.unfreeze()
    found = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*found)
    gc.unfreeze()
    gc.enable()


def test_paused_inside_and_running_again_after() -> None:
    with without_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_running_again_after_an_error() -> None:
    refused(workload(podSets=5))
    assert gc.isenabled()


def test_stays_off_where_it_was_off() -> None:
    gc.disable()
    state_of(cluster_queue())
    assert not gc.isenabled()


def test_what_the_caller_froze_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    state_of(cluster_queue())
    assert gc.get_freeze_count() >= frozen - 100  # some were freed meanwhile, none thawed


class Ring:
    """Refers to itself: only the collector of cycles frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_older_objects_are_aside_inside_and_back_after() -> None:
    with older_objects_aside():
        frozen = gc.get_freeze_count()
        assert frozen > 0
        with older_objects_aside():
            assert gc.get_freeze_count() >= frozen - 100
        assert gc.get_freeze_count() >= frozen - 100, "the inner one called nothing back"
    assert gc.get_freeze_count() == 0


def test_circles_do_not_come_back_as_old_ones() -> None:
    """What is called back counts as old: if it had circles, memory would grow plan by plan."""
    before = ref(Ring())
    with older_objects_aside():
        assert before() is None
        meanwhile = ref(Ring())
    assert meanwhile() is None


def test_nothing_is_put_aside_where_the_collector_runs_hardly_ever() -> None:
    gc.set_threshold(1_000_000)
    with older_objects_aside():
        assert gc.get_freeze_count() == 0


def test_what_was_put_aside_before_is_not_called_back() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with older_objects_aside():
        pass
    assert gc.get_freeze_count() >= frozen - 100


def test_the_state_is_aside_while_a_plan_is_looked_for() -> None:
    state = planner.read(ROOT / "instances" / "quickstart")
    aside: list[int] = []

    def look(phase: str, info: dict[str, int]) -> None:
        del phase, info
        aside.append(gc.get_freeze_count())

    gc.callbacks.append(look)
    try:
        assert planner.solve(state).victims
    finally:
        gc.callbacks.remove(look)
    assert max(aside) > 1000
    assert gc.get_freeze_count() == 0


def test_plans_leave_nothing_behind() -> None:
    state = planner.read(ROOT / "instances" / "quickstart")
    counts = []
    for _ in range(4):
        planner.solve(state)
        counts.append(len(gc.get_objects()))
    assert counts[-1] - counts[1] < 100, counts
