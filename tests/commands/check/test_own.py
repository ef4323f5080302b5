"""The planner's own plans, as they are written, are accepted: recorded states, all objectives."""

from typing import Any

import planner
from planner.commands.study.instance import open_packed, packed_states
from planner.errors import InputError
from planner.objective.profiles import PROFILES
from tests.conftest import ROOT, TEST_ALL

EVERY = 1 if TEST_ALL else 150
"""Of the states every so-manieth, each under the next objective."""


def test_own_plans_are_accepted() -> None:
    packed, names, judged = [*packed_states(str(ROOT / "instances" / "recorded"))], [*PROFILES], 0
    for number, one in enumerate(packed[::EVERY]):
        asked: dict[str, Any] = {"objective": names[number % len(names)]}
        try:
            found = open_packed(one)
            asked |= {"assignment": found.assignment} if found.assignment else {}
            plan = planner.solve(found.state, next(iter(found.pending), None), **asked)
        except InputError:  # nobody waits, or the state does not tell what the objective counts
            continue
        written = type(plan).model_validate_json(planner.render(plan, "json"))
        check = planner.check(found.state, written, **asked)
        assert check.accepted, (one.name, asked, check)
        judged += 1
    assert judged > len(packed) // EVERY * 2 // 3
