"""A job of a trace, and draws that never change.

Each draw goes by the seed and the names of what it decides, never from a running generator: the
order of rows, how many states are asked for, and options about other things change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final, Literal, TypeVar

from msgspec import Struct

T = TypeVar("T")

_BITS: Final = 52
"""So many that a half more is still exact in a float."""


def draw(*names: object) -> float:
    """Return a number of the uniform distribution, more than 0 and less than 1."""
    digest = blake2b("/".join(map(str, names)).encode(), digest_size=8).digest()
    number: float = ((int.from_bytes(digest) >> (64 - _BITS)) + 0.5) / 2**_BITS
    return number


def between(low: float, high: float, *names: object) -> float:
    """Return a number of the uniform distribution between two others."""
    return low + (high - low) * draw(*names)


def choose(values: Sequence[T], *names: object) -> T:
    """Return one of some values, each as likely as the others."""
    return values[int(draw(*names) * len(values))]


def weighted(weights: Mapping[T, float], *names: object) -> T:
    """Return one of some values, as likely as its weight says; not all weights may be 0."""
    left = draw(*names) * sum(weights.values())
    likely = [value for value, weight in weights.items() if weight > 0]
    for value in likely:
        left -= weights[value]
        if left < 0:
            return value
    return likely[-1]


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Divide a whole number in proportion to weights, equally if all are 0.

    The parts are whole and add up to it: largest remainders get what rounding leaves.
    """
    if not any(weights):
        weights = [1.0] * len(weights)
    exact = [total * (weight / sum(weights)) for weight in weights]
    parts = [int(part) for part in exact]
    by_remainder = sorted(range(len(parts)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: total - sum(parts)]:
        parts[i] += 1
    return parts


Sampling = Literal["running", "drawn"]
GPU: Final = "nvidia.com/gpu"
GPUS_PER_NODE: Final = 8
_STEPS: Final = {"cpu": 1000, "memory": 2**30}


def step(resource: str) -> int:
    """Return what quota is divided in: a core, a GiB, a device."""
    return _STEPS.get(resource, 1)


class Job(Struct, frozen=True):
    """A job or pod that ran; ``line`` is that of the file, which no other job has.

    ``gpus``, ``cpu_milli`` and ``memory``, in bytes, are of all its pods together; a share of a GPU
    counts as a whole one. ``is_gang`` says whether more than 8 GPUs are pods of 8, instead of one
    pod, ``is_training`` whether it may write checkpoints. ``start`` and ``duration`` are in
    seconds, the start since 1970.
    """

    line: int
    name: str
    queue: str
    flavor: str
    gpus: int
    cpu_milli: int
    memory: int
    priority: int
    is_gang: bool
    is_training: bool
    start: float
    duration: float

    @property
    def requests(self) -> dict[str, int]:
        """Return its amounts by resource, those of 0 left out."""
        amounts = {"cpu": self.cpu_milli, "memory": self.memory, GPU: self.gpus}
        return {resource: amount for resource, amount in amounts.items() if amount}
