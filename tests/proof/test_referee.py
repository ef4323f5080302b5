"""Random trees of up to seven splits, held against all legal sets of small states.

A claim that enumeration shows to be false must have no tree, whatever is split: each leaf is looked
for where the planner looks for it, and besides among random rows with random multipliers.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Final, NamedTuple

import pytest

from planner.objective.profiles import PROFILES, Measure
from planner.plan.proof import (
    ByLaws,
    ByRows,
    CaseSplit,
    CountSplit,
    Narrowing,
    Rounding,
    Split,
    Step,
    WholeSplit,
)
from planner.proof.box import Box
from planner.proof.claims import Claims, Stated
from planner.proof.question import Open, Question
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import settled
from planner.solver.proving.multipliers import plain, precise
from planner.solver.proving.program import Program
from planner.solver.proving.rows import BoxRows
from planner.solver.start import Given, start
from tests.cluster import PENDING as WAITING
from tests.conftest import TEST_ALL
from tests.random_trees import PREEMPTOR, random_instance
from tests.restless import restless_state

SEEDS: Final = range(10_000 if TEST_ALL else 70)
SPLITS: Final = 7
CASES: Final = ("attempt", "below", "over", "dominant")
NEXT: Final[Measure] = ("unstable",)
MEASURES: Final[tuple[Measure, ...]] = (
    *(("highest_priority",), ("workloads",), ("priority_weight",), ("lost_work", "restart_cost")),
    *(("excess_freed",), ("queues",), ("unfairness",), ("victims",)),
)


class Judged(NamedTuple):
    """The claims about a state, and the terms of every legal set."""

    claims: Claims
    legal: Sequence[dict[str, int]]


def judged(seed: int, *, fair: bool) -> Judged | None:
    """Return the claims of a random state with all its legal sets; none if nothing is asked."""
    instance = random_instance(random.Random(seed).randint, 6, fair=fair)  # noqa: S311
    planning = start(instance.state, Given(PREEMPTOR, instance.assignment, recorded=True))
    assert isinstance(planning, Planning)
    profile = planning.set_objective(PROFILES["least-disruption"])
    if settled(planning):
        return None
    place = {key: at for at, key in enumerate(planning.keys)}
    sets = ([place[key] for key in gone] for gone in instance.legal(fair=fair))
    terms = [dict(planning.table.evaluate(positions)) for positions in sets]
    return Judged(planning.claims(profile, ()), terms)


def judged_next(seed: int) -> Judged | None:
    """Return the claims that ask the scheduler, where some victim preempts whoever else goes."""
    planning = start(restless_state(seed, fair=seed % 2 == 1), Given(WAITING))
    assert isinstance(planning, Planning)
    profile = planning.set_objective(PROFILES["stable"])
    asking = planning.claims(profile, ()).asking
    places = planning.eligible.nonzero()[0].tolist()
    if settled(planning) or asking is None or not any(map(planning.cascade_replay.spared, places)):
        return None
    sets = chain.from_iterable(combinations(places, n) for n in range(len(places) + 1))
    legal = (each for each in map(list, sets) if planning.is_lawful(each))
    return Judged(asking, [dict(planning.table.evaluate(positions)) for positions in legal])


def questions_next(chance: random.Random, found: Judged) -> Iterator[tuple[Question, bool]]:
    """Yield questions that bound who preempts again, each with whether a set is in question."""
    if not found.legal:
        return
    measure = chance.choice(MEASURES)
    fewest = min(value(each, NEXT) for each in found.legal)
    for most in (fewest, fewest + 1):
        kept = [value(each, measure) for each in found.legal if value(each, NEXT) <= most]
        for less in (min(kept) + 1, min(kept)):
            question = found.claims.level([Stated(NEXT, most, proved=False)], measure, less)
            yield question, less > min(kept)
    for less in (fewest + 1, fewest):
        yield found.claims.level((), NEXT, less), less > fewest


def value(terms: dict[str, int], measure: Measure) -> int:
    return sum(terms[term] for term in measure)


def questions(chance: random.Random, found: Judged) -> Iterator[tuple[Question, bool]]:
    """Yield questions, each with whether some legal set is in question."""
    yield found.claims.infeasible(), bool(found.legal)
    measure, first = chance.sample(MEASURES, 2)
    if found.legal:
        least = min(value(each, first) for each in found.legal)
        kept = [each for each in found.legal if value(each, first) == least]
        best = min(value(each, measure) for each in kept)
        for less in (best + 1, best):
            proved = chance.random() < 1 / 2
            question = found.claims.level([Stated(first, least, proved)], measure, less)
            yield question, less > best


def a_split(chance: random.Random, question: Question, box: Box) -> Split | None:
    """Return a random split of a box; ``None`` if the one that was drawn is none of it."""
    kind = chance.choice(("count", "sum", "whole", "case", "case", "narrow", "narrow", "round"))
    k = chance.randrange(box.most.size) if box.most.size else 0
    step: Split = CountSplit(of=(k,), most=chance.randint(0, int(box.most.max(initial=0))))
    if kind == "sum":
        of = tuple(sorted(chance.sample(range(box.most.size), chance.randint(0, box.most.size))))
        step = CountSplit(of=of, most=chance.randint(0, 3))
    elif kind == "whole" and (named := sorted(question.ranges(box))):
        step = WholeSplit(whole=chance.choice(named), most=chance.randint(0, 1))
    elif kind == "narrow" and (names := sorted(question.rows(box))):
        some = chance.sample(names, min(3, len(names)))
        step = Narrowing(narrow={name: chance.randint(1, 9) for name in some})
    elif kind == "round" and (names := sorted(question.rows(box))):
        some = chance.sample(names, min(3, len(names)))
        step = Rounding(
            row=f"rounded {len(box.sums)}",
            round={name: chance.randint(-3, 9) for name in some},
            by=chance.randint(2, 12),
            down=tuple(each for each in range(box.most.size) if chance.random() < 0.5),
            out=tuple(name for name in question.ranges(box) if chance.random() < 0.5),
        )
    elif kind == "case":
        rules = question.rules
        places = [None, *(rules.name(node) for node in getattr(rules, "below", ()))]
        step = CaseSplit(split=chance.choice(CASES), at=chance.choice(places))
    try:
        question.parts(box, step)
    except ValueError:
        return None
    return step


def a_leaf(chance: random.Random, question: Question, box: Box) -> Step | None:
    """Return a leaf that closes a box, if one is found."""
    if question.refusal(box):
        return ByLaws(law="any")
    look = BoxRows(question, box)
    one = look.closing_row()
    if one is not None:
        return ByRows(rows={one: 1})
    some_rows = chance.sample(sorted({*look.names}), min(2, len({*look.names})))
    tried = [{name: chance.randint(1, 3) for name in some_rows}]
    found = Program(look).solve("better")
    if found is not None and found.multipliers:
        names = list(found.multipliers)
        largest = [look.row(name).largest for name in names]
        doubles = [found.multipliers[name] for name in names]
        tried += [
            {name: m for name, m in zip(names, some, strict=True) if m > 0}
            for some in [plain(doubles), *precise(doubles, largest)]
        ]
    closing = (ByRows(rows=each) for each in tried if each)
    return next((leaf for leaf in closing if question.closes(box, leaf)), None)


def a_tree(chance: random.Random, question: Question) -> list[Step]:
    """Return a random tree: boxes without a leaf are split, and left open after seven splits."""
    steps: list[Step] = []
    ahead, splits = [question.root], 0
    while ahead:
        box = ahead.pop()
        step = a_leaf(chance, question, box)
        for _ in range(5 if step is None and splits < SPLITS else 0):
            step = step or a_split(chance, question, box)
        if step is None:
            step = ByLaws(law="left open")
        elif not isinstance(step, ByLaws | ByRows):
            splits += 1
            ahead.extend(reversed(question.parts(box, step)))
        steps.append(step)
    return steps


@pytest.mark.parametrize("fair", [False, True])
def test_no_tree_shows_what_is_false(*, fair: bool) -> None:
    shown = false = 0
    for seed in SEEDS:
        found = judged(seed, fair=fair)
        chance = random.Random(seed)  # noqa: S311 - test data
        for question, is_false in questions(chance, found) if found else ():
            for _ in range(3):
                tree = a_tree(chance, question)
                try:
                    question.check(tree)
                except Open:
                    false += is_false
                    continue
                assert not is_false, (seed, tree)
                shown += 1
    assert shown > len(SEEDS) // 4
    assert false > len(SEEDS) // 4


def test_no_tree_shows_what_is_false_of_those_who_preempt_again() -> None:
    shown = false = spare = 0
    for seed in SEEDS[::3]:
        found = judged_next(seed)
        chance = random.Random(seed)  # noqa: S311 - test data
        for question, is_false in questions_next(chance, found) if found else ():
            tree = a_tree(chance, question)
            try:
                question.check(tree)
            except Open:
                false += is_false
                continue
            assert not is_false, (seed, tree)
            shown += 1
            rows = (step.rows for step in tree if isinstance(step, ByRows))
            spare += any(name.endswith("to spare") for each in rows for name in each)
    assert min(shown, false) > len(SEEDS) // 20
    assert spare > 0
