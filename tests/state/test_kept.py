"""What was found out last about a state is kept for that state, as long as it lives."""

import gc
from weakref import ref

from planner.state.kept import Kept
from tests.cluster import pending, queue, state_of


class Answer:
    """Anything."""


def test_of_the_state_itself_and_of_no_other() -> None:
    state, kept = state_of(queue("q", 1), pending("q", 1)), Kept[Answer]()
    first = kept.recall(state, "a", Answer)
    assert kept.recall(state, "a", Answer) is first
    same = state.model_copy()
    second = kept.recall(same, "a", Answer)
    assert second is not first
    assert kept.recall(same, "a", Answer) is second
    assert kept.recall(same, "b", Answer) is not second
    assert kept.keep(same, "b", first) is kept.recall(same, "b", Answer) is first


def test_as_long_as_the_state_lives() -> None:
    state, kept = state_of(queue("q", 1), pending("q", 1)), Kept[Answer]()
    gone = ref(kept.recall(state, "a", Answer))
    assert gone() is not None
    del state
    gc.collect()
    assert gone() is None
