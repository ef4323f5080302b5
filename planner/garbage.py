"""The collector of cycles, told when it has nothing to find."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

_MANY: Final = 100_000
"""Objects made meanwhile from which on the collector is told that they are old."""

_TIDY: Final = 100
"""Plans after which memory is tidied: they refer to themselves in circles, and a program that does
one thing and ends is set up to look for such hardly ever."""


def tidy(number: int) -> None:
    """Collect the circles that plans leave, after every hundredth; ``number`` counts them."""
    if number % _TIDY == 0:
        gc.collect()


_ASIDE: Final = Lock()
"""Held while what was there before is put aside."""


@contextmanager
def older_objects_aside() -> Iterator[None]:
    """Let the collector look at nothing that is there already.

    A search makes circles, so that the collector has to run beside it; but the state that it is
    about has millions of objects, and one look at them all takes as long as most searches.
    """
    # Where the program lets the collector run hardly ever there is nothing to gain. Within another
    # of these, or where it has put objects aside itself, they are so already; and it is not for us
    # to call those back.
    seldom = not gc.isenabled() or gc.get_threshold()[0] >= _MANY
    if seldom or gc.get_freeze_count() or not _ASIDE.acquire(blocking=False):
        yield
        return
    # What comes back counts as old, and is not looked at for long: circles that nobody needs must
    # not be among it, neither those of before nor those that were made meanwhile.
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

    Reading and planning for a large state make millions of objects and no cycles: walking them all
    again and again takes longer than making them. Afterwards they count as old, so that the next
    collection of young objects does not walk them either.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            # These calls walk what they are about: only after much was made are they worth it.
            if gc.get_count()[0] > _MANY:
                if _ASIDE.locked():
                    gc.freeze()
                elif gc.get_freeze_count() == 0:
                    gc.freeze()
                    gc.unfreeze()
            gc.enable()
