"""Names as people give them, the clock, and draws that are the same everywhere.

Only ``random.Random.random()`` is used: of all its methods it is the one whose numbers Python
promises to keep for a seed (docs.python.org, module random, "Notes on Reproducibility"). Draws are
made of its numbers without mathematical functions, so that no mathematical library matters either.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, NamedTuple, TypeVar

from planner.dump import rfc3339

Thing = TypeVar("Thing")


class Chance:
    """A stream of draws; another ``purpose`` is another stream, so that knobs do not interfere."""

    def __init__(self, seed: int, purpose: str) -> None:
        self._draw = Random(f"preemption-planner/{purpose}/{seed}").random  # noqa: S311 - no secret

    def below(self, bound: int) -> int:
        """Return an integer from 0 up to, but not including, a bound of at most 2^40."""
        return int(self._draw() * bound)

    def between(self, least: int, most: int) -> int:
        """Return an integer of a range, both ends included."""
        return least + self.below(most - least + 1)

    def pick(self, things: Sequence[Thing]) -> Thing:
        """Return an element of a sequence, each as likely as the others."""
        return things[self.below(len(things))]

    def percent(self, share: int) -> bool:
        """Return True in ``share`` of a hundred cases."""
        return self.below(100) < share

    def spread(self, least: int, most: int) -> int:
        """Return an integer of a range, each doubling as likely as the others: many are small."""
        doublings = max(1, (most // least).bit_length())
        low = least << self.below(doublings)
        return min(most, self.between(low, 2 * low - 1))


NOW: Final = datetime(2026, 11, 12, 9, 42, 10, tzinfo=UTC)
"""The clock of every generated state: the preemptor was submitted in this second."""
FOUNDED: Final = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
"""When queues, flavors and classes were made."""


class Class(NamedTuple):
    """A priority class."""

    name: str
    value: int


CLASSES: Final = (
    Class("preemptible", 0),
    Class("low", 10),
    Class("standard", 100),
    Class("interactive", 300),
    Class("elevated", 500),
    Class("high", 1000),
    Class("deadline", 2000),
    Class("production", 5000),
)
PREEMPTOR_CLASS: Final = Class("critical", 10_000)
"""Above all that runs: priorities alone protect nobody from the preemptor."""

SCALE_CLASSES: Final = (Class("small", 50), Class("medium", 100), Class("large", 200))
"""The classes of Kueue's scalability test (test/performance/scheduler/configs/baseline)."""

ORGANISATIONS: Final = ("research", "product", "platform", "labs", "science", "applied", "cloud")
DEPARTMENTS: Final = ("models", "data", "apps", "infra", "search", "robotics", "bio", "core")
TEAMS: Final = (
    *("nlp", "vision", "speech", "ranking", "recsys", "forecast", "fraud", "safety", "genomics"),
    *("climate", "maps", "translate", "agents", "pricing", "imaging", "protein", "weather"),
    *("video", "audio", "graphs", "planning", "routing", "ads", "eval", "tooling", "simulation"),
)
OWNERS: Final = ("Job", "JobSet", "PyTorchJob", "RayJob")
TASKS: Final = (
    *("train-encoder", "train-ranker", "finetune-base", "distill", "ablation", "pretrain"),
    *("embed-corpus", "eval-long", "notebook", "backfill", "tokenise", "rollout", "calibrate"),
)
FLAVORS: Final = (
    ("h100", "NVIDIA-H100-80GB-HBM3"),
    ("a100", "NVIDIA-A100-SXM4-80GB"),
    ("h200", "NVIDIA-H200"),
    ("l40s", "NVIDIA-L40S"),
    ("a10", "NVIDIA-A10"),
    ("l4", "NVIDIA-L4"),
    ("v100", "Tesla-V100-SXM2-32GB"),
    ("t4", "Tesla-T4"),
)


def numbered(words: tuple[str, ...], number: int) -> str:
    """Return the word at a place of an endless list: after the last, words repeat with numbers."""
    around, place = divmod(number, len(words))
    return f"{words[place]}-{around + 1}" if around else words[place]


def ago(seconds: int) -> str:
    """Return the timestamp so many seconds before the clock."""
    return rfc3339(NOW - timedelta(seconds=seconds))


def team(queue: int) -> str:
    """Return the name of a queue, which is also the namespace of its team."""
    return numbered(TEAMS, queue)
