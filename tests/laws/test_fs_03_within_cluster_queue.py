"""FS-03: withinClusterQueue decides about victims of the own queue, and shares do not."""

from __future__ import annotations

import pytest

from tests.cluster import cohort, fair_sharing, pending, queue, running
from tests.laws.judges import BY_SHARE, Case, broken_fairly, judge, sets

CASES = [
    Case(
        policy or "unset",
        [
            *queue("a", 0, within=policy),
            *running("lower", "a", 1, 9),
            *running("newer", "a", 1, 10, created=31),
            *running("as-old", "a", 1, 10, created=30),
            *running("older", "a", 1, 10, created=29),
            *running("higher", "a", 1, 11),
            *pending("a", 0, 10, created=30),
            *fair_sharing(),
        ],
        victims=permitted,
        anyone="lower newer as-old older higher",
    )
    for policy, permitted in (
        ("", ""),
        ("Never", ""),
        ("LowerPriority", "lower"),
        ("LowerOrNewerEqualPriority", "lower newer"),
    )
]
CASES.append(
    Case(
        # Queue a would use all 8 of the cohort: no share could be higher, yet its own may go.
        "the own queue gives whatever its share",
        [
            *cohort("org", nominal=8),
            *queue("a", 0, "org", within="LowerPriority"),
            *running("mine", "a", 8),
            *pending("a", 8),
            *fair_sharing("LessThanInitialShare"),
        ],
        legal=sets("mine"),
    )
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-03", case)


def test_the_reason_is_the_own_queue() -> None:
    assert broken_fairly(CASES[-1].parts, ("mine", BY_SHARE)) == ["FS-03"]
