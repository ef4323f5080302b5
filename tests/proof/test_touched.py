"""Splits by whether a queue or a namespace is touched: what they rest on, and what they close."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from pydantic import TypeAdapter

import planner
from planner.objective.profiles import Measure, Profile, measure_name
from planner.plan.kueue import Plan
from planner.plan.proof import ByRows, CaseSplit, Narrowing, Step, WholeSplit
from planner.proof.box import Row
from planner.proof.claims import Claims, Stated
from planner.proof.kueue import KueueRules
from planner.proof.question import Open, Question
from planner.quota.kueue.holders import Admitted
from planner.reader.kueue import read_kueue_objects
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, start
from planner.state.kueue import State
from tests.cluster import PENDING, Object, pending, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.oracle.random_states import NOW, RandomState
from tests.oracle.random_states import PENDING as ASKED
from tests.proof.mutation import Json, plain, with_another_tree
from tests.proof.recheck import points
from tests.solver.test_quota_tree import scattered

STATES = 300 if TEST_ALL else 14
MUTANTS = 12
TENANTS = ("red", "blue", "green")
LEVELS: tuple[Measure, ...] = (("namespaces",), ("queues",), ("workloads",), ("excess_freed",))
STEP: TypeAdapter[Step] = TypeAdapter(Step)


def tenants(each: int) -> list[list[Object]]:
    """Return so many workloads of one GPU of each of three tenants, in one queue."""
    found = []
    for tenant in TENANTS:
        for n in range(each):
            (item,) = running(f"{tenant}-{n}", "q", 1, minute=n)
            item["metadata"]["namespace"] = tenant
            found.append([item])
    return found


def costs_of(each: int) -> dict[str, int]:
    """Return costs with which two of each tenant are cheap, and the others of green cheapest."""
    dear = {"red": 30, "blue": 40, "green": 20}
    return {f"{t}/{t}-{n}": 1 if n < 2 else dear[t] + n for t in TENANTS for n in range(each)}


def one_tenant() -> State:
    """Return a state in which four GPUs are missing, and each of three tenants has six."""
    others = queue("q", 18, within="LowerPriority")
    return state_of(others, *tenants(6), pending("q", 4, 10))


def swapped(plan: Plan, claim: str, old: Step, new: Step) -> Plan:
    """Return a plan with another step in the place of one, in the tree of a claim."""
    assert plan.certificate is not None
    trees = [
        tree.model_copy(update={"steps": tuple(new if s is old else s for s in tree.steps)})
        if tree.claim == claim
        else tree
        for tree in plan.certificate.trees
    ]
    certificate = plan.certificate.model_copy(update={"trees": tuple(trees)})
    return plan.model_copy(update={"certificate": certificate})


@pytest.mark.parametrize("term", ["namespaces", "queues"])
def test_who_goes_besides_is_of_the_tenant_that_is_touched(
    term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The six that are cheap are of three tenants; of one tenant two are cheap and two are not.

    With one row for all of a tenant a third of each is what the rows allow.
    """
    monkeypatch.setattr("planner.solver.proving.grow.WITHOUT_PROGRAM", 0)
    monkeypatch.setattr("planner.solver.proving.grow.SOME", 0)
    monkeypatch.setattr("planner.proof.measures.SINGLE_ROWS", 1)
    state, costs = one_tenant(), costs_of(6)
    profile = Profile("mine", "", (("namespaces",), ("excess_freed",), ("cost",)))
    if term == "queues":
        state, profile = (
            three_queues(),
            Profile("mine", "", (("queues",), ("excess_freed",), ("cost",))),
        )
        costs = {f"ns/{key.partition('/')[2]}": cost for key, cost in costs.items()}
    plan = planner.solve(state, PENDING, profile, costs, certify=True)
    assert [key.partition("/")[2] for key in sorted(plan.keys)] == [f"green-{n}" for n in range(4)]
    assert plan.certificate is not None
    assert {level.proof for level in plan.certificate.levels} == {"certified"}
    assert planner.check(state, plan, profile, costs=costs).accepted
    (tree,) = [tree for tree in plan.certificate.trees if tree.claim == "cost"]
    kind = WholeSplit if term == "namespaces" else CaseSplit
    first = next(step for step in tree.steps if isinstance(step, kind))
    forged: list[Step] = [
        WholeSplit(whole="over-freed 0", most=0),
        WholeSplit(whole="touched namespace/none", most=0),
        WholeSplit(whole="touched namespace/green", most=1),
        CaseSplit(split="below", at="queue/none"),
    ]
    for other in forged:
        changed = swapped(plan, "cost", first, other)
        assert not planner.check(state, changed, profile, costs=costs).accepted, other


def three_queues() -> State:
    """Return the same with a queue in the place of each tenant."""
    own = [queue("q", 4, "all", within="LowerPriority", reclaim="Any")]
    parts = [part for t in TENANTS for part in [queue(t, 0, "all")]]
    jobs = [running(f"{t}-{n}", t, 1, minute=n) for t in TENANTS for n in range(6)]
    spare = queue("lends", 14, "all")
    return state_of(*own, *parts, spare, *jobs, pending("q", 4, 10))


def asked(state: RandomState) -> tuple[State, Plan] | None:
    """Return a state of several namespaces as it is read, and its plan, if somebody goes."""
    read = read_kueue_objects(state.objects, where=f"seed {state.seed}", now=NOW)
    plan = planner.solve(read, ASKED, Profile("mine", "", LEVELS), assignment=state.assignment)
    return (read, plan) if plan.keys and plan.certificate is not None else None


def claims_of(state: RandomState, read: State) -> Claims:
    planning = start(read, Given(ASKED, state.assignment))
    assert isinstance(planning, Planning)
    return planning.claims(planning.set_objective(Profile("mine", "", LEVELS)), ())


def questions(claims: Claims, plan: Plan, *, beyond: int = 0) -> Iterator[tuple[str, Question]]:
    """Yield the question of each level; ``beyond`` asks for more than there is, which is false."""
    earlier: list[Stated] = []
    for level in plan.certificate.levels if plan.certificate else ():
        measure = next((one for one in LEVELS if measure_name(one) == level.term), None)
        if measure is None:
            return
        yield level.term, claims.level(earlier, measure, level.value + beyond)
        earlier.append(Stated(measure, level.value, level.proof == "certified"))


def left_side(row: Row, counts: tuple[int, ...], touched: dict[str, int]) -> int:
    pairs = zip(row.classes.tolist(), row.amounts.tolist(), strict=True)
    of_classes: int = sum(int(amount) * counts[k] for k, amount in pairs)
    return of_classes + sum(c * touched[name] for name, c in row.extra.items())


def first_members(question: Question) -> Sequence[Admitted]:
    assert isinstance(question.rules, KueueRules)
    return question.rules.first


def owners(question: Question) -> dict[str, tuple[str, object]]:
    """Return whose quantity each is: the term, and the namespace or the queue, one each."""
    first, found = first_members(question), dict[str, tuple[str, object]]()
    for term, of in question.touched(question.root).items():
        for name, classes in of.items():
            (owner,) = {owner_of(term, first[k]) for k in classes.tolist()}
            found[name] = term, owner
    assert len({*found.values()}) == len(found)
    return found


def owner_of(term: str, one: Any) -> object:
    return one.key.partition("/")[0] if term == "namespaces" else one.queue


def test_touched_or_not_satisfies_the_rows() -> None:
    """Any set, with 1 for who is touched and 0 for who is not, breaks no row but true bounds."""
    looked = Counter[bool]()
    for seed in range(STATES):
        state = scattered(seed)
        found = asked(state)
        if found is None:
            continue
        claims = claims_of(state, found[0])
        for _, question in questions(claims, found[1], beyond=1):
            root, first = question.root, first_members(question)
            owner_by, ranges = owners(question), question.ranges(root)
            rows = [
                (name, row)
                for name, row in question.rows(root).items()
                if row.extra and row.extra.keys() <= owner_by.keys()
            ]
            assert all(ranges[name] == (0, 1) for name in owner_by)
            for counts in islice(points(root), 200):
                gone = [first[k] for k, n in enumerate(counts) if n and not first[k].evicted]
                hit = {
                    (term, owner_of(term, one)) for one in gone for term in ("namespaces", "queues")
                }
                touched = {name: int(owner in hit) for name, owner in owner_by.items()}
                for name, row in rows:
                    holds = left_side(row, counts, touched) >= row.least
                    if " by " in name:
                        assert holds, (seed, name, counts)
                    else:  # a bound, which says how many there may be
                        terms = {owner_by[each][0] for each in row.extra}
                        number = sum(term in terms for term, _ in hit)
                        assert holds == (number <= -row.least), (seed, name, counts)
                    looked[" by " in name] += 1
    assert min(looked[True], looked[False]) > 1000


def test_of_whom_somebody_goes_for_certain_is_touched() -> None:
    """In a box that requires victims their queues and namespaces count in full, no others do."""
    looked = Counter[bool]()
    for seed in range(STATES):
        state = scattered(seed)
        found = asked(state)
        for _, question in questions(claims_of(state, found[0]), found[1]) if found else ():
            root, first = question.root, first_members(question)
            owner_by = owners(question)
            for counts in islice(points(root), 50):
                least = np.array(counts, dtype=np.int64)
                ranges = question.ranges(replace(root, least=least))
                gone = [first[k] for k, n in enumerate(counts) if n and not first[k].evicted]
                hit = {
                    (term, owner_of(term, one)) for one in gone for term in ("namespaces", "queues")
                }
                for name, owner in owner_by.items():
                    assert ranges[name] == ((1, 1) if owner in hit else (0, 1)), (seed, name)
                    looked[owner in hit] += 1
    assert min(looked[True], looked[False]) > 1000


def test_no_other_quantity_is_split() -> None:
    """Nothing says that what is over-freed, for one, is whole."""
    others = 0
    for seed in range(STATES // 2):
        state = scattered(seed)
        found = asked(state)
        for _, question in questions(claims_of(state, found[0]), found[1]) if found else ():
            root, own = question.root, owners(question)
            named = {name for row in question.rows(root).values() for name in row.extra}
            for name in named:
                split = WholeSplit(whole=name, most=0)
                if name in own or name in question.rules.whole:  # as which victim is the last
                    assert len(question.parts(root, split)) == 2
                    continue
                others += 1
                with pytest.raises(ValueError, match="is no quantity that is whole"):
                    question.parts(root, split)
    assert others > 2


def steps_of(plan: Json) -> dict[str, list[Step]]:
    """Return the steps of each tree of a plan that is printed."""
    return {
        tree["claim"]: [STEP.validate_python(step) for step in tree["steps"]]
        for tree in plan["certificate"]["trees"]
    }


def names_sums(steps: list[Step]) -> bool:
    """Say whether a tree names rows by number: behind a further split these are others."""
    weighed = [step.rows for step in steps if isinstance(step, ByRows)]
    weighed += [step.narrow for step in steps if isinstance(step, Narrowing)]
    return any(name.startswith("sum ") for rows in weighed for name in rows)


def is_shown(question: Question, steps: list[Step]) -> bool:
    try:
        question.check(steps)
    except Open:
        return False
    return True


def test_a_false_claim_has_no_tree() -> None:
    """Of one more than the least there is a set: no change of a tree shows that there is none.

    A tree with a further split before it, and twice what follows, shows what it did.
    """
    tried = Counter[str]()
    for seed in range(STATES):
        state, chance = scattered(seed), random.Random(f"touched/{seed}")  # noqa: S311 - a test
        found = asked(state)
        if found is None:
            continue
        claims, own = claims_of(state, found[0]), plain(found[1])
        true = dict(questions(claims, found[1]))
        false = dict(questions(claims, found[1], beyond=1))
        for claim, steps in steps_of(own).items():
            if claim not in true or names_sums(steps):
                continue
            of = true[claim].touched(true[claim].root)
            for name in (name for names in of.values() for name in names):
                split = WholeSplit(whole=name, most=0)
                assert is_shown(true[claim], [split, *steps, *steps]), (seed, claim, name)
                assert not is_shown(true[claim], [split, *steps]), (seed, claim, name)
                assert not is_shown(false[claim], [split, *steps, *steps]), (seed, claim, name)
                tried["split"] += 1
            assert not is_shown(false[claim], steps), (seed, claim)
        for _ in range(MUTANTS):
            mutant = with_another_tree(chance, own)
            try:
                changed = {} if mutant is None else steps_of(mutant)
            except ValueError:
                continue
            for claim in changed.keys() & false.keys():
                assert not is_shown(false[claim], changed[claim]), (seed, claim)
                tried["mutant"] += 1
    assert min(tried["split"], tried["mutant"]) > 4 * STATES
