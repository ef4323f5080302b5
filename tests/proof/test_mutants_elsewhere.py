"""Changed plans and trees of the quickstart, of recorded states, of deep trees, and of KEP-83.

Each is refused, or claims what it claimed before, by trees that show it. Other legal sets, which
enumeration knows, are refused whatever trees they come with.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

import pytest
from pydantic import ValidationError

import planner
from planner.errors import InputError, InternalError, SchemaError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import measure_name, with_names
from planner.plan import Level
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import Assignment
from planner.solver.kueue.start import start
from planner.solver.start import Given
from planner.state.kueue import State
from tests import kueue_state
from tests import recorded as lines_of
from tests.conftest import QUICKSTART, TEST_ALL
from tests.proof.mutation import plain, with_another_number, with_another_tree
from tests.proof.recheck import Walked, faults, recorded
from tests.random_trees import PREEMPTOR, Instance, random_instance

MUTANTS = 40 if TEST_ALL else 5
"""Mutants of a kind, for each plan."""

RECORDED = ("small-classical-hier", "small-fair-hier", "small-classical-flat", "small-fair-flat")
LINES = 40 if TEST_ALL else 4
SEEDS = 200 if TEST_ALL else 8
OBJECTIVE = "least-disruption"
"""It has no caps, which would exclude other legal sets."""


@dataclass(frozen=True)
class Case:
    """A state with its question, and the legal sets that enumeration knows."""

    name: str
    state: State
    pending: str
    assignment: Assignment | None = None
    rules: str | None = None
    legal: Sequence[frozenset[str]] = ()

    @property
    def asks_the_state(self) -> bool:
        """Whether the flavors have the modes that they have in the state."""
        try:
            start(self.state, Given(self.pending, self.assignment, rules=self.rules))
        except SchemaError:
            return False
        return True

    def solve(self) -> Plan:
        """Ask the planner."""
        return planner.solve(
            self.state, self.pending, OBJECTIVE, None, self.assignment, rules=self.rules
        )

    def accepts(self, plan: Plan) -> bool:
        """Ask the checker."""
        try:
            given, rules = self.assignment, self.rules
            return planner.check(self.state, plan, assignment=given, rules=rules).accepted
        except InputError:
            return False

    def forged(self, keys: frozenset[str], plan: Plan) -> Iterator[Plan]:
        """Yield a plan with other victims, right in every number, with the trees of another."""
        given = Given(self.pending, self.assignment, rules=self.rules)
        planning, profile = start(self.state, given), find_profile(OBJECTIVE)
        planning.set_objective(profile)
        known = {each.key: i for i, each in enumerate(planning.problem.workloads)}
        positions = [known[key] for key in keys]
        terms, certificate = planning.table.evaluate(positions), plan.certificate
        if certificate is None:
            return
        levels = []
        for measure in with_names(profile.levels):
            least, name = sum(terms[term] for term in measure), measure_name(measure)
            levels.append(
                Level(term=name, title="", unit="", value=least, bound=least, proof="certified")
            )
        changes = {"levels": tuple(levels)}
        for borrowing in (True, False):
            other = planning.plan(
                "optimum",
                "optimal",
                "",
                objective=OBJECTIVE,
                victims=planning.describe_in_order(positions),
                borrowing=borrowing,
                terms=terms,
                certificate=certificate.model_copy(update=changes),
                greedy=planning.greedy_plan(),
            )
            try:
                yield planning.accepted(other)
            except InternalError:
                continue


def quickstart() -> Iterator[Case]:
    """Yield the quickstart."""
    state = kueue_state.read(QUICKSTART)
    yield Case("quickstart", state, planner.solve(state).preemptor)


def of_recorded() -> Iterator[Case]:
    """Yield recorded states that need preemption."""
    for name in RECORDED:
        needy = (x for x in lines_of.lines(name) if x["expect"]["assignment"]["mode"] == "Preempt")
        for line in islice(needy, LINES):
            yield Case(
                line["id"], lines_of.state_of(line), line["pending"], lines_of.assignment_of(line)
            )


def of_deep_trees() -> Iterator[Case]:
    """Yield random states with cohorts up to four levels deep."""
    for seed in range(6 * SEEDS):  # most of them have other modes than their state
        chance = random.Random(seed)  # noqa: S311 - a test wants the same numbers again
        fair = bool(seed % 2)
        instance = random_instance(chance.randint, fair=fair)
        yield Case(
            f"{'fair ' if fair else ''}tree {seed}",
            instance.state,
            PREEMPTOR,
            instance.assignment,
            legal=_legal(instance, fair=fair),
        )


def _legal(instance: Instance, *, fair: bool) -> list[frozenset[str]]:
    if fair:
        return sorted(instance.fair_simulation.legal_sets, key=sorted)
    classical = instance.simulation
    attempts = (classical.legal(borrowing=borrowing) for borrowing in classical.attempts)
    return sorted({gone for found in attempts for gone in found}, key=sorted)


SOURCES = {"quickstart": quickstart, "recorded": of_recorded, "deep": of_deep_trees}


def cases(source: str) -> Iterator[Case]:
    """Yield the cases of a source that anybody can ask about."""
    return filter(attrgetter("asks_the_state"), SOURCES[source]())


@pytest.mark.parametrize("source", SOURCES)
def test_changed_plan(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    walked, kept = recorded(monkeypatch), Counter[bool]()
    for number, case in enumerate(cases(source)):
        chance = random.Random(number)  # noqa: S311 - a test wants the same numbers again
        plan = case.solve()
        assert case.accepts(plan), case.name
        for change in (with_another_number, with_another_tree):
            for _ in range(MUTANTS):
                walked.clear()
                mutant = change(chance, plain(plan))
                if mutant is None:
                    continue
                try:
                    changed = Plan.model_validate(mutant)
                except ValidationError:
                    continue
                kept[case.accepts(changed)] += 1
                if case.accepts(changed):
                    assert _claims(changed) == _claims(plan), case.name
                    assert _badly_shown(walked) == [], case.name
    assert kept[False] > kept[True]


@pytest.mark.parametrize("source", ["deep"])
def test_another_legal_set(source: str) -> None:
    refused = 0
    for number, case in enumerate(cases(source)):
        chance = random.Random(number)  # noqa: S311 - a test wants the same numbers again
        plan = case.solve()
        others = [keys for keys in case.legal if keys and sorted(keys) != sorted(plan.keys)]
        for keys in others if len(others) < MUTANTS else chance.sample(others, MUTANTS):
            for other in case.forged(keys, plan):
                assert not case.accepts(other), (case.name, keys)
                refused += 1
                mutant = with_another_tree(chance, plain(other))
                try:
                    changed = None if mutant is None else Plan.model_validate(mutant)
                except ValidationError:
                    continue
                assert changed is None or not case.accepts(changed), (case.name, keys)
    assert refused


def _claims(plan: Plan) -> object:
    value = plain(plan)
    for said in (value["certificate"], *value["certificate"]["levels"]):
        said.pop("claimed")  # the solver's word, which is held against nothing
    value["certificate"].pop("trees")
    return value


def _badly_shown(walked: list[Walked]) -> list[str]:
    return [said for question, steps in walked for said in faults(question, steps)]
