"""What queues inherit, and what their properties mean (docs/semantics/yunikorn.md §2)."""

import pytest

from planner.quota.yunikorn.queue import DEFAULT_DELAY, Properties, inherited, read_properties
from planner.state.clock import SECOND, parse_duration

MINUTE = 60 * SECOND


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("1m30s", 90 * SECOND),
        ("10s", 10 * SECOND),
        ("1.5h", 90 * MINUTE),
        (".5s", SECOND // 2),
        ("1.s", SECOND),
        ("100ms", SECOND // 10),
        ("3us", 3000),
        ("3µs", 3000),
        ("7ns", 7),
        ("-5s", -5 * SECOND),
        ("+5s", 5 * SECOND),
        ("0", 0),
        ("0s", 0),
        ("", None),
        ("-", None),
        ("bad", None),
        ("5", None),
        ("5 s", None),
        (".s", None),
        ("5d", None),
        ("9999999h", None),
        ("1s" * 60, None),
    ],
)
def test_durations(text: str, duration: int | None) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    ("passed", "own", "effective"),
    [
        ({"preemption.delay": "10s"}, {}, {"preemption.delay": "10s"}),
        ({"preemption.delay": "10s"}, {"preemption.delay": "5s"}, {"preemption.delay": "5s"}),
        ({"preemption.policy": "fence"}, {}, {"preemption.policy": "default"}),
        ({"preemption.policy": "disabled"}, {}, {"preemption.policy": "disabled"}),
        (
            {"preemption.policy": "disabled"},
            {"preemption.policy": "fence"},
            {"preemption.policy": "fence"},
        ),
        ({"preemption.policy": "Disabled"}, {}, {"preemption.policy": "Disabled"}),
        ({"priority.offset": "7"}, {}, {"priority.offset": "0"}),
        ({"priority.policy": "fence"}, {}, {"priority.policy": "default"}),
    ],
)
def test_inheritance(
    passed: dict[str, str], own: dict[str, str], effective: dict[str, str]
) -> None:
    assert inherited(passed, own) == effective


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({}, Properties()),
        ({"preemption.policy": "fence"}, Properties(preemption_fence=True)),
        ({"preemption.policy": "disabled"}, Properties(disabled=True)),
        ({"preemption.policy": "nonesuch"}, Properties()),
        ({"preemption.policy": "Fence"}, Properties(preemption_fence=True)),
        ({"preemption.policy": "DISABLED"}, Properties(disabled=True)),
        ({"priority.policy": "Fence"}, Properties(priority_fence=True)),
        ({"priority.policy": "fence"}, Properties(priority_fence=True)),
        ({"priority.offset": "-3"}, Properties(priority_offset=-3)),
        ({"priority.offset": "2147483648"}, Properties()),
        ({"priority.offset": "high"}, Properties()),
        ({"preemption.delay": "5s"}, Properties(delay=5 * SECOND)),
        ({"preemption.delay": "0s"}, Properties(delay=DEFAULT_DELAY)),
        ({"preemption.delay": "bad"}, Properties(delay=DEFAULT_DELAY)),
    ],
)
def test_meaning(written: dict[str, str], meant: Properties) -> None:
    """The core compares policies in lower case (scheduler/policies, PreemptionPolicyFromString)."""
    assert read_properties(written) == meant
