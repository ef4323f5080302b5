"""Python's collector of reference cycles, paused where it would find nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MANY: Final = 100_000
"""From this many new objects on, the collector is told that they are old."""

_TIDY: Final = 100
"""The number of plans after which cycles are collected: some plans leave reference cycles, and a
program that does one thing and ends is set up to collect hardly ever."""


def tidy(number: int) -> None:
    """Collect the cycles that plans leave, after every hundredth plan; ``number`` counts plans."""
    if number % _TIDY == 0:
        gc.collect()


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Pause the collector of cycles.

    Reading and planning for a large state make millions of objects and no cycles: walking all the
    objects again and again takes longer than making them. Afterwards they count as old, so that the
    next collection of young objects does not walk them either.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            # To count frozen objects walks them: it is worth it only after many were made.
            if gc.get_count()[0] > _MANY and gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
