"""unstable and proofs: no inequality bounds it, so trees ask the scheduler about single sets.

Where a state is too large for that, it binds the search for trees, and
nothing is proved of it.
"""

from typing import Any

import pytest

import planner
from planner.objective.profiles import PROFILES, Measure, Profile
from planner.objective.wishes import Wishes
from planner.plan import Level, Tree
from planner.plan.kueue import Plan
from planner.plan.proof import ByRows, CountSplit, Step
from planner.proof import claims as claims_of_plans
from planner.proof.question import Question
from planner.solver import levels
from planner.solver.answer import NO_CAPS
from planner.solver.deadline import Deadline
from planner.solver.finder import Least
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import prepare, settling_of
from planner.solver.kueue.start import start
from planner.solver.levels import BRIEF, Proved
from planner.solver.proving.grow import Effort, Grown, grow
from planner.solver.search import Search
from planner.solver.start import Given
from planner.state.kueue import State
from tests.cluster import PENDING, pending, queue, running, state_of
from tests.solver.test_stability import third_party

STABLE = PROFILES["stable"]
UNSTABLE_BEST = {"ns/small", "ns/big"}
"""The best of ``third_party`` by all else, after which ``small`` would preempt the loan."""
STABLE_BEST = {"ns/big", "ns/loan"}
D11 = ("unstable",)


def levels_of(plan: Plan) -> dict[str, Level]:
    assert plan.certificate is not None
    return {level.term: level for level in plan.certificate.levels}


def claims_the_best(
    search: Search, measure: Measure, effort: float, *, guessing: bool = False
) -> Least:
    """Claim that nothing is better than what is known."""
    del effort, guessing
    value = search.value(measure, search.answer)
    return Least("optimal", value, value)


def settled(profile: Profile, names: set[str]) -> tuple[Proved, set[str]]:
    """Settle some victims as the answer, of which the solver claims each level to be optimal."""
    planning = start(state_of(*third_party()), Given(PENDING))
    assert isinstance(planning, Planning)
    planning.set_objective(profile)
    greedy = planning.greedy_plan()
    search = prepare(planning, profile, Deadline(), greedy)
    place = {w.key: i for i, w in enumerate(planning.problem.workloads)}
    search.incumbent = search.classes.counts([place[name] for name in names])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "minimise", claims_the_best)
        proved = settling_of(planning, profile, search, NO_CAPS).settle()
    assert proved.victims is not None
    return proved, {planning.problem.workloads[i].key for i in proved.victims}


@pytest.fixture(params=["certified", None], ids=["asked", "too large"])
def proof(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Give what unstable is proved by, where trees may ask the scheduler and where they may not."""
    found: str | None = request.param
    if found is None:
        monkeypatch.setattr(claims_of_plans, "MOST_ASKED", 0)
    return found


def status_of(proof: str | None) -> str:
    return "optimal" if proof else "feasible"


def test_a_set_that_breaks_d11_is_never_better(proof: str | None) -> None:
    """On all levels below, the unstable set is as good or better; but it is unstable."""
    profile = Profile("mine", "", (D11, ("priority_weight",)))
    proved, names = settled(profile, STABLE_BEST)
    assert names == STABLE_BEST
    assert proved.corrected == 0
    proofs = {level.term: level.proof for level in proved.levels}
    assert proofs["unstable"] == "certified"  # nothing is below 0
    assert proofs["priority_weight"] == proof  # a tree has to deny the unstable set
    assert proved.outcome == status_of(proof)


def test_trees_ask_the_scheduler_where_others_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def finding_nothing(question: Question, *given: Any) -> Grown:
        return grow(question, *given) if question.limits else Grown()

    monkeypatch.setattr(levels, "grow", finding_nothing)
    profile = Profile("mine", "", (D11, ("priority_weight",)))
    proved, names = settled(profile, STABLE_BEST)
    assert names == STABLE_BEST
    assert proved.outcome == "optimal"
    assert all("replayed" in tree.claim for tree in proved.trees)


def test_once_such_a_set_was_better_trees_that_do_not_ask_are_brief(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    efforts: list[Effort] = []

    def proving_nothing(question: Question, until: Deadline, effort: Effort, *given: Any) -> Grown:
        grown = grow(question, until, effort, *given)
        if question.limits:
            return grown
        efforts.append(effort)
        return grown._replace(steps=None)

    monkeypatch.setattr(levels, "grow", proving_nothing)
    profile = Profile("mine", "", (D11, ("priority_weight",), ("queues",)))
    proved, _ = settled(profile, STABLE_BEST)
    assert all(level.proof for level in proved.levels)
    of_first, *of_others = efforts
    assert of_first.steps > BRIEF.steps
    assert {effort.steps for effort in of_others} == {BRIEF.steps}


def test_without_d11_that_set_is_better() -> None:
    proved, names = settled(Profile("mine", "", (("priority_weight",),)), STABLE_BEST)
    assert (names, proved.corrected) == (UNSTABLE_BEST, 1)


def test_where_d11_comes_later_that_set_is_better() -> None:
    profile = Profile("mine", "", (("priority_weight",), D11))
    proved, names = settled(profile, STABLE_BEST)
    assert names == UNSTABLE_BEST
    assert proved.corrected == 0  # what is guessed is no claim
    values = {level.term: (level.value, level.proof) for level in proved.levels}
    assert values["priority_weight"] == (4, "certified")
    assert values["unstable"][0] == 1


def test_what_has_more_of_it_than_needed_is_replaced() -> None:
    """The unstable set seems best: trees find a better one, and correct no claim."""
    profile = Profile("mine", "", (D11, ("priority_weight",)))
    proved, names = settled(profile, UNSTABLE_BEST)
    assert (names, proved.corrected) == (STABLE_BEST, 0)
    assert proved.levels[0].value == 0


@pytest.mark.parametrize("name", ["stable", "rated"])
def test_levels_of_a_stable_plan_say_what_they_rest_on(name: str, proof: str | None) -> None:
    rated = Profile(
        "rated", "", (("rated",), ("priority_weight",)), rates={"unstable": 5, "workloads": 1}
    )
    state = state_of(*third_party())
    objective = STABLE if name == "stable" else rated
    plan = planner.solve(state, PENDING, objective=objective)
    assert planner.check(state, plan, objective).accepted
    assert (plan.status, set(plan.keys)) == (status_of(proof), STABLE_BEST)
    found = levels_of(plan)
    assert found["unstable" if name == "stable" else "rated"].proof == (
        "certified" if name == "stable" else proof
    )


def test_rated_by_d11_alone(proof: str | None) -> None:
    profile = Profile("rated", "", (("rated",), ("priority_weight",)), rates={"unstable": 5})
    plan = planner.solve(state_of(*third_party(priority=50)), PENDING, objective=profile)
    assert (plan.status, set(plan.keys)) == (status_of(proof), UNSTABLE_BEST)
    level = levels_of(plan)["rated"]
    assert (level.value, level.proof) == (5, proof)


def test_more_than_0_takes_the_scheduler(proof: str | None) -> None:
    """The loan is out of reach: one victim would preempt again."""
    state = state_of(*third_party(priority=50))
    plan = planner.solve(state, PENDING, objective=STABLE)
    level = levels_of(plan)["unstable"]
    assert (plan.status, level.value, level.proof) == (status_of(proof), 1, proof)
    assert planner.check(state, plan).accepted
    assert plan.certificate is not None
    # That the trees of other claims ask the scheduler does not show this one.
    if proof is None:
        return
    trees = [tree for tree in plan.certificate.trees if not tree.claim.startswith("unstable")]
    certificate = plan.certificate.model_copy(update={"trees": tuple(trees)})
    forged = plan.model_copy(update={"certificate": certificate})
    assert not planner.check(state, forged).accepted


def test_no_stable_plan_is_proved_by_the_scheduler(proof: str | None) -> None:
    state = state_of(*third_party(priority=50))
    plan = planner.solve(state, PENDING, stable=True)
    assert plan.status == ("infeasible" if proof else "unknown")
    assert plan.certificate is not None
    claims = [tree.claim for tree in plan.certificate.trees]
    assert claims == (["infeasible, unstable replayed"] if proof == "certified" else [])
    found = planner.check(state, plan, stable=True)
    assert found.accepted
    titles = [claim.title for claim in found.claims]
    none = "no legal victim set exists after which no victim would preempt again"
    assert titles == ([none] if proof else [])
    # There are plans: only where a stable one is demanded there is none.
    assert plan.stable
    other = planner.check(state, plan.model_copy(update={"stable": False}), stable=True)
    assert not other.accepted or not proof


def test_what_was_demanded_is_said_and_not_inferred() -> None:
    """The best plan has a victim that would preempt again; the best of the stable ones costs more.

    Neither passes for the other.
    """
    state = state_of(*third_party())
    best, steady = planner.solve(state, PENDING), planner.solve(state, PENDING, stable=True)
    assert (set(best.keys), best.stable) == (UNSTABLE_BEST, False)
    assert (set(steady.keys), steady.stable) == (STABLE_BEST, True)
    for plan in (best, steady):
        assert planner.check(state, plan, stable=plan.stable).accepted
        other = plan.model_copy(update={"stable": not plan.stable})
        for stable in (False, True):
            assert not planner.check(state, plan, stable=not plan.stable).accepted
            assert not planner.check(state, other, stable=stable).accepted


def test_the_demand_binds_beside_the_level() -> None:
    """The objective has ``unstable`` as a level already: it is judged once, and bound besides."""
    state = state_of(*third_party())
    plan = planner.solve(state, PENDING, objective=STABLE, stable=True)
    assert (set(plan.keys), plan.terms["unstable"]) == (STABLE_BEST, 0)
    assert planner.check(state, plan, stable=True).accepted
    state = state_of(*third_party(priority=50))
    plan = planner.solve(state, PENDING, objective=STABLE, stable=True)
    assert (plan.status, plan.stable) == ("infeasible", True)
    assert planner.check(state, plan, stable=True).accepted


def test_what_is_true_of_all_plans_is_said_of_all() -> None:
    """The best of all is stable, or there is no plan at all: that is more than was demanded."""
    for within in ("LowerPriority", "Never"):
        parts = queue("a", 1, within=within), running("w", "a", 1), pending("a", 1, 100)
        state = state_of(*parts)
        plan = planner.solve(state, PENDING, stable=True)
        assert plan.status == ("infeasible" if within == "Never" else "optimal")
        assert not plan.stable
        assert planner.check(state, plan, stable=True).accepted


def test_the_demand_is_kept_where_the_search_errs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search claims the first stable set it meets for the best; trees find no unstable one."""
    state = state_of(*third_party(), running("more", "c", 1, minute=4))

    def first_met(
        search: Search, measure: Measure, effort: float, *, guessing: bool = False
    ) -> Least:
        place = {w.key: i for i, w in enumerate(planned.problem.workloads)}
        chosen = [place[name] for name in ("ns/big", "ns/loan", "ns/more")]
        search.incumbent = search.classes.counts(chosen)
        return claims_the_best(search, measure, effort, guessing=guessing)

    planned = start(state, Given(PENDING))
    assert isinstance(planned, Planning)
    profile = Profile("mine", "", (D11, ("workloads",), ("priority_weight",)))
    expected = planner.solve(state, PENDING, objective=profile)
    monkeypatch.setattr(levels, "minimise", first_met)
    plan = planner.solve(state, PENDING, objective=profile)
    assert plan.terms["unstable"] == expected.terms["unstable"] == 0
    assert plan.terms["workloads"] <= expected.terms["workloads"] or plan.status != "optimal"


def test_equal_workloads_are_not_alike_to_d11() -> None:
    """Either would do for the queues; only the older one would preempt again, its peer."""
    state = state_of(
        queue("a", 2, "org", reclaim="Any"),
        queue("b", 0, "org", within="LowerOrNewerEqualPriority", borrow="LowerPriority"),
        queue("c", 2, "org"),
        running("peer", "b", 2, created=20, minute=20),
        running("old", "b", 2, created=1, minute=20),
        pending("a", 2),
    )
    plan = planner.solve(state, PENDING, objective=STABLE)
    assert (plan.status, plan.keys, plan.terms["unstable"]) == ("optimal", ("ns/peer",), 0)


def test_a_cap_loosens_no_wish() -> None:
    """Kueue's own plan has 1 of ``unstable``, and the wish permits none."""
    profile = Profile("mine", "", (("workloads",),), (D11,), Wishes(most={D11: 0}))
    plan = planner.solve(state_of(*third_party()), PENDING, profile)
    assert (plan.status, set(plan.keys), plan.terms["unstable"]) == ("optimal", STABLE_BEST, 0)
    assert plan.certificate is not None
    assert [(cap.term, cap.most) for cap in plan.certificate.caps] == [("unstable", 1)]


ROOM = "gpu in flavor default at queue/a"
SPARE = f"{ROOM} to spare"
FEWEST = Profile("mine", "", (D11, ("workloads",)))


def one_queue() -> State:
    """Both of 1, or the one of 2, make room; that one would then preempt both, if it may."""
    low = (running(name, "a", 1, minute=2) for name in ("one", "two"))
    parts = queue("a", 4, within="LowerPriority"), *low, running("mid", "a", 2, 1), pending("a", 2)
    return state_of(*parts)


def by_hand(plan: Plan, *leaves: dict[str, int]) -> Plan:
    """Return a plan whose tree of `workloads` splits by ``mid``, and closes parts by some rows."""
    assert plan.certificate is not None
    steps: list[Step] = [CountSplit(of=(2,), most=0), *(ByRows(rows=rows) for rows in leaves)]
    tree = Tree(claim="workloads, unstable replayed", steps=tuple(steps))
    others = [one for one in plan.certificate.trees if not one.claim.startswith("workloads")]
    update = {"trees": (*others, tree)}
    return plan.model_copy(update={"certificate": plan.certificate.model_copy(update=update)})


def test_who_is_certain_to_preempt_again_asks_for_room() -> None:
    """Where ``mid`` goes, all have to hold 4: the 2 that are pending and the 2 that it asks for."""
    state = one_queue()
    plan = planner.solve(state, PENDING, objective=FEWEST)
    assert (plan.status, set(plan.keys)) == ("optimal", {"ns/one", "ns/two"})
    stays, goes = {ROOM: 1, "better": 1}, {SPARE: 1, "better": 2}
    assert planner.check(state, by_hand(plan, stays, goes), FEWEST).accepted
    # Where it is not certain to go nothing is known, and less room than that closes nothing.
    for leaves in ((goes, goes), ({SPARE: 1}, goes), (stays, {ROOM: 1, "better": 2})):
        assert not planner.check(state, by_hand(plan, *leaves), FEWEST).accepted


def test_who_may_not_preempt_is_not_certain_to() -> None:
    """Where ``mid`` may not preempt it is the answer alone, and the tree shows nothing."""
    state = one_queue()
    plan = by_hand(
        planner.solve(state, PENDING, objective=FEWEST),
        {ROOM: 1, "better": 1},
        {SPARE: 1, "better": 2},
    )
    other = state_of(
        queue("a", 4, "org", within="Never", reclaim="Any"),
        queue("b", 0, "org", within="LowerPriority"),
        *(running(name, "b", 1, minute=2) for name in ("one", "two")),
        running("mid", "b", 2, 1),
        pending("a", 2),
    )
    assert planner.solve(other, PENDING, objective=FEWEST).terms["workloads"] == 1
    assert not planner.check(other, plan, FEWEST).accepted
