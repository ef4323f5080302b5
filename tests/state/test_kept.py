"""What was found out last about a state is kept for that state, as long as it lives."""

import gc
from weakref import ref

from planner.state.kept import Kept
from tests.cluster import pending, queue, state_of


class Answer:
    """Anything."""


def test_of_the_state_itself_and_of_no_other() -> None:
    state, kept = state_of(queue("q", 1), pending("q", 1)), Kept[Answer]()
    assert kept.of(state) is None
    first, second = Answer(), Answer()
    assert kept.keep(state, first) is kept.of(state) is first
    same = state.model_copy()
    assert kept.of(same) is None
    kept.keep(same, second)
    assert (kept.of(same), kept.of(state)) == (second, None)


def test_as_long_as_the_state_lives() -> None:
    state, kept, answer = state_of(queue("q", 1), pending("q", 1)), Kept[Answer](), Answer()
    gone = ref(kept.keep(state, answer))
    del answer
    assert gone() is not None
    del state
    gc.collect()
    assert gone() is None
