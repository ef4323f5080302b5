"""Whatever is changed in a plan, its trees or its state: it is refused, or it is still true.

What is true is found by enumeration, with code that shares nothing with the product, and what a
tree shows by looking at every set of its boxes. ``PLANNER_MUTANTS=N`` tries N states.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from pydantic import ValidationError

import planner
from planner.errors import InputError, InternalError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import Measure, measure_name, with_names
from planner.plan import Cap, Level
from planner.plan.kueue import Plan
from planner.plan.kueue import Plan as KueuePlan
from planner.reader.kueue import read_kueue_objects
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.start import start
from planner.solver.start import Given
from planner.state.kueue import State
from tests.conftest import TEST_ALL
from tests.oracle.cluster import UnsupportedError
from tests.oracle.objectives import Enumeration
from tests.oracle.random_states import NOW, PENDING, RandomState, random_state
from tests.proof.mutation import (
    Json,
    plain,
    with_another_number,
    with_another_state,
    with_another_tree,
)
from tests.proof.recheck import Walked, faults, recorded
from tests.solver.oracle_difference import answer, compare, enumerated

STATES = int(os.environ.get("PLANNER_MUTANTS") or (400 if TEST_ALL else 10))
EACH = 12
"""Mutants of a kind, for each state."""

CHUNK = 10
OBJECTIVES = ("no-regret", "min-count", "fewest-tenants", "exact-fit", "fair", "weighted")
CHUNKS = [range(start, start + CHUNK) for start in range(0, STATES, CHUNK)]


@dataclass(frozen=True)
class Original:
    """A state with a plan that the checker accepts."""

    state: RandomState
    objective: str
    plan: Plan

    @property
    def json(self) -> Json:
        """The plan as it is printed."""
        return plain(self.plan)


def read(state: RandomState) -> State:
    return read_kueue_objects(state.objects, where=f"seed {state.seed}", now=NOW)


def originals(seeds: Sequence[int]) -> Iterator[tuple[Original, random.Random]]:
    """Yield states with a plan, and a source of changes."""
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311 - a test wants the same numbers again
        state, objective = random_state(seed), OBJECTIVES[seed % len(OBJECTIVES)]
        try:
            plan = answer(state, objective)
        except InputError:
            continue
        if untrue(state, plan, objective):
            continue  # another test is about that
        assert planner.check(read(state), plan, assignment=state.assignment).accepted, (
            f"seed {seed}"
        )
        yield Original(state, objective, plan), chance


def accepted(state: RandomState, plan: Json | Plan) -> Plan | None:
    """Return a plan that the checker accepts, as it reads it; nothing if it is refused."""
    try:
        found = plan if isinstance(plan, KueuePlan) else Plan.model_validate(plan)
        judged = planner.check(read(state), found, assignment=state.assignment)
    except (InputError, ValidationError):
        return None
    return found if judged.accepted else None


def untrue(state: RandomState, plan: Plan, objective: str) -> list[str]:
    """Say what is not true of a plan, by enumeration."""
    if plan.status not in {"optimal", "infeasible"}:
        return []
    try:
        return list(compare(plan, enumerated(state, plan), objective))
    except UnsupportedError:
        return []


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


@pytest.mark.parametrize("seeds", CHUNKS, ids=str)
def test_number_of_a_plan(seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    walked, counts = recorded(monkeypatch), Counter[bool]()
    for original, chance in originals(seeds):
        walked.clear()
        for _ in range(EACH):
            mutant = with_another_number(chance, original.json)
            kept = accepted(original.state, mutant) if mutant else None
            counts[bool(kept)] += 1
            if kept:
                assert without_proof(kept) == without_proof(original.plan), original.state.seed
                assert badly_shown(walked) == [], original.state.seed
            walked.clear()
    assert counts[False] > counts[True]


@pytest.mark.parametrize("seeds", CHUNKS, ids=str)
def test_certificate(seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of values, bounds, caps and victims are refused, all of them."""
    walked = recorded(monkeypatch)
    for original, chance in originals(seeds):
        for within in (
            ("certificate", "levels"),
            ("certificate", "caps"),
            ("victims",),
            ("terms",),
        ):
            for _ in range(EACH // 4):
                mutant = with_another_number(chance, original.json, within)
                assert mutant is None or accepted(original.state, mutant) is None, mutant
        walked.clear()


@pytest.mark.parametrize("seeds", CHUNKS, ids=str)
def test_tree(seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    walked, counts = recorded(monkeypatch), Counter[bool]()
    for original, chance in originals(seeds):
        walked.clear()
        for _ in range(EACH):
            mutant = with_another_tree(chance, original.json)
            kept = mutant and accepted(original.state, mutant)
            counts[bool(kept)] += mutant is not None
            if kept:
                assert badly_shown(walked) == [], original.state.seed
            walked.clear()
    assert counts[False] > counts[True] > 0


@pytest.mark.parametrize("seeds", CHUNKS, ids=str)
def test_state(seeds: Sequence[int]) -> None:
    """Another quota, usage, request or priority: the plan as it was, and its trees with facts."""
    refused = 0
    for original, chance in originals(seeds):
        for _ in range(EACH):
            objects = with_another_state(chance, original.state.objects)
            state = replace(original.state, objects=objects)
            for plan in (original.plan, *forged(state, original, original.plan.keys)):
                kept = accepted(state, plan)
                refused += kept is None
                if kept is not None:
                    assert untrue(state, kept, original.objective) == [], (state.seed, objects)
    assert refused


@pytest.mark.parametrize("seeds", CHUNKS, ids=str)
def test_another_legal_set(seeds: Sequence[int]) -> None:
    """A plan that is legal, and right in every number, but not the best: no trees show it."""
    for original, chance in originals(seeds):
        sets = enumerated(original.state, original.plan)
        if original.plan.status != "optimal" or sets is None or not original.plan.victims:
            continue
        for keys in _others(chance, sets, original.plan.keys):
            for plan in forged(original.state, original, keys):
                assert accepted(original.state, plan) is None, (original.state.seed, keys)
                for _ in range(EACH // 4):
                    mutant = with_another_tree(chance, plain(plan))
                    kept = mutant and accepted(original.state, mutant)
                    assert not kept, (original.state.seed, keys)


def _others(chance: random.Random, sets: Enumeration, best: Sequence[str]) -> Iterator[list[str]]:
    """Yield some other legal sets: among them those nearest to the best."""
    legal = sets.legal
    found = [legal.keys(mask) for mask in sorted(sets.known) if mask]
    found = [keys for keys in found if sorted(keys) != sorted(best)]
    yield from found if len(found) <= EACH // 2 else chance.sample(found, EACH // 2)


def forged(state: RandomState, original: Original, keys: Sequence[str]) -> Iterator[Plan]:
    """Yield a plan with certain victims that is right in all but, perhaps, being the best.

    Everything is as the planner itself would write it; the trees are those of the original.
    """
    try:
        planning = start(read(state), Given(PENDING, state.assignment))
        planning.set_objective(find_profile(original.objective))
        yield from _forged(planning, original, keys)
    except (InputError, InternalError):
        return


def _forged(planning: Planning, original: Original, keys: Sequence[str]) -> Iterator[Plan]:
    certificate, profile = original.plan.certificate, find_profile(original.objective)
    known = {workload.key: i for i, workload in enumerate(planning.problem.workloads)}
    if certificate is None or not keys or not known.keys() >= set(keys):
        return
    positions = [known[key] for key in keys]
    terms, greedy = planning.table.evaluate(positions), planning.greedy_plan()
    caps = {m: _sum(greedy.terms, m) for m in profile.caps} if greedy.victims else {}
    measures = with_names(profile.levels)
    changes: dict[str, object] = {
        "levels": tuple(_level(terms, measure) for measure in measures),
        "caps": tuple(Cap(term=measure_name(m), most=most) for m, most in caps.items()),
    }
    for borrowing in (True, False):
        plan = planning.plan(
            "optimum",
            "optimal",
            "",
            objective=original.objective,
            victims=planning.describe_in_order(positions),
            borrowing=borrowing,
            terms=terms,
            certificate=certificate.model_copy(update=changes),
            greedy=greedy,
        )
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
