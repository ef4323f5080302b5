"""The objective ``stable``: the least over all legal sets, asked of each of them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import pytest

import planner
from planner.case.kueue import Case
from planner.errors import UnsupportedError
from planner.models.kueue.laws import eligible, reasons
from planner.objective.profiles import PROFILES, Measure, Profile
from planner.objective.terms import Cut
from planner.objective.wishes import Wishes
from planner.reference.kueue.aftermath import admit, next_targets, pending_again, snapshot_after
from planner.solver.deadline import Deadline
from planner.solver.finder import minimise
from planner.solver.kueue.aftermath import CascadeReplay
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import prepare
from planner.solver.kueue.start import start
from planner.solver.start import Given
from tests.cluster import PENDING, pending, queue, running, state_of, with_spare_flavor
from tests.conftest import TEST_ALL, YUNIKORN
from tests.solver.test_stability import third_party
from tests.solver.truth import Truth, Victims, truths
from tests.told import told

STABLE = PROFILES["stable"]
CLASSICAL = ("small-classical-flat", "small-classical-hier", "small-flavors")
FAIR = ("small-fair-flat", "small-fair-hier", "small-edge")
FILES = [*((name, False) for name in CLASSICAL), *((name, True) for name in FAIR)]
EVERY = 2 if TEST_ALL else 60


class Asked:
    """A recorded line with ``unstable`` of every legal set, each asked by itself."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        problem, snapshot, preemptor, assignment = truth.setting()
        workloads, codes = problem.workloads, reasons(problem)
        self.measured = truth.measured()
        self.unstable: dict[Victims, set[int]] = {}
        position = self.measured.position
        for victims in truth.legal:
            gone = [workloads[position[key]] for key in victims]
            after = snapshot_after(snapshot, admit(snapshot, preemptor, assignment), gone)
            fresh = [position[one.key] for one in gone if not one.evicted]
            found = {
                at
                for at in fresh
                if next_targets(
                    after, pending_again(truth.state, snapshot, workloads[at], codes[at])
                )
            }
            self.unstable[victims] = found
            terms = self.measured.terms[victims]
            self.measured.terms[victims] = {**terms, "unstable": len(found)}
        candidates = eligible(problem, without={"FS-06"}).nonzero()[0].tolist()
        self.cascade_replay = CascadeReplay(
            Case(truth.state, snapshot, preemptor, assignment), candidates, codes
        )

    def positions(self, victims: Victims) -> list[int]:
        """Return where victims stand in the problem."""
        return [self.measured.position[key] for key in victims]

    def of_kind(self, cut: Cut) -> list[Victims]:
        """Return the legal sets that a cut is about."""
        found = []
        for victims in self.truth.legal:
            chosen = {*self.positions(victims)}
            sums = ((sum(of.get(at, 0) for at in chosen), *ends) for of, *ends in cut.sums)
            going, staying = {cut.victim, *cut.going} <= chosen, chosen & cut.staying
            if going and not staying and all(least <= sum_ <= most for sum_, least, most in sums):
                found.append(victims)
        return found


answered = lru_cache(maxsize=256)(Asked)
"""A line is asked about once, for all tests that change nothing in what they get."""


def asked(name: str, *, fair: bool, every: int = EVERY) -> Iterator[Asked]:
    for truth in truths(name, every, fair=fair):
        if truth.legal:
            yield answered(truth)


@pytest.mark.parametrize(("name", "fair"), FILES)
def test_optimum_is_the_first_of_the_best_legal_sets(name: str, *, fair: bool) -> None:
    compared = unstable = 0
    for line in asked(name, fair=fair):
        plan = line.truth.solve(STABLE)
        assert plan.status == "optimal", line.truth.id
        assert plan.greedy is not None
        expected = line.measured.canonical(STABLE, plan.greedy)
        assert frozenset(plan.keys) == expected, line.truth.id
        assert plan.stability is not None
        assert plan.terms["unstable"] == len(plan.stability) == len(line.unstable[expected])
        compared += 1
        unstable += any(line.unstable.values())
    assert compared >= 2
    assert unstable


OTHERS: Sequence[tuple[Measure, ...]] = (
    (("workloads",), ("unstable",), ("lost_work", "restart_cost")),
    (("lost_work",), ("unstable",)),
    (("queues",), ("workloads", "unstable")),
)


@pytest.mark.parametrize("levels", OTHERS)
def test_the_term_may_stand_anywhere(levels: tuple[Measure, ...]) -> None:
    profile = Profile("mine", "", levels)
    for name, fair in FILES[::2]:
        for line in asked(name, fair=fair, every=2 * EVERY):
            plan = line.truth.solve(profile)
            assert plan.status == "optimal", line.truth.id
            assert plan.greedy is not None
            expected = line.measured.canonical(profile, plan.greedy)
            assert frozenset(plan.keys) == expected, line.truth.id


def test_it_may_be_rated_and_capped() -> None:
    for known in asked("small-classical-flat", fair=False, every=2 * EVERY):
        line = Asked(known.truth)  # one of its own, whose terms are changed
        rates = {"workloads": 3, "unstable": 2}
        for victims, terms in line.measured.terms.items():
            rated = 3 * terms["workloads"] + 2 * terms["unstable"]
            line.measured.terms[victims] = {**terms, "rated": rated}
        profile = Profile("mine", "", (("rated",), ("lost_work",)), (("unstable",),), rates=rates)
        plan = line.truth.solve(profile)
        assert plan.greedy is not None
        assert frozenset(plan.keys) == line.measured.canonical(profile, plan.greedy)
        assert plan.terms["unstable"] <= plan.greedy.terms["unstable"] or not plan.greedy.victims


def test_lessons_are_true_of_every_legal_set() -> None:
    taught = elsewhere = 0
    for name, fair in FILES:
        for line in asked(name, fair=fair):
            for victims in line.truth.legal:
                count = line.cascade_replay.count(line.positions(victims))
                assert count == len(line.unstable[victims]), line.truth.id
            cuts, guesses = line.cascade_replay.cuts, line.cascade_replay.guesses
            for cut, guess in zip(cuts, guesses, strict=True):
                alike = line.of_kind(cut)
                assert alike
                assert all(cut.victim in line.unstable[victims] for victims in alike), line.truth.id
                assert guess.victim == cut.victim
                # Of the sets that a cut is about its guess is true, and of more.
                assert {*alike} <= {*line.of_kind(guess)}, line.truth.id
                taught += 1
                elsewhere += len(alike) > 1
    assert taught
    assert elsewhere


def test_guesses_find_as_much_with_few_sets_asked() -> None:
    """Of twelve in three priorities the lowest have to go: else who goes preempts one of them."""
    last = [running(f"w{i:02d}", "b", 1, i % 3, minute=i) for i in range(12)]
    quotas = queue("a", 4, "org", reclaim="Any"), queue("b", 8, "org", within="LowerPriority")
    # With two flavors nothing is known of all sets.
    parts = with_spare_flavor(chain(*quotas, *last, pending("a", 4, 100)))
    found: dict[bool, tuple[list[int], int]] = {}
    for guessing in (True, False):
        planning = start(state_of(parts), Given(PENDING))
        assert isinstance(planning, Planning)
        planning.set_objective(STABLE)
        search = prepare(planning, STABLE, Deadline(), planning.greedy_plan())
        search.incumbent = None  # Kueue's own plan is the best
        levels = ("unstable",), ("workloads",), ("priority_weight",)
        values = [minimise(search, level, guessing=guessing).value for level in levels]
        found[guessing] = values, len(planning.cascade_replay.asked)
    assert found[True][0] == found[False][0] == [0, 4, 8]
    assert found[True][1] * 3 < found[False][1]


def test_the_loan_goes_instead_of_the_workload_that_would_want_it() -> None:
    """``big`` and ``loan`` free 9 for the 6 asked for; nobody then reclaims anything."""
    state = state_of(*third_party())
    default = planner.solve(state, PENDING, stability=True)
    assert set(default.keys) == {"ns/small", "ns/big"}
    plan = planner.solve(state, PENDING, objective="stable")
    assert (plan.status, set(plan.keys)) == ("optimal", {"ns/big", "ns/loan"})
    assert plan.stability == ()
    assert (plan.terms["unstable"], default.terms["unstable"]) == (0, 1)
    assert plan.certificate is not None
    level = plan.certificate.levels[0]
    assert (level.term, level.value, level.bound) == ("unstable", 0, 0)
    assert plan.greedy is not None
    assert plan.greedy.terms["unstable"] == 1


def test_what_cannot_be_helped_is_minimised_and_proved() -> None:
    """The loan is out of reach: ``small`` and ``big`` are the only way."""
    plan = planner.solve(state_of(*third_party(priority=50)), PENDING, objective="stable")
    assert plan.status == "optimal"
    assert plan.certificate is not None
    assert (plan.certificate.levels[0].value, plan.certificate.levels[0].bound) == (1, 1)


def test_wishes_bind_first() -> None:
    """Without the loan there is no stable plan."""
    wishes = Wishes(budget={"queue/c": 0})
    profile = Profile("mine", "", STABLE.levels, wishes=wishes)
    plan = planner.solve(state_of(*third_party()), PENDING, objective=profile)
    assert (plan.status, set(plan.keys)) == ("optimal", {"ns/small", "ns/big"})
    assert plan.terms["unstable"] == 1


def test_a_front_of_evictions_and_stability() -> None:
    """Lost work against stability: the loan has run for less than ``small``, but is larger."""
    front = planner.front(state_of(*third_party()), PENDING, "unstable", "priority_weight")
    assert front.status == "optimal"
    points = [(point.plan.terms["unstable"], set(point.plan.keys)) for point in front.points]
    assert points == [(0, {"ns/big", "ns/loan"}), (1, {"ns/small", "ns/big"})]


def test_yunikorn_cannot_tell() -> None:
    state = planner.read(YUNIKORN)
    with pytest.raises(UnsupportedError) as caught:
        planner.solve(state, state.pending[0], objective="stable")
    told(caught.value)
