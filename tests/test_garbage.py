"""The collector of cycles is paused while reading and planning, and left as it was found."""

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import planner
from planner.garbage import without_garbage_collection
from tests.conftest import ROOT, YUNIKORN
from tests.reader.dumps import cluster_queue, refused, state_of, workload


@pytest.fixture(autouse=True)
def as_python_starts() -> Iterator[None]:
    """Set the collector up as Python does; what other tests keep, such as states, is left aside.

    What is kept can hold no circle that a test makes, and walking it all takes seconds.
    """
    gc.freeze()
    found = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.enable()  # whatever ran before
    yield
    gc.set_threshold(*found)
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


def test_nothing_is_collected_while_a_plan_is_looked_for() -> None:
    state = planner.read(ROOT / "instances" / "quickstart")
    looks: list[str] = []

    def look(phase: str, info: dict[str, int]) -> None:
        del info
        looks.append(phase)

    planner.solve(state)  # which loads modules, and is no longer the first
    gc.collect()
    gc.callbacks.append(look)
    try:
        assert planner.solve(state).victims
    finally:
        gc.callbacks.remove(look)
    assert looks in ([], ["start", "stop"]), "at most the one when the collector runs again"


def test_plans_leave_nothing_behind() -> None:
    state = planner.read(ROOT / "instances" / "quickstart")
    counts = []
    for _ in range(4):
        planner.solve(state)
        counts.append(len(gc.get_objects()))
    assert counts[-1] - counts[1] < 100, counts


def left_behind(work: Callable[[], object]) -> list[object]:
    """Return what only the collector of cycles finds after some work, once all is loaded."""
    work()
    gc.collect()
    gc.disable()
    result = work()
    try:
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        return [*gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        del result


@pytest.mark.parametrize(
    "asked",
    [{}, {"certify": False}, {"stability": True}, {"objective": "stable"}, {"flavors": "optimal"}],
    ids=str,
)
def test_plans_are_no_circles(asked: dict[str, Any]) -> None:
    """A plan's model and trees go with it: nothing waits in memory for the collector."""
    state = planner.read(ROOT / "instances" / "quickstart")
    assert not left_behind(lambda: planner.solve(state, **asked))


@pytest.mark.parametrize("verb", ["explain", "front", "solve_joint"])
def test_nor_are_other_answers(verb: str) -> None:
    state = planner.read(ROOT / "instances" / "quickstart")
    assert not left_behind(lambda: getattr(planner, verb)(state))


@pytest.mark.parametrize("certify", [True, False])
def test_of_yunikorn_only_queues_are(*, certify: bool) -> None:
    """Each knows its parent and its children, and what is in it in a cycle to come."""
    state = planner.read(YUNIKORN)
    found = left_behind(lambda: planner.solve(state, certify=certify))
    ours = {type(one) for one in found if type(one).__module__.startswith("planner")}
    inside = {"Application", "Ask", "Allocation", "ClaimExtra"}
    assert {one.__name__ for one in ours} <= {"Queue", *inside}
