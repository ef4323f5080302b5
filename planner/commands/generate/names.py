"""Names as people give them, and identifiers that look like Kubernetes' own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

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
"""Those of Kueue's scalability test (test/performance/scheduler/configs/baseline)."""

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
    """Return the word at a place of an endless list: after the last they come again, numbered."""
    around, place = divmod(number, len(words))
    return f"{words[place]}-{around + 1}" if around else words[place]


def uid(*words: object) -> str:
    """Return a UID, always the same for the same words."""
    digest = sha256("/".join(map(str, words)).encode()).digest()
    return str(UUID(bytes=digest[:16], version=4))


def ago(seconds: int) -> str:
    """Return the timestamp so many seconds before the clock."""
    return rfc3339(NOW - timedelta(seconds=seconds))


def rfc3339(moment: datetime) -> str:
    """Write a moment as Kubernetes does."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
