"""What was found out last about a state, for as long as the state lives.

A state is planned for again and again: by both sides of a comparison, under several objectives, for
each of its pending workloads, by the verifier.
"""

from __future__ import annotations

from typing import Generic, TypeVar
from weakref import ReferenceType, ref

from planner.state.record import AnyState

Answer = TypeVar("Answer")


class Kept(Generic[Answer]):
    """The last answer to one question about a state, which nobody changes.

    An answer must not hold the state, which would never be given up then.
    """

    def __init__(self) -> None:
        self._last: tuple[ReferenceType[AnyState], Answer] | None = None

    def of(self, state: AnyState) -> Answer | None:
        """Return the answer about a state, by identity; ``None`` if the last was about another."""
        last = self._last
        return last[1] if last is not None and last[0]() is state else None

    def keep(self, state: AnyState, answer: Answer) -> Answer:
        """Return an answer, which takes the place of the last one."""
        self._last = ref(state, self._forget), answer  # as a whole: other threads may plan, too
        return answer

    def _forget(self, gone: ReferenceType[AnyState]) -> None:
        last = self._last
        if last is not None and last[0] is gone:
            self._last = None
