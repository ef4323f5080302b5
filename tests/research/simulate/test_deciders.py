"""Who chooses the victims in a simulation: Kueue, or plans of three kinds in its place."""

from collections.abc import Sequence

import pytest

import planner
from planner.commands.boost.kueue.search import Search
from planner.commands.boost.kueue.trial import StateTrial
from planner.commands.whatif.edit import edit
from planner.errors import InputError, UnsupportedError
from planner.objective.profiles import Profile
from planner.plan.kueue import Plan
from planner.research.generate import generate
from planner.research.simulate import Question, Simulation, kueue_optimum, simulate
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.start import solve
from planner.state.kueue import State
from tests.cluster import PENDING, pending, queue, running, state_of
from tests.commands.boost.test_find import JUST_NOW, big, borrowers
from tests.conftest import TEST_ALL
from tests.solver.test_stability import third_party
from tests.theory.test_complexity import one_side
from tests.told import told

INSTEAD = ("optimum", "stable", "boost")


def first(state: State, decider: str, objective: str = "no-regret") -> set[str]:
    """Return whom the first cycle evicts, and nothing of what follows."""
    return evicted(simulate(state, Question(decider, until_s=0, objective=objective)))


def evicted(answer: Simulation) -> set[str]:
    return {event.workload for event in answer.timeline if event.kind == "preempted"}


def within_reach(state: State, plan: Plan) -> bool:
    """Say whether Kueue evicts the planned victims with some annotations, all read anew."""
    on = edit(state, ["configuration.featureGates.PriorityBoost=true"])
    trial = StateTrial(on, plan.preemptor, plan.assignment, frozenset(plan.keys))
    return Search(trial, Deadline()).some().choice is not None


def test_stable_is_what_a_plan_that_is_demanded_stable_is() -> None:
    """Evicting small and big costs less, but small would then preempt loan."""
    state = state_of(*third_party())
    for decider in ("kueue", "optimum"):
        assert first(state, decider) == {"ns/small", "ns/big"}
    assert first(state, "stable") == {"ns/big", "ns/loan"}
    plan = planner.solve(state, PENDING, stable=True)
    assert set(plan.keys) == {"ns/big", "ns/loan"}


def test_stable_is_the_optimum_where_no_plan_is_stable() -> None:
    """The loan is out of reach: planner.solve proves that, and here somebody goes all the same."""
    state = state_of(*third_party(priority=50))
    assert planner.solve(state, PENDING, stable=True).status == "infeasible"
    assert first(state, "stable") == {"ns/small", "ns/big"}


def test_a_storm_that_stable_plans_do_not_begin() -> None:
    """Whom small would evict when it comes back stays where it is evicted with big at once."""
    state = state_of(*third_party())
    found = {
        one: simulate(state, Question(one, until_s=600, eviction_s=1))
        for one in ("optimum", "stable")
    }
    by_small = [one for one in found["optimum"].timeline if one.by == "ns/small"]
    assert [one.workload for one in by_small] == ["ns/loan"]
    assert not [one for one in found["stable"].timeline if one.by == "ns/small"]


def test_boosts_lead_kueue_to_the_plan() -> None:
    """Kueue takes the newer of two equals, the plan the one with a checkpoint."""
    state = borrowers(big(), running("new", "borrower", 4, minute=2))
    assert first(state, "kueue") == {"ns/new"}
    for decider in ("optimum", "boost"):
        assert first(state, decider, "min-lost-work") == {"ns/big"}


def test_kueues_own_victims_where_no_boosts_lead_to_the_plan() -> None:
    """A candidate of the own queue comes after those of others, whatever its priority."""
    state = state_of(
        queue("lender", 8, "all", within="LowerPriority", reclaim="Any"),
        queue("borrower", 0, "all"),
        running("own", "lender", 4, minute=1, annotations=JUST_NOW),
        running("other", "borrower", 4, minute=2),
        pending("lender", 4),
    )
    assert planner.boost(state, PENDING, "min-lost-work").status == "impossible"
    assert first(state, "optimum", "min-lost-work") == {"ns/own"}
    for decider in ("kueue", "boost"):
        assert first(state, decider, "min-lost-work") == {"ns/other"}


@pytest.mark.parametrize(("kind", "seeds"), [("flat", (0, 1, 2, 5, 11)), ("fair", (0, 1, 2, 3))])
def test_as_the_commands_say(kind: str, seeds: Sequence[int]) -> None:
    """In drawn states: what solve, solve --stable and boost answer for the one that waits."""
    seen = set()
    for seed in range(12) if TEST_ALL else seeds:
        state = generate(kind, seed, queues=3, workloads=6, victims=2)
        assert isinstance(state, State)
        own = set(planner.greedy(state).keys)
        plan = planner.solve(state, objective="min-lost-work")
        steady = planner.solve(state, objective="min-lost-work", stable=True)
        if not own or not plan.victims:
            continue
        reached = within_reach(state, plan)
        assert first(state, "kueue") == own
        assert first(state, "optimum", "min-lost-work") == set(plan.keys)
        kept = steady if steady.victims else plan
        assert first(state, "stable", "min-lost-work") == set(kept.keys)
        assert first(state, "boost", "min-lost-work") == (set(plan.keys) if reached else own)
        seen.add((reached, own == set(plan.keys), kept == steady))
    assert {(False, False), (True, True)} <= {(reached, same) for reached, same, _ in seen}
    assert kind == "fair" or (True, False) in {(reached, same) for reached, same, _ in seen}


def test_nobody_goes_where_kueue_finds_nobody() -> None:
    """There is a legal set, but Kueue looks at the newest first and then at nobody else."""
    state = one_side((3, 2), 3)
    assert planner.solve(state, PENDING).victims
    for decider in ("kueue", *INSTEAD):
        assert first(state, decider) == set()


def test_no_plan_is_asked_for_where_kueue_finds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof that there is none takes long, and most heads of a full cluster find nobody."""
    asked = []

    def noted(planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
        asked.append(planning.case.preemptor.key)
        return solve(planning, profile, deadline)

    monkeypatch.setattr(kueue_optimum, "solve", noted)
    simulate(one_side((3, 2), 3), Question("optimum"))
    assert not asked
    simulate(state_of(*third_party()), Question("optimum", until_s=0))
    assert asked == [PENDING]


@pytest.mark.parametrize("decider", ["stable", "boost"])
def test_yunikorn_has_neither(decider: str) -> None:
    state = generate("yunikorn", 0)
    with pytest.raises(InputError) as caught:
        simulate(state, Question(decider))
    told(caught.value)


def test_boosts_decide_nothing_in_a_release_without_them() -> None:
    state = state_of(queue("lender", 4), pending("lender", 4), release="0.16.9")
    with pytest.raises(UnsupportedError, match=r"Kueue 0\.16\.9 has no priority boosts"):
        simulate(state, Question(decider="boost"))
    assert simulate(state, Question(decider="optimum")).ended == "settled"
