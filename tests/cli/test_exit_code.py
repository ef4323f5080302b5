"""The exit codes are a contract."""

from itertools import combinations

import pytest

from planner import errors
from planner.cli import exit_code as codes
from tests.report.factory import make_plan


def test_codes_never_change() -> None:
    assert sorted(codes.MEANINGS) == [0, 1, 2, 3, 4, 5, 6, 7, 70]


@pytest.mark.parametrize(
    ("status", "code"), [("optimal", 0), ("infeasible", 3), ("feasible", 4), ("unknown", 5)]
)
def test_every_status_has_its_code(status: str, code: int) -> None:
    assert codes.exit_code(make_plan(status=status)) == code


def test_errors_have_codes_of_the_contract() -> None:
    assert errors.InputError.exit_code == codes.BAD_INPUT
    assert errors.InternalError.exit_code == codes.OUR_BUG


def test_worst_is_in_the_documented_order() -> None:
    assert codes.worst([]) == 0
    for better, worse in combinations((0, 1, 3, 6, 4, 5, 2, 70), 2):
        assert codes.worst([worse, better, worse]) == worse
    assert sorted(codes.FROM_BEST_TO_WORST) == sorted(codes.MEANINGS)
