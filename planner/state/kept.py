"""What was found out last about a state, for as long as the state lives.

A state is planned for again and again: by both sides of a comparison, under several objectives, for
each of its pending workloads, by the verifier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import ReferenceType, ref

from planner.state.record import AnyState

Answer = TypeVar("Answer")


class Kept(Generic[Answer]):
    """The last answer to one question about a state, which nobody changes.

    An answer must not hold the state, which would never be given up then.
    """

    def __init__(self) -> None:
        self._last: tuple[ReferenceType[AnyState], object, Answer] | None = None

    def recall(self, state: AnyState, asked: object, make: Callable[[], Answer]) -> Answer:
        """Return the answer about a state, by identity: the last one, or a new one.

        ``asked`` has all else that the answer depends on.
        """
        last = self._last
        if last is not None and last[0]() is state and last[1] == asked:
            return last[2]
        return self.keep(state, asked, make())

    def keep(self, state: AnyState, asked: object, answer: Answer) -> Answer:
        """Return an answer, which takes the place of the last one."""
        self._last = ref(state, self._forget), asked, answer  # as a whole: other threads plan, too
        return answer

    def _forget(self, gone: ReferenceType[AnyState]) -> None:
        last = self._last
        if last is not None and last[0] is gone:
            self._last = None
