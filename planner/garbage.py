"""Python's collector of reference cycles, paused or bounded where it would find nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

_MANY: Final = 100_000
"""From this many new objects on, the collector is told that they are old."""

_SOME: Final = 10_000
"""The same where others are aside already: to put new ones beside them takes no time."""

_TIDY: Final = 100
"""The number of plans after which cycles are collected: some plans leave reference cycles, and a
program that does one thing and ends is set up to collect hardly ever."""


def tidy(number: int) -> None:
    """Collect the cycles that plans leave, after every hundredth plan; ``number`` counts plans."""
    if number % _TIDY == 0:
        gc.collect()


_ASIDE: Final = Lock()
"""Held while older objects are put aside."""


@contextmanager
def older_objects_aside() -> Iterator[None]:
    """Keep the collector from looking at objects that exist already.

    A search makes cycles, so that the collector has to run during it; but the state that is
    searched has millions of objects, and one look at all of them takes as long as most searches.
    """
    # Where the program lets the collector run hardly ever there is nothing to gain. Within another
    # such block, or where the program froze objects itself, old objects are aside already, and must
    # not be unfrozen here.
    seldom = not gc.isenabled() or gc.get_threshold()[0] >= _MANY
    if seldom or gc.get_freeze_count() or not _ASIDE.acquire(blocking=False):
        yield
        return
    # Objects that are unfrozen count as old, and are not looked at for long: no garbage may be
    # among them. So it is collected before objects are frozen, and again before they are unfrozen.
    gc.collect(1)
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()
        _ASIDE.release()


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
            new = gc.get_count()[0]
            if _ASIDE.locked():
                if new > _SOME:
                    gc.freeze()
            # To count frozen objects walks them: it is worth it only after many were made.
            elif new > _MANY and gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
