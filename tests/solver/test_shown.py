"""Trees that are asked for while the levels are solved: what they show is true, and saves work."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

import planner
from planner.objective.profiles import PROFILES, Measure, with_names
from planner.plan import AnyPlan
from planner.plan.kueue import Plan
from planner.solver import levels
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import prepare, settled, settling_of
from planner.solver.levels import Answer, Shown
from planner.solver.proving import certifier
from planner.solver.proving import grow as growing
from planner.solver.proving.settle import Proved, Settling
from planner.solver.start import Given, start
from tests.cluster import PENDING, fair_sharing, preempt
from tests.conftest import TEST_ALL
from tests.random_trees import PREEMPTOR, Instance, random_instance
from tests.solver.test_core import crowd, outcome
from tests.yunikorn.building import state_of as yunikorn_state
from tests.yunikorn.random_clusters import random_cluster

PROFILE = PROFILES["no-regret"]


def levels_of(plan: AnyPlan) -> list[tuple[str, int, int]]:
    levels = plan.certificate.levels if plan.certificate else ()
    return [(level.term, level.value, level.bound) for level in levels]


def instances() -> Iterator[tuple[Instance, bool]]:
    for seed in range(3000 if TEST_ALL else 480):
        fair = seed % 2 == 0
        yield random_instance(random.Random(seed).randint, 5 + seed % 4, fair=fair), fair  # noqa: S311 - test data


def legal_sets(instance: Instance, *, fair: bool) -> set[frozenset[str]]:
    if fair:
        return instance.fair_simulation.legal_sets
    simulation = instance.simulation
    return set().union(*(simulation.legal(borrowing=b) for b in simulation.attempts))


def test_what_is_shown_holds_of_all_legal_sets() -> None:
    """By brute force: no better set, no equal one outside, and a better answer is one."""
    proved = improved = narrowed = 0
    for instance, fair in instances():
        planning = start(instance.state, Given(PREEMPTOR, instance.assignment, recorded=True))
        assert isinstance(planning, Planning)
        profile = planning.set_objective(PROFILE)
        if settled(planning) is not None:
            continue
        search = prepare(planning, profile, Deadline(), planning.greedy_plan()).search
        place = {w.key: i for i, w in enumerate(planning.problem.workloads)}
        # Sorted: of sets that are equally bad the same one comes first in each run.
        sets = sorted(
            sorted(place[key] for key in keys) for keys in legal_sets(instance, fair=fair)
        )
        known = [(counts, one) for one in sets if (counts := search.classes.counts(one))]
        terms = {id(one): planning.table.evaluate(one) for _, one in known}

        def value(
            measure: Measure, one: Sequence[int], terms: dict[int, dict[str, int]] = terms
        ) -> int:
            return sum(terms[id(one)][term] for term in measure)

        kept = [c for c in known if all(value(m, c[1]) <= most for m, most in search.caps)]
        if not kept:
            continue
        # From the worst one on: all that is better is still to be found.
        search.incumbent = max(kept, key=lambda c: [value(m, c[1]) for m in profile.levels])[0]
        settling = settling_of(planning, profile, search)
        for measure in with_names(profile.levels):
            while (shown := settling.show(measure)) is not None and shown.possible is None:
                before = search.value(measure, search.answer)
                search.incumbent = shown.answer
                assert search.value(measure, search.answer) < before
                assert shown.answer in [counts for counts, _ in kept]
                improved += 1
            if shown is None:
                break
            search.incumbent = shown.answer
            best = search.value(measure, search.answer)
            assert min(value(measure, one) for _, one in kept) == best
            kept = [c for c in kept if value(measure, c[1]) <= best]
            assert shown.answer in [counts for counts, _ in kept]
            possible = set(shown.possible or ())
            for counts, _ in kept:
                assert {k for k, count in enumerate(counts) if count} <= possible
            proved += 1
            narrowed += len(possible) < len(search.active)
    assert proved > 300
    assert improved >= 10
    assert narrowed >= 10


@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("name", ["no-regret", "min-lost-work"])
def test_a_plan_is_the_same_with_and_without(
    name: str, monkeypatch: pytest.MonkeyPatch, *, fair: bool
) -> None:
    state = crowd(3, 6, fair_sharing()) if fair else crowd(3, 12)
    monkeypatch.setattr(levels, "CORE", 8)
    show, found = Settling.show, list[Shown | None]()

    def watched(self: Settling, measure: Measure) -> Shown | None:
        found.append(show(self, measure))
        return found[-1]

    def solved() -> Plan:
        return planner.solve(state, PENDING, objective=name, assignment=preempt(state))

    monkeypatch.setattr(Settling, "show", watched)
    shown = solved()
    monkeypatch.setattr(Settling, "show", lambda *_: None)
    alone = solved()
    assert outcome(shown) == outcome(alone)
    assert shown.status == "optimal"
    if name == "no-regret" and not fair:
        assert any(one is not None and one.possible is not None for one in found)


def test_a_tree_that_was_shown_is_not_grown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    state = crowd(3, 12)
    monkeypatch.setattr(levels, "CORE", 8)
    grow, questions = growing.grow, list[tuple[object, ...]]()

    def counted(*given: object) -> object:
        question = given[0]
        bounds = [(one.name, one.measure, one.most) for one in question.bounds]  # type: ignore[attr-defined]
        questions.append((tuple(bounds), getattr(question, "answer", ())))
        return grow(*given)  # type: ignore[arg-type]

    prove, before = Settling.prove, list[int]()

    def proving(self: Settling, answer: Answer) -> Proved:
        before.append(len(questions))
        return prove(self, answer)

    monkeypatch.setattr(certifier, "grow", counted)
    monkeypatch.setattr(Settling, "prove", proving)
    plan = planner.solve(state, PENDING, assignment=preempt(state))
    assert plan.certificate is not None
    assert before[0] > 0  # some were asked while the levels were solved
    assert all(level.proof == "certified" for level in plan.certificate.levels)
    assert len(questions) == len(set(questions)) > len(plan.certificate.levels) - 3


def test_no_tree_is_grown_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    state = crowd(3, 12)
    monkeypatch.setattr(levels, "CORE", 8)
    monkeypatch.setattr(certifier, "grow", lambda *_: pytest.fail("a tree was asked for"))
    plan = planner.solve(state, PENDING, assignment=preempt(state), certify=False)
    assert plan.status == "optimal"
    assert plan.certificate is not None
    assert not plan.certificate.trees


def test_ranks_are_the_same_with_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the model of all classes would have to tell whether a lower priority does."""
    monkeypatch.setattr(levels, "CORE", 2)
    show, shown = Settling.show, list[Measure]()

    def watched(self: Settling, measure: Measure) -> Shown | None:
        found = show(self, measure)
        shown.extend([measure] if found is not None and found.possible is not None else [])
        return found

    compared = 0
    for seed in range(900 if TEST_ALL else 120):
        cluster = random_cluster(seed, plain=seed % 2 == 0, twins=seed % 3 == 0)
        plans = []
        for way in (watched, lambda *_: None):
            monkeypatch.setattr(Settling, "show", way)
            plans.append(planner.solve(yunikorn_state(cluster), "ask"))
        answers = [(p.status, p.keys, p.terms, levels_of(p)) for p in plans]
        assert answers[0] == answers[1], seed
        compared += plans[0].status == "optimal"
    assert compared > 24
    assert ("highest_priority",) in shown
    assert len(shown) > 6


def test_the_solver_goes_on_where_trees_only_better_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many sets may be a little better than one another: trees would find them one by one."""
    state = crowd(3, 12)
    monkeypatch.setattr(levels, "CORE", 8)
    asked = Counter[Measure]()

    def bettered(self: Settling, measure: Measure) -> Shown:
        asked[measure] += 1
        assert asked[measure] < 10
        assert self.search.incumbent is not None
        return Shown(self.search.incumbent, None)

    monkeypatch.setattr(Settling, "show", bettered)
    plan = planner.solve(state, PENDING, assignment=preempt(state))
    monkeypatch.setattr(Settling, "show", lambda *_: None)
    assert outcome(plan) == outcome(planner.solve(state, PENDING, assignment=preempt(state)))
    assert max(asked.values()) == levels.MOST_BETTERED
