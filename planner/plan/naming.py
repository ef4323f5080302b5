"""Many names in a sentence."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice


def name_some(names: Collection[str], most: int) -> str:
    """Name some of several, and count the others."""
    more = len(names) - most
    return ", ".join(islice(names, most)) + (f" and {more} more" if more > 0 else "")
