"""What the states of all schedulers have in common, and a user's choices about how one is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple

from pydantic import ConfigDict

from planner.state.base import Schema

ANNOTATIONS: Final = "preemption-planner.io/"
"""The prefix of the annotations that the planner reads."""
AUTO: Final = "auto"
"""The user's word for the release that a dump shows, or else the newest rules."""
RequestsFrom = Literal["template", "recorded"]
"""Where the requests of pending workloads come from. template: their pods, with all that the
Configuration and the namespace make of them. recorded: what Kueue itself wrote into
``status.resourceRequests`` when it last looked at the workload, where it did for every podset."""


class Remarks(NamedTuple):
    """The annotations and the history of a workload that count in the cost of its eviction.

    ``annotations`` are those that begin with `ANNOTATIONS`; ``preemptions`` counts how often it was
    preempted before; ``grace_s`` is the shortest time, in seconds, that its pods have to stop.
    """

    key: str
    annotations: Mapping[str, str]
    preemptions: int
    grace_s: int


class AnyState(Schema):
    """What a reading gives: a ``State`` of Kueue, a ``YuniKornState``, or one of another scheduler.

    ``digest`` names the input (SHA-256 of its bytes), ``source`` says where it came from; ``notes``
    are the reader's remarks about things it tolerated.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(alias_generator=None)

    if TYPE_CHECKING:  # each state has these fields itself, in an order of its own
        digest: str
        source: str
        notes: tuple[str, ...]

    def __repr__(self) -> str:
        """Describe the state in a line: all that it holds would fill a screen."""
        return f"<{type(self).__name__} of {self.source}, {self.digest[:12]}>"

    __str__ = __repr__

    @property
    @abstractmethod
    def scheduler(self) -> str:
        """The id of the scheduler."""

    @property
    def pending(self) -> tuple[str, ...]:
        """The keys of all that wait in a queue, in the order of the state.

        Of Kueue they are namespace/name, of YuniKorn allocation keys.
        """
        return ()
