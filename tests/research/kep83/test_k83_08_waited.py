"""K83-08: there are victims only if the preemptor has waited long enough."""

import pytest

from tests.cluster import Object, pending, queue, running
from tests.research.kep83.court import Case, judge, sets

A1 = sets("a1")


def waiting(*conditions: tuple[str, str, str]) -> list[Object]:
    """A preemptor with conditions of (type, status, time); the clock says 13:00:00."""
    (incoming,) = pending("a", 2, created=0)
    found: list[Object] = [
        {"type": kind, "status": status, "lastTransitionTime": f"2026-05-01T{time}Z"}
        for kind, status, time in conditions
    ]
    incoming["status"] = {"conditions": found}
    return [*queue("a", 2, within="LowerPriority"), *running("a1", "a", 2), incoming]


ONE_MINUTE = waiting(("QuotaReserved", "False", "12:59:00"))
BOTH = waiting(("QuotaReserved", "False", "12:00:00"), ("Admitted", "False", "12:59:00"))
# It was created an hour ago; a condition that is true says nothing of waiting.
NEVER_TRIED = waiting(("QuotaReserved", "True", "12:00:00"))
CASES = [
    Case(name, parts, legal=legal, without=A1, waited=waited, options={"wait": wait})
    for name, parts, waited, wait, legal in (
        ("longer than the option says", ONE_MINUTE, 60, 59, A1),
        ("as long as the option says", ONE_MINUTE, 60, 60, A1),
        ("a second less", ONE_MINUTE, 60, 61, sets()),
        ("Admitted is the condition of the KEP", BOTH, 60, 60, A1),
        ("and not QuotaReserved", BOTH, 60, 61, sets()),
        ("without an attempt it has not waited", NEVER_TRIED, 0, 1, sets()),
        ("nobody has to wait", NEVER_TRIED, 0, 0, A1),
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("K83-08", case)
