"""Two engines say that nothing is left, or one finds what is: against all legal victim sets."""

import random
from collections.abc import Iterator, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from planner.models.shared.builder import Builder, Linear
from planner.objective.profiles import PROFILES, Measure
from planner.solver import mathopt, second_opinion
from planner.solver.attempt import Run
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.rules import KueueRules
from planner.solver.kueue.solve import set_up, settled
from planner.solver.mathopt import Kind, Milp, MipAnswer, translate
from planner.solver.search import Search
from planner.solver.second_opinion import Opinion
from planner.solver.start import Given, start
from tests.conftest import TEST_ALL
from tests.random_trees import PREEMPTOR, Instance, random_instance

SEEDS: Final = range(4000 if TEST_ALL else 240)
MOST: Final = 15
PROFILE: Final = PROFILES["no-regret"]
MEASURES: Final[tuple[Measure, ...]] = (
    ("highest_priority",),
    ("workloads",),
    ("priority_weight",),
    ("excess_freed",),
    ("queues",),
    ("victims",),
)
ask = second_opinion.second_opinion


def searches(*, fair: bool) -> Iterator[tuple[Search, list[tuple[int, ...]]]]:
    """Yield searches of random trees with all their legal sets, as positions."""
    for seed in SEEDS:
        pick = random.Random(seed).randint  # noqa: S311 - test data
        instance = random_instance(pick, 5, fair=fair)
        planning = start(instance.state, Given(PREEMPTOR, instance.assignment, recorded=True))
        assert isinstance(planning, Planning)
        planning.set_objective(PROFILE)
        if settled(planning):
            continue
        ready = set_up(planning, PROFILE, Deadline(), planning.greedy_plan())
        place = {w.key: i for i, w in enumerate(planning.problem.workloads)}
        legal = [tuple(sorted(place[key] for key in gone)) for gone in legal_sets(instance, fair)]
        yield ready.search, legal


def legal_sets(instance: Instance, fair: bool) -> set[frozenset[str]]:  # noqa: FBT001
    if fair:
        return set(instance.fair_simulation.legal_sets)
    simulation = instance.simulation
    return set().union(*(simulation.legal(borrowing=b) for b in simulation.attempts))


def values(search: Search, measure: Measure, legal: list[tuple[int, ...]]) -> list[int]:
    terms = [search.rules.table.evaluate(positions) for positions in legal]
    return [sum(each[term] for term in measure) for each in terms]


@pytest.mark.parametrize("fair", [False, True])
def test_agrees_with_all_legal_sets(*, fair: bool) -> None:
    none = found = 0
    for number, (search, legal) in enumerate(searches(fair=fair)):
        if not legal:
            none += 1
            if none < 20:
                assert ask(search, Deadline()).outcome == "none"
            continue
        first, second = (MEASURES[(number + i) % len(MEASURES)] for i in (0, 1 + number % 5))
        best = min(values(search, first, legal))
        if best:
            opinion = ask(search, Deadline(), first, best - 1)
            assert (opinion.outcome, opinion.counts) == ("none", None)
            assert len(opinion.engines) == 2
        search.limit(first, best)
        kept = [
            each for each, v in zip(legal, values(search, first, legal), strict=True) if v == best
        ]
        assert_found(search, ask(search, Deadline()), kept)
        then = min(values(search, second, kept))
        assert_found(search, ask(search, Deadline(), second, then), kept)
        if then:
            assert ask(search, Deadline(), second, then - 1).outcome == "none"
        found += 1
    assert found >= 10


def assert_found(search: Search, opinion: Opinion, legal: list[tuple[int, ...]]) -> None:
    assert opinion.outcome == "found"
    assert opinion.counts is not None
    assert tuple(sorted(search.classes.take(opinion.counts))) in legal


@pytest.mark.parametrize("kind", ["SCIP", "HiGHS"])
@pytest.mark.parametrize("fair", [False, True])
def test_the_second_engine_alone(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, *, fair: bool
) -> None:
    """CP-SAT calls everything infeasible: what the other finds is heard all the same."""
    real = mathopt.ask
    monkeypatch.setattr(second_opinion, "presolved", lambda *_: Run("infeasible"))
    monkeypatch.setattr(mathopt, "ask", lambda program, _, seconds: real(program, kind, seconds))
    compared = 0
    for search, legal in searches(fair=fair):
        if legal:
            compared += 1
            best = min(values(search, ("victims",), legal))
            assert_found(search, ask(search, Deadline(), ("victims",), best), legal)
            assert ask(search, Deadline(), ("victims",), best - 1).outcome == "none"
        if compared == MOST:
            break
    assert compared == MOST


def one_search() -> tuple[Search, list[tuple[int, ...]]]:
    """Return a search in which there are several legal sets."""
    return next(each for each in searches(fair=False) if len(each[1]) > 3)


def test_one_engine_alone_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    search, legal = one_search()
    best = min(values(search, ("victims",), legal))
    with monkeypatch.context() as patch:
        patch.setattr(mathopt, "ask", lambda *_: MipAnswer(infeasible=False))
        opinion = ask(search, Deadline(), ("victims",), best - 1)
    assert opinion.outcome == "unknown"
    assert opinion.engines[0].startswith("OR-Tools CP-SAT 9.")
    assert opinion.engines[0].endswith(" with presolve")
    assert opinion.engines[1] == "HiGHS by MathOpt"
    monkeypatch.setattr(second_opinion, "presolved", lambda *_: Run("unknown"))
    opinion = ask(search, Deadline(), ("victims",), best - 1)
    assert (opinion.outcome, opinion.engines[1]) == ("unknown", "SCIP by MathOpt")


def test_what_is_cut_off_and_conditions_are_kept_to() -> None:
    """All answers are found one after the other, and then there is none."""
    search, legal = one_search()
    found = []
    while (opinion := ask(search, Deadline())).counts is not None:
        found.append(tuple(sorted(search.classes.take(opinion.counts))))
        search.cut.append(opinion.counts)
    assert opinion.outcome == "none"
    assert set(found) <= set(legal)
    assert len(found) == len(set(found))
    search.cut.clear()
    k = next(k for k in search.active if any(search.classes.first[k] in each for each in legal))
    search.conditions.append((Linear({k: 1}), 1))
    opinion = ask(search, Deadline())
    assert opinion.counts is not None
    assert opinion.counts[k]
    search.conditions[-1] = Linear({k: 1}), 99
    assert ask(search, Deadline()).outcome == "none"
    search.conditions.clear()
    search.lower[k] = 1
    search.active = [other for other in search.active if other != k]
    assert ask(search, Deadline()) == Opinion("none")


def test_unlawful_answers_are_asked_past() -> None:
    """The scheduler's doubles refuse all but one set."""
    search, _ = one_search()
    last = ask(search, Deadline())
    while (opinion := ask(search, Deadline())).counts is not None:
        last = opinion
        search.cut.append(opinion.counts)
    search.cut.clear()
    assert last.counts is not None
    wanted = sorted(search.classes.take(last.counts))
    assert isinstance(search.rules, KueueRules)
    judge = Judge(wanted)
    search.rules = replace(search.rules, judge=judge)
    assert ask(search, Deadline()).counts == last.counts
    assert judge.refused


class Judge:
    """Accepts one set of victims."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self.wanted, self.refused = wanted, 0

    def __call__(self, positions: Sequence[int]) -> bool:  # noqa: D102
        self.refused += sorted(positions) != self.wanted
        return sorted(positions) == self.wanted


def test_without_time_nothing_is_known() -> None:
    search, _ = one_search()
    assert ask(search, Deadline.after(0)).outcome == "unknown"


def test_infeasible_is_not_believed_of_long_numbers() -> None:
    builder = Builder()
    x, y = builder.new(0, 2**51), builder.new(0, 1)
    builder.add(Linear({x: 1, y: -(2**51)}) >= 1)
    builder.add(Linear({x: 1, y: -(2**51)}) <= 0)
    program = translate(builder.proto)
    assert not program.exact
    assert mathopt.ask(program, "SCIP", None) == MipAnswer(infeasible=False)
    short = Builder()
    x = short.new(0, 9)
    short.add(Linear({x: 2**60}) >= 10 * 2**60)  # ten units
    assert translate(short.proto).exact
    assert mathopt.ask(translate(short.proto), "SCIP", None) == MipAnswer(infeasible=True)


def test_a_copy_is_translated_as_a_model_of_its_own() -> None:
    """Rows are read once for all copies."""
    builder = Builder()
    x, y = builder.new(0, 5), builder.new(0, 2**11)
    part = builder.positive_part(Linear({x: 2, y: -1}))
    for most in (3, 1):
        twin = builder.copy()
        literal = twin.new_bool()
        twin.add(part + Linear({x: 1}) <= most, [literal])
        twin.any_of([literal])
        later = twin.positive_part(Linear({x: 1, y: 1}, -4))
        twin.add(later <= most)
        by_origin, anew = translate(twin.proto, twin.origin), translate(twin.proto)
        assert by_origin == anew
        assert list(anew.proto.variables.ids) == list(range(len(twin.lower)))
        twin.add(Linear({x: 1}) >= most + 1)
        assert mathopt.ask(translate(twin.proto, twin.origin), "SCIP", None).infeasible
        assert not mathopt.ask(by_origin, "SCIP", None).infeasible
    assert translate(builder.proto) == translate(builder.copy().proto, builder)


def test_engines_in_turn_are_given_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of them needs no translation of its own, as long as nothing is cut off."""
    search, legal = one_search()
    best = min(values(search, ("victims",), legal))
    programs, asked = [], []

    def translated(*given: object) -> Milp:
        programs.append(translate(*given))  # type: ignore[arg-type] # passed on
        return programs[-1]

    def knowing_nothing(program: Milp, kind: Kind, _: float | None) -> MipAnswer:
        asked.append((kind, program is programs[-1]))
        return MipAnswer(infeasible=False)

    monkeypatch.setattr(mathopt, "translate", translated)
    monkeypatch.setattr(mathopt, "ask", knowing_nothing)
    assert ask(search, Deadline(), ("victims",), best - 1).outcome == "unknown"
    assert asked == [("SCIP", True), ("HiGHS", True)]
    assert len(programs) == 1
