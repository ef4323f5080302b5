"""Whatever is changed in a plan, its trees or its state: it is refused, or it is still true.

What is true is found by enumeration, with code that shares nothing with the product, and what a
tree shows by looking at every set of its boxes. Other legal sets are refused whatever trees they
come with. ``PLANNER_MUTANTS=N`` tries N random states.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

import pytest
from pydantic import ValidationError

import planner
from planner.errors import InputError, InternalError, SchemaError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import Measure, measure_name, with_names
from planner.plan import Cap, Conclusion, Level
from planner.plan.kueue import Plan
from planner.reader.kueue import read_kueue_objects
from planner.solver.kueue.start import start
from planner.solver.start import Given
from planner.state.kueue import State
from tests import kueue_state
from tests import recorded as lines_of
from tests.conftest import QUICKSTART, TEST_ALL
from tests.oracle.cluster import UnsupportedError
from tests.oracle.random_states import NOW, PENDING, RandomState, random_state
from tests.proof.mutation import (
    Json,
    plain,
    with_another_number,
    with_another_state,
    with_another_tree,
)
from tests.proof.recheck import Walked, faults, recorded
from tests.random_trees import PREEMPTOR, Instance, random_instance
from tests.solver.oracle_difference import answer, compare, enumerated

STATES = int(os.environ.get("PLANNER_MUTANTS") or (400 if TEST_ALL else 5))
RECORDED = ("small-classical-hier", "small-fair-hier", "small-classical-flat", "small-fair-flat")
LINES = 40 if TEST_ALL else 2
SEEDS = 200 if TEST_ALL else 8
MUTANTS = {"random": 12}
"""How many of a kind there are for each plan; of other sources it is ``FEWER``."""
FEWER = 40 if TEST_ALL else 5
OTHERS = 6
"""Legal sets that are tried beside a plan, at most."""
OBJECTIVES = ("no-regret", "min-count", "fewest-tenants", "exact-fit", "fair", "weighted")
OBJECTIVE = "least-disruption"
"""Of other sources: it has no caps, which would exclude other legal sets."""


@dataclass(frozen=True)
class Case:
    """A question with a plan that the checker accepts, and legal sets that enumeration knows."""

    name: str
    state: State
    given: Given
    plan: Plan
    legal: Sequence[frozenset[str]] = ()
    objective: str = OBJECTIVE
    drawn: RandomState | None = None

    def accepted(self, plan: Json | Plan, state: State | None = None) -> Plan | None:
        """Return a plan that the checker accepts, as it reads it; nothing if it is refused."""
        asked: dict[str, Any] = {"assignment": self.given.assignment, "rules": self.given.rules}
        try:
            found = plan if isinstance(plan, Plan) else Plan.model_validate(plan)
            judged = planner.check(state or self.state, found, **asked)
        except (InputError, ValidationError):
            return None
        return found if judged.accepted else None

    def forged(self, keys: Sequence[str], state: State | None = None) -> Iterator[Plan]:
        """Yield a plan with certain victims that is right in all but, perhaps, being the best.

        Everything is as the planner itself would write it; the trees are those of the plan.
        """
        certificate, profile = self.plan.certificate, find_profile(self.objective)
        if certificate is None or not keys:
            return
        try:
            planning = start(state or self.state, self.given)
            planning.set_objective(profile)
        except (InputError, InternalError):
            return
        known = {workload.key: i for i, workload in enumerate(planning.problem.workloads)}
        if not known.keys() >= {*keys}:
            return
        positions = [known[key] for key in keys]
        terms, greedy = planning.table.evaluate(positions), planning.greedy_plan()
        caps = {m: _sum(greedy.terms, m) for m in profile.caps} if greedy.victims else {}
        changes: dict[str, object] = {
            "levels": tuple(_level(terms, measure) for measure in with_names(profile.levels)),
            "caps": tuple(Cap(term=measure_name(m), most=most) for m, most in caps.items()),
        }
        for borrowing in (True, False):
            claimed = certificate.model_copy(update=changes)
            found = Conclusion("optimal", "", self.objective, terms, claimed, greedy)
            plan = planning.plan(found, planning.describe_in_order(positions), borrowing=borrowing)
            try:
                yield planning.accepted(plan)
            except InternalError:
                continue


def _level(terms: Mapping[str, int], measure: Measure) -> Level:
    found = _sum(terms, measure)
    name = measure_name(measure)
    return Level(term=name, title="", unit="", value=found, bound=found, proof="certified")


def _sum(terms: Mapping[str, int], measure: Measure) -> int:
    return sum(terms[term] for term in measure)


def solved(
    name: str, state: State, given: Given, legal: Sequence[frozenset[str]] = ()
) -> Iterator[Case]:
    """Yield a case as users have it, if anybody can ask so: its flavors have other modes else."""
    try:
        start(state, given)
    except SchemaError:
        return
    plan = planner.solve(state, given.pending, OBJECTIVE, None, given.assignment, rules=given.rules)
    yield Case(name, state, given, plan, legal)


def of_random() -> Iterator[Case]:
    """Yield random states with any objective, of whose plans enumeration says that they are true.

    Another test is about those that are not.
    """
    for seed in range(STATES):
        drawn, objective = random_state(seed), OBJECTIVES[seed % len(OBJECTIVES)]
        try:
            plan = answer(drawn, objective)
        except InputError:
            continue
        if not untrue(drawn, plan, objective):
            sets = enumerated(drawn, plan) if plan.status == "optimal" and plan.victims else None
            legal = [frozenset(sets.legal.keys(one)) for one in sorted(sets.known)] if sets else []
            given = Given(PENDING, drawn.assignment)
            yield Case(f"seed {seed}", read(drawn), given, plan, legal, objective, drawn)


def read(drawn: RandomState) -> State:
    return read_kueue_objects(drawn.objects, where=f"seed {drawn.seed}", now=NOW)


def untrue(drawn: RandomState, plan: Plan, objective: str) -> list[str]:
    """Say what is not true of a plan, by enumeration."""
    if plan.status not in {"optimal", "infeasible"}:
        return []
    try:
        return list(compare(plan, enumerated(drawn, plan), objective))
    except UnsupportedError:
        return []


def of_the_quickstart() -> Iterator[Case]:
    """Yield the quickstart."""
    state = kueue_state.read(QUICKSTART)
    yield from solved("quickstart", state, Given(state.pending[0]))


def of_recorded() -> Iterator[Case]:
    """Yield recorded states that need preemption."""
    for name in RECORDED:
        needy = (x for x in lines_of.lines(name) if x["expect"]["assignment"]["mode"] == "Preempt")
        for line in islice(needy, LINES):
            given = Given(line["pending"], lines_of.assignment_of(line))
            yield from solved(line["id"], lines_of.state_of(line), given)


def of_deep_trees() -> Iterator[Case]:
    """Yield random states with cohorts up to four levels deep."""
    for seed in range(6 * SEEDS):  # most of them have other modes than their state
        chance = random.Random(seed)  # noqa: S311 - a test wants the same numbers again
        fair = bool(seed % 2)
        instance = random_instance(chance.randint, fair=fair)
        given = Given(PREEMPTOR, instance.assignment)
        legal = _legal(instance, fair=fair)
        yield from solved(f"{'fair ' if fair else ''}tree {seed}", instance.state, given, legal)


def _legal(instance: Instance, *, fair: bool) -> list[frozenset[str]]:
    return sorted(instance.legal(fair=fair), key=sorted)


SOURCES = {
    "random": of_random,
    "quickstart": of_the_quickstart,
    "recorded": of_recorded,
    "deep": of_deep_trees,
}


@cache
def cases(source: str) -> Sequence[Case]:
    """Return the cases of a source, for all tests."""
    return [*SOURCES[source]()]


def with_chance(source: str) -> Iterator[tuple[Case, random.Random]]:
    """Yield the cases of a source, each with a source of changes."""
    for number, case in enumerate(cases(source)):
        yield case, random.Random(number)  # noqa: S311 - a test wants the same numbers again


def badly_shown(walked: list[Walked]) -> list[str]:
    """Say which accepted trees do not show what they claim; forget them."""
    found = [said for question, steps in walked for said in faults(question, steps)]
    walked.clear()
    return found


def without_proof(plan: Plan) -> Json:
    """Return what a plan claims, without how it is shown."""
    value = plain(plan)
    for said in (value["certificate"], *value["certificate"]["levels"]):
        said.pop("claimed")  # the solver's word, which is held against nothing
    value["certificate"].pop("trees")
    return value


@pytest.mark.parametrize("source", SOURCES)
def test_changed_plan(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number of it, or a tree."""
    walked, counts = recorded(monkeypatch), Counter[tuple[str, bool]]()
    for case, chance in with_chance(source):
        assert case.accepted(case.plan), case.name
        for change in (with_another_number, with_another_tree):
            for _ in range(MUTANTS.get(source, FEWER)):
                walked.clear()
                mutant = change(chance, plain(case.plan))
                kept = case.accepted(mutant) if mutant else None
                counts[change.__name__, bool(kept)] += mutant is not None
                if kept:
                    assert without_proof(kept) == without_proof(case.plan), case.name
                    assert badly_shown(walked) == [], case.name
    for change in (with_another_number, with_another_tree):
        assert counts[change.__name__, False] > counts[change.__name__, True]
    assert counts["with_another_tree", True] or source != "random"


def test_certificate() -> None:
    """Changes of values, bounds, caps and victims are refused, all of them."""
    for case, chance in with_chance("random"):
        for within in (
            ("certificate", "levels"),
            ("certificate", "caps"),
            ("victims",),
            ("terms",),
        ):
            for _ in range(3):
                mutant = with_another_number(chance, plain(case.plan), within)
                assert mutant is None or case.accepted(mutant) is None, mutant


def test_state() -> None:
    """Another quota, usage, request or priority: the plan as it was, and its trees with facts."""
    refused = 0
    for case, chance in with_chance("random"):
        assert case.drawn
        for _ in range(MUTANTS["random"]):
            objects = with_another_state(chance, case.drawn.objects)
            drawn = replace(case.drawn, objects=objects)
            try:
                state = read(drawn)
            except InputError:
                refused += 1
                continue
            for plan in (case.plan, *case.forged(case.plan.keys, state)):
                kept = case.accepted(plan, state)
                refused += kept is None
                if kept is not None:
                    assert untrue(drawn, kept, case.objective) == [], (case.name, objects)
    assert refused


@pytest.mark.parametrize("source", ["random", "deep"])
def test_another_legal_set(source: str) -> None:
    """A plan that is legal, and right in every number, but not the best: no trees show it."""
    refused = 0
    for case, chance in with_chance(source):
        others = [keys for keys in case.legal if keys and keys != frozenset(case.plan.keys)]
        for keys in others if len(others) <= OTHERS else chance.sample(others, OTHERS):
            for plan in case.forged([*keys]):
                assert case.accepted(plan) is None, (case.name, keys)
                refused += 1
                for _ in range(3 if source == "random" else 1):
                    mutant = with_another_tree(chance, plain(plan))
                    assert not (mutant and case.accepted(mutant)), (case.name, keys)
    assert refused
