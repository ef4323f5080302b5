"""KQ-01: after all victims are gone, the preemptor fits."""

import pytest

from planner.quota.kueue.assignment import Assignment
from tests.cluster import FLAVOR, Object, cohort, configuration, pending, queue, running, state_of
from tests.laws.cases import FITS, full
from tests.laws.judges import OWN, Case, broken, detail, judge
from tests.told import told
from tests.verifier.cases import all_assigned, assigned


@pytest.mark.parametrize("case", FITS, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-01", case)


def test_what_is_missing_is_told() -> None:
    told(detail("KQ-01", state_of(full()), ("two", OWN)))


@pytest.mark.parametrize(
    ("borrowing", "lending", "used", "fits"),
    [
        (None, None, 2, True),
        (2, None, 2, True),
        (1, None, 2, False),
        (None, 2, 0, True),
        (None, 1, 0, False),
    ],
)
def test_limits_count_where_nobody_is_evicted(
    borrowing: int | None, lending: int | None, used: int, *, fits: bool
) -> None:
    """The request is 4, of which 2 would be borrowed."""
    state = state_of(
        cohort("org"),
        queue("a", 2, "org", borrowing=borrowing),
        queue("b", 4, "org", lending=lending),
        running("b1", "b", used),
        pending("a", 4),
    )
    found = broken(state, borrowing=None, assignment=all_assigned(state, "Fit"))
    assert found == ([] if fits else ["KQ-01"])


def test_nothing_to_evict_still_has_to_fit() -> None:
    state = state_of(full())
    for assignment in (all_assigned(state, "Fit"), assigned("Fit", flavor="unheard-of")):
        assert broken(state, borrowing=None, assignment=assignment) == ["KQ-01"]


@pytest.mark.parametrize(
    ("mode", "pod_sets"),
    [
        ("Preempt", []),
        ("Preempt", [{"name": "main", "flavors": {}}]),
        ("Preempt", [{"name": "else", "flavors": {"gpu": {"flavor": FLAVOR}}}]),
        ("Preempt", [{"name": "main", "count": 0, "flavors": {"gpu": {"flavor": FLAVOR}}}]),
        ("NoFit", [{"name": "main", "count": 1, "flavors": {"gpu": {"flavor": FLAVOR}}}]),
    ],
    ids=["no podsets", "no flavors", "other podset", "no pods", "no fit"],
)
def test_an_assignment_that_forgets_the_request_is_forbidden(
    mode: str, pod_sets: list[Object]
) -> None:
    """Otherwise nothing would be asked for; here, all that is asked for would fit."""
    state = state_of(queue("a", 6), pending("a", 4))
    assignment = Assignment.model_validate({"mode": mode, "podSets": pod_sets})
    assert broken(state, borrowing=None, assignment=assignment) == ["KQ-01"]


@pytest.mark.parametrize(
    ("strategy", "forbidden"), [("BlockUndeclared", ["KQ-01"]), ("IgnoreUndeclared", [])]
)
def test_resources_without_quota_may_be_ignored(strategy: str, forbidden: list[str]) -> None:
    state = state_of(
        queue("a", 6),
        pending("a", {"gpu": 4, "example.com/license": 1}),
        configuration(resources={"quotaCheckStrategy": strategy}),
    )
    found = broken(state, borrowing=None, assignment=counted(1))
    assert found == forbidden


@pytest.mark.parametrize(
    ("count", "least", "forbidden"),
    [(3, None, []), (2, None, ["KQ-01"]), (2, 2, []), (1, 2, ["KQ-01"]), (4, 2, ["KQ-01"])],
)
def test_only_partial_admission_reduces_the_count(
    count: int, least: int | None, forbidden: list[str]
) -> None:
    (incoming,) = pending("a", 1)
    incoming["spec"]["podSets"][0] |= {"count": 3, "minCount": least}
    state = state_of(queue("a", 6), [incoming])
    assert broken(state, borrowing=None, assignment=counted(count)) == forbidden


def counted(count: int) -> Assignment:
    """Return an assignment of so many pods, whose gpu fits."""
    flavors = {"gpu": {"flavor": FLAVOR, "mode": "Fit"}}
    pods = {"name": "main", "count": count, "flavors": flavors}
    return Assignment.model_validate({"mode": "Fit", "podSets": [pods]})
