"""What workloads ask for: a catalogue of t-shirt sizes, no two alike, or Kueue's own test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Final

from planner.commands.generate.chance import Chance
from planner.commands.generate.knobs import KueueKnobs

CPU, MEMORY, GPU = "cpu", "memory", "nvidia.com/gpu"

GPUS_OF_A_NODE: Final = 8
_SIZES: Final = (1, 1, 1, 1, 2, 2, 2, 4, 4, 8, 8, 16)
"""GPUs of a workload; each as often as it stands here."""

_GIB: Final = 1024
_CATALOGUE: Final = 12


@dataclass(frozen=True, slots=True)
class Shape:
    """What all pods together ask for, and how many there are.

    Amounts are cores of ``cpu``, MiB of ``memory``, and GPUs; each is a multiple of ``pods``.
    """

    total: Mapping[str, int]
    pods: int = 1

    def per_pod(self) -> dict[str, int]:
        """Return what one pod asks for."""
        return {resource: amount // self.pods for resource, amount in self.total.items()}


@dataclass(frozen=True, slots=True)
class Sized:
    """A shape of Kueue's scalability test with the place of its class among the priorities."""

    cores: int
    level: int


SMALL, MEDIUM, LARGE = Sized(1, 0), Sized(5, 1), Sized(20, 2)

SCALE: Final[dict[str, tuple[Sized, ...]]] = {
    "kueue-baseline": (*[SMALL] * 7, *[MEDIUM] * 2, LARGE),
    "kueue-large-scale": (*[SMALL] * 35, *[MEDIUM] * 11, *[LARGE] * 4),
}
"""What the workloads of each queue are, in a cycle: 350, 100, 50 of 500, and 35, 11, 4 of 50.

Source: kueue test/performance/scheduler/configs/{baseline,large-scale}/generator.yaml.
"""


def of_gpus(gpus: int, memory: int, cores: int, *, gang: bool = False) -> Shape:
    """Return a shape of so many GPUs; ``memory`` (MiB) and ``cores`` are for each of them.

    A gang has a pod for each GPU; the others fill whole nodes where they are larger than one.
    """
    pods = gpus if gang else gpus // gcd(gpus, GPUS_OF_A_NODE)
    if not gang and gpus <= GPUS_OF_A_NODE:
        pods = 1
    return Shape({CPU: gpus * cores, MEMORY: gpus * memory, GPU: gpus}, pods)


def shapes(knobs: KueueKnobs, chance: Chance) -> Iterator[Shape]:
    """Yield shapes without end, of a catalogue or all distinct."""
    catalogue = [
        _drawn(chance, knobs, _GIB * chance.pick((32, 64, 96, 128))) for _ in range(_CATALOGUE)
    ]
    seen: set[tuple[tuple[str, int], ...]] = set()
    while True:
        if knobs.shapes == "t-shirt":
            yield chance.pick(catalogue)
            continue
        shape = _drawn(chance, knobs, chance.between(16 * _GIB, 128 * _GIB))
        key = tuple(sorted(shape.total.items()))
        if key not in seen:
            seen.add(key)
            yield shape


def _drawn(chance: Chance, knobs: KueueKnobs, memory: int) -> Shape:
    gpus, cores = chance.pick(_SIZES), chance.pick((4, 8, 12, 16))
    return of_gpus(gpus, memory, cores, gang=chance.percent(knobs.gangs))
