"""The releases of YuniKorn that decide otherwise than the newest.

Source: docs/semantics/yunikorn.md §16, docs/semantics/yunikorn-features.md §25; yunikorn-core,
tags 1.6.3, 1.7.0, 1.8.0 and 1.9.0.
"""

from __future__ import annotations

import re
from typing import Final

Release = tuple[int, int]
"""A release by its two first numbers, such as (1, 8): within these only 1.6.0 decides otherwise."""

V1_7: Final[Release] = (1, 7)
V1_8: Final[Release] = (1, 8)
V1_9: Final[Release] = (1, 9)
NEWEST: Final[Release] = (1, 10)
"""What comes after 1.9, which decides as the newest but for changes of queues.yaml."""
OLDEST: Final[Release] = (1, 6)
"""The oldest release whose rules are known."""
_VERSION: Final = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)
_V1_6_0: Final = re.compile(r"v?1\.6\.0(?![0-9])", re.ASCII)


def is_1_6_0(text: str) -> bool:
    """Say whether a text names 1.6.0, whose rules are not those of 1.6.1 and later."""
    return _V1_6_0.match(text) is not None


def release_of(text: str) -> Release:
    """Return the release that a build's version names; without one, the newest."""
    found = _VERSION.match(text)
    return (int(found[1]), int(found[2])) if found else NEWEST


def is_known(text: str) -> bool:
    """Say whether a text names a release whose rules are known, such as 1.8.0."""
    return _VERSION.match(text) is not None and release_of(text) >= OLDEST
