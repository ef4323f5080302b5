"""Why an assignment does not fit, as Kueue writes it on the workload.

Source: kueue ff69552e pkg/scheduler/flavorassigner/flavorassigner.go ``resolveNoFitReason``,
``mostSevereReason``; pkg/resources/slice_requests.go for the order of resources.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final

from planner.quantity import is_milli
from planner.state.queues import ResourceGroup

_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = ("m", "", "k", "M", "G", "T", "P", "E")
_OFFSET: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3


class NoFitReason(Enum):
    """Reasons of the condition QuotaReserved, from mild to severe."""

    NONE = ""
    WAITING_FOR_QUOTA = "WaitingForQuota"
    EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
    NO_MATCHING_FLAVOR = "NoMatchingFlavor"


NO_REASON: Final = NoFitReason.NONE
_SEVERITY: Final = {reason: severity for severity, reason in enumerate(NoFitReason)}


def most_severe(reasons: Iterable[NoFitReason]) -> NoFitReason:
    """Return the most severe of some reasons; none of no reasons."""
    return max(reasons, key=_SEVERITY.__getitem__, default=NO_REASON)


@dataclass(slots=True)
class Attempts:
    """The flavors that were looked at for podsets that are handled together."""

    _any: bool = False
    _against: dict[int, NoFitReason] = field(default_factory=dict)

    def add(self, covering: ResourceGroup, reason: NoFitReason | None) -> None:
        """Note a flavor of a resource group, and why it is no fit; ``None`` if it is one.

        The flavors of a group are alternatives: its mildest reason counts.
        """
        self._any = True
        if reason is not None:
            known = self._against.get(id(covering), reason)
            self._against[id(covering)] = min(known, reason, key=_SEVERITY.__getitem__)

    def reason(self) -> NoFitReason:
        """Return why the podsets do not fit: groups are needed together, the worst counts."""
        # No flavor was even looked at, as for a resource that no group covers.
        if not self._any:
            return NoFitReason.NO_MATCHING_FLAVOR
        return most_severe(self._against.values())


def more_needed(resource: str, flavor: str, lack: int) -> str:
    """Say in Kueue's words that there is not enough now."""
    text = f"insufficient unused quota for {resource} in flavor {flavor}"
    return f"{text}, {_amount(lack, resource)} more needed"


def beyond_capacity(resource: str, flavor: str, assumed: int, amount: int, most: int) -> str:
    """Say in Kueue's words that there could never be enough."""
    before, own, capacity = (_amount(one, resource) for one in (assumed, amount, most))
    return (
        f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets "
        f"requests ({before}) + current podset request ({own}) > maximum capacity ({capacity})"
    )


def _amount(units: int, resource: str) -> str:
    """Write an amount as Kubernetes does: with the largest suffix that leaves a whole number."""
    is_binary = resource in {"memory", "ephemeral-storage"} or resource.startswith("hugepages-")
    base = 1024 if is_binary else 1000
    suffixes = _BINARY if is_binary else _DECIMAL[0 if is_milli(resource) else 1 :]
    power = 0
    while units and power + 1 < len(suffixes) and units % base == 0:
        units //= base
        power += 1
    return f"{units}{suffixes[power]}" if units else "0"


def in_kueues_order(resources: Iterable[str]) -> list[str]:
    """Return names of resources in the order in which Kueue walks them: by their FNV-1a hash.

    The order decides nothing but which reasons are known when a podset fails.
    """
    return sorted(resources, key=lambda name: (_hashed(name), name))


@lru_cache(maxsize=1024)
def _hashed(name: str) -> int:
    value = _OFFSET
    for byte in name.encode():
        value = (value ^ byte) * _PRIME % 2**64
    return value
