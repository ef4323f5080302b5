"""The properties of a queue: what it inherits, and what they mean.

Source: docs/semantics/yunikorn.md §2; yunikorn-core be3bb487, scheduler/objects/queue.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from planner.state.clock import SECOND, parse_duration

PREEMPTION_POLICY: Final = "preemption.policy"
PREEMPTION_DELAY: Final = "preemption.delay"
QUOTA_PREEMPTION_DELAY: Final = "quota.preemption.delay"
PRIORITY_POLICY: Final = "priority.policy"
PRIORITY_OFFSET: Final = "priority.offset"
DEFAULT: Final = "default"
DISABLED: Final = "disabled"
FENCE: Final = "fence"

DEFAULT_DELAY: Final = 30 * SECOND

_INT32: Final = re.compile(r"[+-]?[0-9]+")
_LONGEST: Final = 100


class Properties(Struct, frozen=True):
    """The effective properties of a queue; delays are in nanoseconds."""

    disabled: bool = False
    preemption_fence: bool = False
    priority_fence: bool = False
    priority_offset: int = 0
    delay: int = DEFAULT_DELAY
    quota_delay: int = 0


def inherited(effective: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return the effective properties of a queue below one with these effective properties.

    Fences and offsets stay where they are written; ``disabled`` reaches the whole subtree until
    a queue says otherwise.
    """
    local = {PRIORITY_POLICY: DEFAULT, PRIORITY_OFFSET: "0"}
    if effective.get(PREEMPTION_POLICY) != DISABLED:
        local[PREEMPTION_POLICY] = DEFAULT
    return {**effective, **{name: local[name] for name in local if name in effective}, **own}


def read_properties(effective: Mapping[str, str]) -> Properties:
    """Say what effective properties mean; what cannot be read is as if it were absent."""
    policy = effective.get(PREEMPTION_POLICY, DEFAULT)
    delay = parse_duration(effective.get(PREEMPTION_DELAY, "")) or 0
    text = effective.get(PRIORITY_OFFSET, "0")
    offset = int(text) if len(text) <= _LONGEST and _INT32.fullmatch(text) else 0
    return Properties(
        disabled=policy == DISABLED,
        preemption_fence=policy == FENCE,
        priority_fence=effective.get(PRIORITY_POLICY) == FENCE,
        priority_offset=offset if -(2**31) <= offset < 2**31 else 0,
        delay=delay if delay > 0 else DEFAULT_DELAY,
        quota_delay=max(0, parse_duration(effective.get(QUOTA_PREEMPTION_DELAY, "")) or 0),
    )
