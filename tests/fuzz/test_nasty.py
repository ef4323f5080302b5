"""Hard states with little time: an answer within bounds, whatever is proved of it.

PLANNER_TEST_NASTY says how many.
"""

import os

import pytest

from tests.conftest import TEST_ALL
from tests.fuzz import judge
from tests.fuzz.limits import in_processes, run
from tests.fuzz.nasty import KINDS, nasty

# The processes that these tests make do nothing that threads of others could get in the way of.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
STATES = int(os.environ.get("PLANNER_TEST_NASTY") or len(KINDS) * (3 if TEST_ALL else 1))


def test_hard_states_have_an_answer_within_bounds() -> None:
    judge.warm_up()
    failed = {one.number: one.faults for one in in_processes(map(nasty, range(STATES)), run)}
    assert {number: faults for number, faults in failed.items() if faults} == {}
    assert len(failed) == STATES


def test_a_number_is_all_it_takes() -> None:
    assert all(nasty(number) == nasty(number) for number in range(1, 3))
