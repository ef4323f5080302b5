"""Caps that users may write: the victims of each priority, and pods.

The oracle compares the numbers of victims from the highest priority down, as tuples.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from planner.commands.check.plan import check
from planner.objective.profile_file import read_profile
from planner.objective.profiles import Profile
from planner.plan.kueue import Plan
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.conftest import TEST_ALL
from tests.oracle.objectives import Enumeration, value
from tests.oracle.random_states import NOW, PENDING, RandomState, random_state
from tests.solver.oracle_difference import enumerated
from tests.solver.ways import solve

STATES = 1500 if TEST_ALL else 4
TRADED = (161, 190, 244, 251)
"""Seeds at which fewer victims of one priority permit more of a lower one."""

CAPS = ("victims@each", "pods", "victims@each pods", "lost_work+restart_cost victims@each")
LEVELS = "lost_work+restart_cost excess_freed workloads"


def written(folder: Path, caps: str, levels: str = LEVELS) -> Profile:
    path = folder / "capped.toml"
    path.write_text(f"levels = {levels.split()}\ncaps = {caps.split()}\n", encoding="utf-8")
    return read_profile(path)


def state_of(state: RandomState) -> State:
    return read_kueue_objects(state.objects, where=f"seed {state.seed}", now=NOW)


def solved(state: RandomState, profile: Profile) -> Plan:
    return solve(state_of(state), PENDING, objective=profile, assignment=state.assignment)


@cache
def each_capped(seed: int) -> Plan:
    """Return the plan of a random state whose victims of each priority are capped."""
    with TemporaryDirectory() as folder:
        return solved(random_state(seed), written(Path(folder), "victims@each"))


def by_priority(sets: Enumeration, plan: Plan) -> tuple[int, ...]:
    return sets.terms.profile(sets.legal.mask(frozenset(plan.keys)))


@pytest.mark.parametrize("caps", CAPS)
def test_the_best_within_caps_is_what_enumeration_says(tmp_path: Path, caps: str) -> None:
    profile, bound, fewer_above = written(tmp_path, caps), 0, 0
    for seed in (*TRADED, *range(STATES)):
        state = random_state(seed)
        plan = each_capped(seed) if caps == "victims@each" else solved(state, profile)
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
        plan = each_capped(seed)
        own = plan.greedy
        if not plan.victims or own is None or not own.victims or own.outside_rules:
            continue
        assert plan.certificate is not None
        (cap,) = plan.certificate.caps
        assert (cap.term, cap.most) == ("more@each", 0)
        assert plan.terms["more@each"] == 0
        trees = all(level.proof == "certified" for level in plan.certificate.levels)
        found = check(state_of(state), plan, objective=profile, assignment=state.assignment)
        assert all(verdict.holds for verdict in found.verdicts), (seed, found.verdicts)
        if trees and plan.certificate.ties == "certified":
            assert found.accepted, (seed, found.claims)
            certified += 1
        worse = plan.certificate.model_copy(update={"caps": ()})
        found = check(
            state_of(state),
            plan.model_copy(update={"certificate": worse}),
            objective=profile,
            assignment=state.assignment,
        )
        assert not found.accepted
    assert certified > 10


OUTSIDE = (120, 173, 319, 426, 484, 495)
"""Seeds at which Kueue's own victims are outside its rules."""


def unkeepable(sets: Enumeration, greedy: int, caps: Sequence[str]) -> list[str]:
    """Return the caps that no legal set keeps beside the caps kept before them."""
    terms, left, found = sets.terms.of(greedy), list(sets.known.values()), []
    for cap in caps:
        keeping = [each for each in left if value(each, cap) <= value(terms, cap)]
        found += [] if keeping else [cap]
        left = keeping or left
    return found


def test_dropped_are_the_caps_that_no_legal_set_keeps(tmp_path: Path) -> None:
    dropped = false = 0
    for number, caps in enumerate(
        (
            "workloads lost_work+restart_cost",
            "lost_work+restart_cost workloads queues",
            "excess_freed lost_work+restart_cost",
            "excess_freed run_time workloads",
        )
    ):
        capped, free = written(tmp_path, caps), written(tmp_path, "")
        for seed in OUTSIDE if TEST_ALL else OUTSIDE[number % 2 :: 2]:
            state = random_state(seed)
            plan, forged = solved(state, capped), solved(state, free)
            sets, own = enumerated(state, plan), plan.greedy
            assert sets is not None
            assert own is not None
            assert plan.certificate is not None
            assert forged.certificate is not None
            greedy = sets.legal.mask(frozenset(own.keys))
            expected = unkeepable(sets, greedy, caps.split())
            assert [cap.term for cap in plan.certificate.dropped] == expected, seed
            assert check(state_of(state), plan, capped, assignment=state.assignment).accepted, seed
            dropped += len(expected)
            # As if no cap could be kept, with all the trees that there are.
            trees = (*forged.certificate.trees, *plan.certificate.trees)
            certificate = forged.certificate.model_copy(update={"trees": trees})
            forged = forged.model_copy(update={"certificate": certificate})
            exceeded = [
                cap
                for cap in caps.split()
                if value(forged.terms, cap) > value(own.terms, cap)
                and not unkeepable(sets, greedy, [cap])
            ]
            false += bool(exceeded)
            refused = check(state_of(state), forged, capped, assignment=state.assignment)
            claims = {one.claim for one in refused.claims if not one.certified}
            assert claims >= {f"cap of {cap}" for cap in exceeded}, seed
    assert dropped
    assert false


def test_nothing_is_compared_where_the_scheduler_finds_nobody() -> None:
    alone = 0
    for seed in range(200 if TEST_ALL else 80):
        plan = each_capped(seed)
        if plan.victims and plan.greedy is not None and not plan.greedy.victims:
            alone += 1
            assert "more@each" not in plan.terms
    assert alone
