"""What the states of every scheduler have in common, and what a user may say of how one is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple

from pydantic import ConfigDict

from planner.state.base import Schema

ANNOTATIONS: Final = "preemption-planner.io/"
"""How the annotations begin that tell the planner something."""
AUTO: Final = "auto"
"""Stands for the release that a dump tells, or else the newest rules."""
RequestsFrom = Literal["template", "recorded"]
"""Where the requests of pending workloads come from. template: their pods, with all that the
Configuration and the namespace make of them. recorded: what Kueue itself wrote down in
``status.resourceRequests`` when it last looked at the workload, where it did for every podset."""


class Remarks(NamedTuple):
    """What is noted on a workload that counts in what its eviction costs.

    ``annotations`` are those that begin with `ANNOTATIONS`; ``preemptions`` counts how often it was
    preempted before; ``grace_s`` is how long its pods are given to stop, the shortest counts.
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

    if TYPE_CHECKING:  # the fields themselves stand in each state, in their place
        digest: str
        source: str
        notes: tuple[str, ...]

    @property
    @abstractmethod
    def scheduler(self) -> str:
        """The id of the scheduler."""
