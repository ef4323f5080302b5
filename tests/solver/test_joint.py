"""Joint plans against the definition: all orders of serving, all sets, on small random states."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import count, islice

import pytest

import planner
from planner.commands.joint.kueue import solve as joint_solve
from planner.commands.joint.kueue.question import Question, ask
from planner.commands.joint.kueue.rules import JointRules
from planner.objective.profiles import PROFILES, Profile
from planner.plan.kueue import JointPlan
from planner.quota.kueue.snapshot import take_snapshot
from tests.brute_force import Gone
from tests.conftest import TEST_ALL
from tests.random_trees import random_waiting
from tests.solver.joint_truth import JointTruth, is_best
from tests.solver.truth import Terms, value_of
from tests.subsets import subsets

KINDS = [
    # waiting, fair, flavors, how many
    (2, False, 1, 6),
    (2, True, 1, 6),
    (3, False, 1, 3),
    (3, True, 1, 2),
    (2, False, 2, 4),
    (2, True, 2, 2),
]


def wanted(how_many: int) -> int:
    """Return how many states are asked about: half of a kind in ordinary runs."""
    return 20 * how_many if TEST_ALL else (how_many + 3) // 4


def telling(waiting: int, *, fair: bool, flavors: int) -> Iterator[JointTruth]:
    """Yield what is kept for all tests: to look at every order is most of the work."""
    found, rest = kept(waiting, fair, flavors)
    for number in count():
        if number == len(found):
            found.append(next(rest))
        yield found[number]


@cache
def kept(
    waiting: int,
    fair: bool,  # noqa: FBT001 - arguments of a cache
    flavors: int,
) -> tuple[list[JointTruth], Iterator[JointTruth]]:
    """Return the random states that were looked at by now, and those that come after them."""
    return [], drawn(waiting, fair=fair, flavors=flavors)


def drawn(waiting: int, *, fair: bool, flavors: int) -> Iterator[JointTruth]:
    """Yield random states in which more than one is admitted, or somebody must go for one."""
    for seed in count():
        chance = random.Random(seed)  # noqa: S311 - test data
        truth = JointTruth(random_waiting(chance.randint, waiting, fair=fair, flavors=flavors))
        best = truth.admitted()
        must_go = best and frozenset() not in truth.sets()[best]
        if truth.complete and must_go and (len(best) > 1 or seed % 3 == 0):
            yield truth


def asked(truth: JointTruth) -> Question:
    """Return the question of a joint plan for all that is pending."""
    return ask(truth.state, take_snapshot(truth.state), truth.pending)


class Values:
    """The values of all levels of a victim set, and of the number of names."""

    def __init__(self, question: Question, admitted: frozenset[str], profile: Profile) -> None:
        counted = [e for e, p in enumerate(question.preemptors) if p.key in admitted]
        self.table = question.table(counted)
        self.place = {w.key: i for i, w in enumerate(question.forest.workloads)}
        self.profile = profile

    def terms(self, gone: Gone) -> Terms:
        """Return the terms of a set."""
        return self.table.evaluate([self.place[key] for key in gone])

    def of(self, gone: Gone) -> list[int]:
        """Return the values of a set, level by level."""
        terms = self.terms(gone)
        return [*(value_of(terms, level) for level in self.profile.levels), len(gone)]

    def capped(self, gone: Gone) -> list[int]:
        """Return the values of a set in what the profile caps."""
        terms = self.terms(gone)
        return [value_of(terms, cap) for cap in self.profile.caps]


@pytest.mark.parametrize(("waiting", "fair", "flavors", "how_many"), KINDS)
def test_admitted_and_every_level_equal_brute_force(
    waiting: int, how_many: int, flavors: int, *, fair: bool
) -> None:
    for truth in islice(telling(waiting, fair=fair, flavors=flavors), wanted(how_many)):
        best = truth.admitted()
        sets = truth.sets()[best]
        for name in ("least-disruption", "min-lost-work"):
            plan = planner.solve_joint(truth.state, truth.pending, name)
            values = Values(asked(truth), best, PROFILES[name])
            gone = gone_in(plan)
            assert is_best(plan)
            # With one flavor the model says all there is to say: no step of it is refused.
            assert flavors > 1 or plan.certificate.cut_off == 0
            assert frozenset(plan.admitted) == best
            assert gone in truth.reached[plan.admitted]
            assert values.of(gone) == min(map(values.of, sets))
            levels = [level.value for level in plan.certificate.levels]
            assert levels == values.of(gone)
            assert [level.claimed or 0 for level in plan.certificate.levels] == levels


@pytest.mark.parametrize(("waiting", "fair", "flavors", "how_many"), KINDS)
def test_caps_hold_where_one_by_one_admits_the_same(
    waiting: int, how_many: int, flavors: int, *, fair: bool
) -> None:
    """no-regret: the best of what keeps to the values of serving one by one."""
    profile = PROFILES["no-regret"]
    compared = 0
    for number, truth in enumerate(telling(waiting, fair=fair, flavors=flavors)):
        if number >= wanted(how_many) and compared:
            break
        best, sets = truth.admitted(), truth.sets()[truth.admitted()]
        plan = planner.solve_joint(truth.state, truth.pending)
        values = Values(asked(truth), best, profile)
        greedy = frozenset(plan.greedy.victims)
        if {one.workload for one in plan.pending if one.greedy} == best and greedy in sets:
            compared += 1
            most = values.capped(greedy)
            sets = {gone for gone in sets if all(map(int.__le__, values.capped(gone), most))}
        assert is_best(plan)
        assert values.of(gone_in(plan)) == min(map(values.of, sets))


@pytest.mark.parametrize(("waiting", "fair", "flavors", "how_many"), KINDS)
def test_in_order_of_precedence_the_best_of_that_order_is_found(
    waiting: int, how_many: int, flavors: int, monkeypatch: pytest.MonkeyPatch, *, fair: bool
) -> None:
    monkeypatch.setattr(joint_solve, "ORDERS", 1)
    profile = PROFILES["least-disruption"]
    for truth in islice(telling(waiting, fair=fair, flavors=flavors), wanted(how_many)):
        plan = planner.solve_joint(truth.state, truth.pending, profile)
        admitted = frozenset(plan.admitted)
        values = Values(asked(truth), admitted, profile)
        ordered = truth.sets(in_order=True)
        best = max(ordered, key=lambda who: [key in who for key in truth.pending])
        assert admitted == best
        assert values.of(gone_in(plan)) == min(map(values.of, ordered[best]))
        # In another order less may do, if it is not 0.
        assert {level.claimed for level in plan.certificate.levels} <= {None}
        if is_best(plan):
            assert not any(values.of(gone_in(plan)))
            assert best == truth.admitted()


@pytest.mark.parametrize(
    ("waiting", "fair", "flavors"), [kind[:3] for kind in KINDS if kind[0] == 2 or TEST_ALL]
)
def test_what_may_go_equals_brute_force_set_by_set(
    waiting: int, flavors: int, *, fair: bool
) -> None:
    """For everyone admitted: exactly the sets that some order, or that of precedence, permits."""
    for truth in islice(telling(waiting, fair=fair, flavors=flavors), 5 if TEST_ALL else 1):
        question = asked(truth)
        for in_order in (False, True):
            rules = JointRules(question, question.table(), in_order=in_order)
            expected = truth.sets(in_order=in_order)
            for admitted in subsets(range(waiting)):
                rules.admit = frozenset(admitted)
                rules.refuse = frozenset(range(waiting)) - rules.admit
                who = frozenset(question.preemptors[e].key for e in admitted)
                assert sets_of(rules) == expected.get(who, set())


def gone_in(plan: JointPlan) -> Gone:
    """Return the victims of all steps."""
    return frozenset(victim.workload for victim in plan.victims)


def sets_of(rules: JointRules) -> set[Gone]:
    """Return every victim set that some steps have."""
    keys = [workload.key for workload in rules.question.forest.workloads]
    return {
        frozenset(keys[i] for i in chosen)
        for chosen in subsets(range(len(keys)))
        if rules.steps(chosen) is not None
    }
