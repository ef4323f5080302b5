"""The rule of the median (kueue#477): who publishes no checkpoint loses as much as who does."""

from pathlib import Path

import pytest

import planner
from planner.errors import SchemaError, UnsupportedError
from planner.objective.annotation import PREFIX
from planner.objective.applied import median_age
from planner.objective.profile_file import read_profile
from planner.objective.profiles import Profile
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.cluster import PENDING, at, pending, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.oracle.cluster import Cluster
from tests.oracle.objectives import Enumeration, legal_sets
from tests.oracle.question import ask
from tests.oracle.random_states import NOW, random_state
from tests.oracle.random_states import PENDING as ASKED
from tests.solver.oracle_difference import flavors_of
from tests.told import told
from tests.yunikorn.building import state_of as yunikorn_state_of
from tests.yunikorn.random_clusters import random_cluster

LEVELS = (("lost_work",), ("workloads",))
BY_START = Profile("start", "", LEVELS)
BY_MEDIAN = Profile("median", "", LEVELS, median_checkpoint=True)


def saved(minute: int) -> dict[str, str]:
    return {PREFIX + "last-checkpoint": at(minute)}


def published_and_not(wanted: int) -> State:
    """It is 13:00; two published checkpoints of 12:40 and 12:50, two workloads say nothing."""
    return state_of(
        queue("a", 7, within="LowerPriority"),
        running("old", "a", 2, minute=0),
        running("young", "a", 1, minute=55),
        running("told", "a", 2, minute=0, annotations=saved(40)),
        running("told-too", "a", 1, minute=0, annotations=saved(50)),
        running("saves", "a", 1, minute=0, annotations={PREFIX + "checkpoint-seconds": "20"}),
        pending("a", wanted, 10),
    )


def test_who_is_silent_loses_what_the_median_loses_or_its_own_run() -> None:
    """The median of 1200 and 600 s is 900 s; one has run for 300 s only."""
    found = {}
    for profile in (BY_START, BY_MEDIAN):
        plan = planner.solve(published_and_not(7), PENDING, profile)
        found[profile.name] = {
            victim.workload[3:]: victim.costs["lost_work"] for victim in plan.victims
        }
    others = {"told": 2400, "told-too": 600, "saves": 0}
    assert found["start"] == {"old": 7200, "young": 300, **others}
    assert found["median"] == {"old": 1800, "young": 300, **others}


def test_the_rule_no_longer_spares_who_is_silent() -> None:
    """By start 1200 s of two is less than 3600 s of two; by median 900 s of two is."""
    state = published_and_not(2)
    costly = Profile("one", "", (("workloads",), ("lost_work",)))
    assert planner.solve(state, PENDING, costly).keys == ("ns/told",)
    median = Profile("one", "", (("workloads",), ("lost_work",)), median_checkpoint=True)
    plan = planner.solve(state, PENDING, median)
    assert plan.keys == ("ns/old",)
    assert plan.greedy is not None
    assert planner.check(state, plan, median).accepted
    assert not planner.check(state, plan, costly).accepted


def test_saving_counts_where_an_objective_says_so() -> None:
    """It takes 20 s; of the others nothing changes, and the rule of the median stands beside it."""
    counting = Profile("saving", "", (("workloads",),), saving_counts=True)
    both = Profile("both", "", (("workloads",),), median_checkpoint=True, saving_counts=True)
    found = {}
    for profile in (counting, both):
        plan = planner.solve(published_and_not(7), PENDING, profile)
        found[profile.name] = {
            victim.workload[3:]: victim.costs["lost_work"] for victim in plan.victims
        }
        assert planner.check(published_and_not(7), plan, profile).accepted
    others = {"told": 2400, "told-too": 600, "saves": 20}
    assert found["saving"] == {"old": 7200, "young": 300, **others}
    assert found["both"] == {"old": 1800, "young": 300, **others}


def test_where_nobody_publishes_nothing_changes() -> None:
    state = state_of(
        queue("a", 2, within="LowerPriority"), running("w", "a", 2, minute=0), pending("a", 2, 9)
    )
    by_start, by_median = (planner.solve(state, PENDING, each) for each in (BY_START, BY_MEDIAN))
    assert by_median.terms == by_start.terms


@pytest.mark.parametrize(
    ("ages", "median"),
    [((), None), ((None,), None), ((7,), 7), ((None, 9, 1), 5), ((1, 2), 2), ((5, 1, 100), 5)],
)
def test_the_median_of_an_even_number_is_rounded_up(
    ages: tuple[int | None, ...], median: int | None
) -> None:
    assert median_age(ages) == median


def test_random_states_agree_with_enumeration() -> None:
    compared = changed = 0
    for seed in range(150 if TEST_ALL else 110):
        state = random_state(seed)
        read = read_kueue_objects(state.objects, where=f"seed {seed}", now=NOW)
        plan = planner.solve(read, ASKED, BY_MEDIAN, assignment=state.assignment)
        if not plan.victims:
            continue
        question = ask(Cluster(state.objects, NOW), ASKED, flavors_of(plan))
        sets = Enumeration(legal_sets(question), by_median=True)
        best = sets.best("", None, "lost_work workloads")
        assert best is not None
        assert list(plan.keys) == sets.legal.keys(best.victims), seed
        assert plan.terms["lost_work"] == sets.known[best.victims]["lost_work"], seed
        compared += 1
        by_start = Enumeration(sets.legal).known[best.victims]
        changed += by_start["lost_work"] != plan.terms["lost_work"]
    assert compared > 50
    assert changed > 5


def test_a_file_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for value, median in (("median", True), ("start", False)):
        path.write_text(f'levels = ["lost_work"]\nunpublished = "{value}"\n', encoding="utf-8")
        assert read_profile(path).median_checkpoint == median
    path.write_text('levels = ["lost_work"]\nunpublished = 7\n', encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        read_profile(path)
    told(caught.value)


def test_yunikorn_tells_no_checkpoints() -> None:
    state = yunikorn_state_of(random_cluster(0, plain=True))
    with pytest.raises(UnsupportedError, match="published checkpoints"):
        planner.solve(state, objective=BY_MEDIAN)
