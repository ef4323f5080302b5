"""``--stable``: exactly the legal sets after which nobody preempts again, and why there is none."""

from copy import copy
from typing import Any

import pytest

import planner
from planner.models.kueue.laws import reasons
from planner.objective.profiles import PROFILES, Profile
from planner.objective.wishes import Wishes
from planner.plan import Certificate, Tree
from planner.plan.kueue import Plan
from planner.proof.claims import INFEASIBLE
from planner.quota.kueue.assignment import read_assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.solver.deadline import Deadline
from planner.solver.finder import find_any
from planner.solver.kueue.solve import prepare, settled
from planner.solver.kueue.stability import CASCADE, demanding_stability
from planner.solver.kueue.start import start
from planner.solver.start import Given
from tests import recorded
from tests.cluster import PENDING, pending, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.solver.ping_pong import asked as asked_in_the_dump
from tests.solver.ping_pong import edited
from tests.solver.test_stability import third_party
from tests.solver.test_stable import FILES, Asked, asked
from tests.solver.truth import Victims
from tests.told import told

EVERY = 2 if TEST_ALL else 50
MOST = 200 if TEST_ALL else 8
"""Stable sets of a line, each of which is found by a solve of its own."""
PLAIN = Profile("plain", "", (("workloads",), ("lost_work", "restart_cost")))


def stable_sets(line: Asked) -> set[Victims]:
    return {victims for victims, found in line.unstable.items() if not found}


def admitted(line: Asked) -> set[Victims] | None:
    """List all answers of the search, each found once and then cut off; None without a search."""
    planning = start(line.truth.state, Given(line.truth.pending, line.truth.given))
    profile = demanding_stability(PLAIN)
    planning.set_objective(profile)
    if settled(planning) is not None:
        return None
    search = prepare(planning, profile, Deadline(), planning.greedy_plan())
    search.incumbent = None
    found: set[Victims] = set()
    while find_any(search) == "optimal":
        keys = [planning.problem.workloads[i].key for i in search.classes.take(search.answer)]
        found.add(frozenset(keys))
        search.cut.append(search.answer)
        search.incumbent = None
    return found


def test_admits_exactly_the_sets_that_relapse_nowhere() -> None:
    compared = refused = 0
    lines = (one for name, fair in FILES for one in asked(name, fair=fair, every=EVERY))
    for line in lines:
        expected = stable_sets(line)
        found = admitted(line) if len(expected) <= MOST else None
        if found is None:
            continue
        assert found == expected, line.truth.id
        compared += 1
        refused += len(line.truth.legal) - len(expected)
    assert compared >= 20
    assert refused >= 20


def test_best_of_them_or_proved_that_there_is_none() -> None:
    impossible = 0
    lines = (one for name, fair in FILES for one in asked(name, fair=fair, every=EVERY))
    for line in lines:
        plan = planner.solve(
            line.truth.state, line.truth.pending, PLAIN, assignment=line.truth.given, stable=True
        )
        left = stable_sets(line)
        if not left:
            assert plan.status == "infeasible", line.truth.id
            assert "would preempt again" in plan.explanation
            # Enumeration found legal sets, and each of them unstable: so do trees, checked.
            assert plan.stable
            state, given = line.truth.state, line.truth.given
            found = planner.check(state, plan, PLAIN, assignment=given, stable=True)
            assert found.accepted, line.truth.id
            impossible += 1
            continue
        assert plan.status == "optimal", line.truth.id
        measured = copy(line.measured)
        measured.terms = {one: line.measured.terms[one] for one in left}
        assert plan.greedy is not None
        assert frozenset(plan.keys) == measured.canonical(PLAIN, plan.greedy), line.truth.id
        assert plan.stability == ()
        assert plan.terms["unstable"] == 0
    assert impossible


def denied(plan: Plan, tree: Tree) -> Plan:
    """Return a plan that says there is no stable one, with the tree of another claim as proof."""
    assert plan.certificate is not None
    names = INFEASIBLE, f"{INFEASIBLE}, unstable replayed"
    trees = [Tree(claim=name, steps=tree.steps) for name in names]
    certificate = Certificate(digest=plan.certificate.digest, levels=(), trees=tuple(trees))
    said = {"status": "infeasible", "stable": True, "certificate": certificate}
    nothing = dict.fromkeys(("victims", "tree", "nodes", "shares"), ())
    left_out: dict[str, object] = {"terms": {}, "borrowing": None, "stability": None}
    return plan.model_copy(update={**said, **nothing, **left_out})


def test_no_tree_denies_a_stable_plan_that_there_is() -> None:
    """Neither trees of other claims about the same sets, nor one that is true elsewhere."""
    none = planner.solve(state_of(*third_party(priority=50)), PENDING, stable=True)
    assert none.certificate is not None
    (elsewhere,) = none.certificate.trees
    forged = 0
    lines = (one for name, fair in FILES[:4:3] for one in asked(name, fair=fair, every=EVERY))
    for line in (one for one in lines if stable_sets(one)):
        state, given = line.truth.state, line.truth.given
        plan = planner.solve(state, line.truth.pending, PLAIN, assignment=given, stable=True)
        assert plan.certificate is not None
        for tree in (*plan.certificate.trees, elsewhere):
            said = denied(plan, tree)
            found = planner.check(state, said, PLAIN, assignment=given, stable=True)
            assert [claim.certified for claim in found.claims] == [False], line.truth.id
            forged += 1
    assert forged >= 20


def simulated(line: recorded.Line, victims: Victims, codes: dict[str, str]) -> dict[str, Any]:
    """Carry victims out in the dump itself, and ask Kueue's replay for each that is not going."""
    state = recorded.state_of(line)
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, line["pending"])
    assignment = read_assignment(recorded.assignment_of(line), preemptor)
    going = {key: codes[key] for key in victims}
    after = edited(line["state"], state, line["pending"], assignment, going)
    running = {one.key: one for group in snapshot.admitted.values() for one in group}
    return asked_in_the_dump(after, state.now, [k for k in victims if not running[k].evicted])


@pytest.mark.parametrize(("name", "fair"), FILES[:4:3])
def test_every_legal_set_equals_the_edited_dump(name: str, *, fair: bool) -> None:
    """Nothing of the product's own idea of after the plan: all legal sets of a few lines."""
    by_id = {line["id"]: line for line in recorded.lines(name)}
    sets = unstable = 0
    for line in asked(name, fair=fair, every=2 * EVERY):
        problem, *_ = line.truth.setting()
        codes = dict(zip([w.key for w in problem.workloads], reasons(problem), strict=True))
        for victims in line.truth.legal[:12]:
            found = simulated(by_id[line.truth.id], victims, codes)
            positions = {line.measured.position[key] for key in found}
            assert positions == line.unstable[victims], line.truth.id
            sets += 1
            unstable += bool(found)
    assert sets >= 10
    assert unstable


def test_none_is_explained_by_whom_and_by_which_policy() -> None:
    """With the loan out of reach ``small`` will be back; only the policy of ``b`` lets it."""
    state = state_of(*third_party(priority=50))
    plan = planner.solve(state, PENDING, stable=True)
    assert (plan.status, plan.victims, plan.stability) == ("infeasible", (), None)
    told(plan.explanation)
    assert planner.solve(
        state_of(*third_party(priority=50, reclaim="Never")), PENDING, stable=True
    ).victims


def test_no_plan_at_all_says_so_in_the_usual_words() -> None:
    state = state_of(queue("a", 1), running("w", "a", 1), pending("a", 1))
    plain = planner.solve(state, PENDING)
    plan = planner.solve(state, PENDING, stable=True)
    assert (plan.status, plan.explanation) == ("infeasible", plain.explanation)


def test_wishes_bind_beside_it() -> None:
    wishes = Wishes(budget={"queue/c": 0})
    profile = Profile("mine", "", PROFILES["stable"].levels, wishes=wishes)
    plan = planner.solve(state_of(*third_party()), PENDING, profile, stable=True)
    assert plan.status == "infeasible"
    told(plan.explanation)


def test_the_condition_is_a_level_once() -> None:
    for profile in PROFILES.values():
        demanded = demanding_stability(profile)
        assert demanded.levels.count(CASCADE) == 1
        assert demanded.wishes.most[CASCADE] == 0
