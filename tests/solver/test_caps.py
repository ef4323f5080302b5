"""Caps that users may write: the victims of each priority, and pods.

The oracle compares the numbers of victims from the highest priority down, as tuples.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import planner
from planner.commands.check.plan import check
from planner.objective.profile_file import read_profile
from planner.objective.profiles import Profile
from planner.plan.kueue import Plan
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.conftest import TEST_ALL
from tests.oracle.objectives import Enumeration
from tests.oracle.random_states import NOW, PENDING, RandomState, random_state
from tests.solver.oracle_difference import enumerated

STATES = 1500 if TEST_ALL else 100
TRADED = (161, 190, 244, 251)
"""Seeds at which fewer victims of one priority permit more of a lower one."""

CAPS = ("victims@each", "D2p", "victims@each D2p", "D4+D5 victims@each")
LEVELS = "D4+D5 D7 D2"


def written(folder: Path, caps: str, levels: str = LEVELS) -> Profile:
    path = folder / "capped.toml"
    path.write_text(f"levels = {levels.split()}\ncaps = {caps.split()}\n", encoding="utf-8")
    return read_profile(path)


def state_of(state: RandomState) -> State:
    return read_kueue_objects(state.objects, where=f"seed {state.seed}", now=NOW)


def solved(state: RandomState, profile: Profile) -> Plan:
    return planner.solve(state_of(state), PENDING, objective=profile, assignment=state.assignment)


def by_priority(sets: Enumeration, plan: Plan) -> tuple[int, ...]:
    return sets.terms.profile(sets.legal.mask(frozenset(plan.keys)))


@pytest.mark.parametrize("caps", CAPS)
def test_the_best_within_caps_is_what_enumeration_says(tmp_path: Path, caps: str) -> None:
    profile, bound, fewer_above = written(tmp_path, caps), 0, 0
    for seed in (*TRADED, *range(STATES)):
        state = random_state(seed)
        plan = solved(state, profile)
        sets = enumerated(state, plan)
        greedy = sets.legal.mask(frozenset(plan.greedy.keys)) if sets and plan.greedy else 0
        best = sets.best("", greedy or None, LEVELS, caps) if sets else None
        if sets is None or best is None or not best.victims:
            assert not plan.keys
            continue
        assert plan.status == "optimal", seed
        assert list(plan.keys) == sets.legal.keys(best.victims), seed
        free = sets.best("", None, LEVELS)
        bound += free is not None and free.victims != best.victims
        if plan.greedy is not None and plan.greedy.keys and "victims@each" in caps:
            ours, theirs = by_priority(sets, plan), by_priority(sets, plan.greedy)
            fewer_above += any(a > b for a, b in zip(ours, theirs, strict=True)) and ours < theirs
    assert bound  # the caps exclude what would be best without them
    assert fewer_above or caps != "victims@each"  # fewer of a priority permit more of a lower one


def test_a_cap_of_each_priority_is_checked_as_the_plan_is(tmp_path: Path) -> None:
    profile, certified = written(tmp_path, "victims@each"), 0
    for seed in range(60):
        state = random_state(seed)
        plan = solved(state, profile)
        own = plan.greedy
        if not plan.victims or own is None or not own.victims or own.outside_rules:
            continue
        assert plan.certificate is not None
        (cap,) = plan.certificate.caps
        assert (cap.term, cap.most) == ("more@each", 0)
        assert plan.terms["more@each"] == 0
        trees = all(level.proof == "certified" for level in plan.certificate.levels)
        found = check(state_of(state), plan, objective=profile)
        assert all(verdict.holds for verdict in found.verdicts), (seed, found.verdicts)
        if trees and plan.certificate.ties == "certified":
            assert found.accepted, (seed, found.claims)
            certified += 1
        worse = plan.certificate.model_copy(update={"caps": ()})
        found = check(
            state_of(state), plan.model_copy(update={"certificate": worse}), objective=profile
        )
        assert not found.accepted
    assert certified > 10


def test_nothing_is_compared_where_the_scheduler_finds_nobody(tmp_path: Path) -> None:
    profile, alone = written(tmp_path, "victims@each"), 0
    for seed in range(200):
        plan = solved(random_state(seed), profile)
        if plan.victims and plan.greedy is not None and not plan.greedy.victims:
            alone += 1
            assert "more@each" not in plan.terms
    assert alone
