"""Quantities as queues.yaml writes them, in the core's own integer units.

The unit is milli-cores for ``vcore``, and base units (bytes, devices, pods) for all else.
Source: docs/semantics/yunikorn.md §2.
"""

from __future__ import annotations

import re
from typing import Final

from planner.quantity import MAX_INT64

VCORE: Final = "vcore"
MILLI: Final = 1000
_QUANTITY: Final = re.compile(r"(?P<digits>[0-9]+)(?P<suffix>m|[kMGTPE]|[KMGTPE]i)?")
_DECIMAL: Final = {"k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_LONGEST: Final = 40
_BYTES: Final = frozenset({"memory", "ephemeral-storage"})
_STEPS: Final = (
    ("", 1),
    *((f"{suffix}i", 1024**power) for power, suffix in enumerate("KMGTPE", start=1)),
    *((suffix, 1000**power) for power, suffix in enumerate("kMGTPE", start=1)),
)


def parse_yunikorn_quantity(text: str, resource: str) -> int | None:
    """Read a quantity of queues.yaml in the core's unit; None if it is not one.

    Source: docs/semantics/yunikorn.md §2: a plain number of ``vcore`` is cores.
    """
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    value, suffix = int(match["digits"]), match["suffix"] or ""
    is_vcore = resource == VCORE
    if suffix == "m":
        return value if is_vcore and value <= MAX_INT64 else None
    if suffix.endswith("i"):
        value <<= 10 * ("KMGTPE".index(suffix[0]) + 1)
    else:
        value *= 1000 ** _DECIMAL.get(suffix, 0)
    value *= MILLI if is_vcore else 1
    return value if value <= MAX_INT64 else None


def format_yunikorn_quantity(units: int, resource: str) -> str:
    """Return an amount in YuniKorn's units as queues.yaml writes it: ``64``, ``1500m``, ``16Gi``.

    Bytes get the shortest suffix that is exact.
    """
    if resource == "vcore":
        return f"{units}m" if units % 1000 else str(units // 1000)
    if resource in _BYTES or resource.startswith("hugepages-"):
        exact = (f"{units // step}{suffix}" for suffix, step in _STEPS if units % step == 0)
        return min(exact, key=len)
    return str(units)
