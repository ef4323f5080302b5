"""The collector of cycles is paused while reading and planning, and left as it was found."""

import gc
from collections.abc import Iterator

import pytest

from planner.garbage import without_garbage_collection
from tests.reader.dumps import cluster_queue, refused, state_of, workload


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
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
