"""Rows of a queue that stays over its quota to the end (KQ-07) admit what the law does, no more."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest

from planner.objective.profiles import PROFILES
from planner.plan.proof import Narrowing
from planner.proof.box import Row
from planner.proof.kueue import KueueRules
from planner.proof.question import Question
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, start
from tests.cluster import PENDING, cohort, pending, queue, running, state_of

HELD = 1, 1, 2, 4
PAIRS = (9, 1), (1, 4), (2, 2), (1, 1), (3, 0), (2, 3), (1, 2)
"""What each victim holds of two resources."""
ROWS = "excess ", "last ", "one last "


Amounts = Mapping[str, int] | int


def question_of(nominal: Amounts, held: Sequence[Amounts], lent: Amounts) -> Question:
    """Return the question whether any set is legal: a wants back all that b borrows."""
    state = state_of(
        queue("a", lent, "c", reclaim="Any"),
        queue("b", nominal, "c"),
        *(running(f"w{n}", "b", each) for n, each in enumerate(held)),
        pending("a", lent),
    )
    planning = start(state, Given(PENDING))
    assert isinstance(planning, Planning)
    return planning.claims(planning.set_objective(PROFILES["no-regret"]), ()).infeasible()


def admits(rows: Iterable[Row], counts: Sequence[int], *chosen: str) -> bool:
    """Say whether rows hold with some quantities at 1, and all others at 0."""
    return holds(rows, counts, Counter(chosen))


def _keys(question: Question) -> list[str]:
    """Return the key of the first workload of each class."""
    assert isinstance(question.rules, KueueRules)
    return [one.key for one in question.rules.first]


def most_held(gone: int, beside: int, room: int) -> Fraction:
    """Return what a knapsack holds of one resource that has room for so much of the other."""
    most = Fraction(0)
    for pair in sorted(PAIRS, key=lambda p: -inf if not p[beside] else -p[gone] / p[beside]):
        part = min(Fraction(1), Fraction(room, pair[beside])) if pair[beside] else Fraction(1)
        most, room = most + part * pair[gone], room - int(part * pair[beside])
        if part < 1:
            break
    return most


@pytest.mark.parametrize("nominal", [*product([10, 12, 14], [6, 8, 10])])
def test_rows_with_two_resources_in_one_of_which_a_queue_is_over(nominal: tuple[int, int]) -> None:
    """They admit what the law does, with a small last victim of any size, and fill a knapsack."""
    names, used = ("cpu", "gpu"), [sum(each) for each in zip(*PAIRS, strict=True)]
    lent = [have - ours for have, ours in zip(used, nominal, strict=True)]
    question = question_of(
        dict(zip(names, nominal, strict=True)),
        [dict(zip(names, pair, strict=True)) for pair in PAIRS],
        dict(zip(names, lent, strict=True)),
    )
    found = question.rows(question.root)
    rows = {name: row for name, row in found.items() if name.endswith("queue/b")}
    of_b = [f"{name} in flavor default over at queue/b" for name in names]
    room = [have - ours - 1 for have, ours in zip(used, nominal, strict=True)]
    sizes = [sorted({pair[r] for pair in PAIRS}) for r in range(2)]
    large = [[one for one in sizes[r] if 4 * one >= sizes[r][-1]] for r in range(2)]
    small = [max(size for size in sizes[r] if size not in large[r]) for r in range(2)]
    last = [
        [f"last {one} {names[r]} in flavor default of queue/b" for one in large[r]] for r in (0, 1)
    ]
    assert {quantity for row in rows.values() for quantity in row.extra} == {
        *of_b,
        *last[0],
        *last[1],
    }
    for r in range(2):
        assert rows[of_b[r]].extra[of_b[r]] == room[r] + small[r]
        assert rows[of_b[1 - r]].extra[of_b[r]] == int(most_held(1 - r, r, room[r] + sizes[r][-1]))
    order = [int(key.removeprefix("ns/w")) for key in _keys(question)]
    choices = [(), *((of_b[r], *more) for r in range(2) for more in [(), *zip(last[r])])]
    for counts in product((0, 1), repeat=len(PAIRS)):
        gone = [PAIRS[n] for n, count in zip(order, counts, strict=True) if count]
        sums = [sum(each) for each in zip((0, 0), *gone, strict=True)]
        legal = any(sums[r] - one[r] <= room[r] for one in gone for r in range(2))
        back = [max([small[r], *(one[r] for one in gone if one[r] in large[r])]) for r in range(2)]
        bounded = any(sums[r] - back[r] <= room[r] for r in range(2))
        admitted = any(admits(rows.values(), counts, *chosen) for chosen in choices)
        assert admitted == bounded, gone
        assert admitted or not legal, gone


@pytest.mark.parametrize("nominal", [4, 5, 6, 7])
def test_rows_with_the_size_of_the_last_victim(nominal: int) -> None:
    """Queue b holds 8, more than its ``nominal``; a wants back all that b borrows."""
    question = question_of(nominal, HELD, sum(HELD) - nominal)
    root = question.root
    size = [HELD[int(name.removeprefix("ns/w"))] for name in _keys(question)]
    rows = [row for name, row in question.rows(root).items() if name.startswith(ROWS)]
    last = sorted({name for row in rows for name in row.extra})
    assert len(rows) == 2 + len({*HELD})
    for counts in product(*(range(most + 1) for most in root.most.tolist())):
        gone = [one for one, count in zip(size, counts, strict=True) for _ in range(count)]
        # All but the last, which had best be the largest, leave the queue over its quota.
        legal = sum(HELD) - (sum(gone) - max(gone, default=0)) > nominal
        assert any(admits(rows, counts, chosen) for chosen in ("", *last)) == legal, gone


OF_B, OF_C = (1, 2, 2, 4), (1, 3, 3)
KEPT = (0, 0, 0), (4, 0, 0), (4, 2, 0), (4, 2, 3), (0, 2, 3), (6, 5, 1)
"""What queues b and c keep of their nominal quota, and cohort d, which has c, of its own."""


@pytest.mark.parametrize(("unit", "more"), [(1, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("kept", KEPT, ids=str)
def test_rows_of_a_cohort_below_which_a_part_is_kept(
    kept: tuple[int, int, int], unit: int, more: int
) -> None:
    """They say that what all free there, less the last victim's size, leaves it over its quota.

    Where what is kept is no number of whole units, they may say a little less.
    """
    by_b, by_c, by_d = (unit * each + more * (each > 0) for each in kept)
    state = state_of(
        queue("a", 40 * unit, "root", reclaim="Any"),
        cohort("s", "root", nominal=unit),
        queue("b", by_b, "s", lending=0),
        cohort("d", "s", nominal=by_d, lending=0),
        queue("c", by_c, "d", lending=0),
        *(running(f"b{n}", "b", unit * each) for n, each in enumerate(OF_B)),
        *(running(f"c{n}", "c", unit * each) for n, each in enumerate(OF_C)),
        pending("a", 40 * unit),
    )

    by = {"b": sum(OF_B) * unit - by_b, "c": sum(OF_C) * unit - by_c, "d": 0}
    by["d"] = max(0, by["c"] - by_d)
    room = by["b"] + by["d"] - unit - 1

    def freed(gone: Mapping[str, int], *, most: float = inf) -> int:
        """Return what victims free at cohort s, if no more than ``most`` is freed there."""

        def up(name: str, amount: int, most: float) -> int:
            return amount if by[name] > most else min(amount, by[name])

        below = most if by["d"] > most else inf
        return up("b", gone["b"], most) + up("d", up("c", gone["c"], below), most)

    planning = start(state, Given(PENDING))
    assert isinstance(planning, Planning)
    question = planning.claims(planning.set_objective(PROFILES["no-regret"]), ()).infeasible()
    assert isinstance(question.rules, KueueRules)
    root, victims = question.root, [*question.rules.first]
    rows = [row for name, row in question.rows(root).items() if name.endswith("cohort/s")]
    names = sorted({name for row in rows for name in row.extra})
    ends = [question.ranges(root)[name] for name in names]
    values = [
        dict(zip(names, each, strict=True)) for each in product(*(range(m + 1) for _, m in ends))
    ]
    for counts in product(*(range(most + 1) for most in root.most.tolist())):
        going = [one for one, count in zip(victims, counts, strict=True) for _ in range(count)]
        gone, sizes = Counter[str](), [0]
        for one in going:
            gone[one.key[3]] += sum(one.usage.values())
            sizes.append(sum(one.usage.values()))
        spared = [
            Counter({**gone, one.key[3]: gone[one.key[3]] - size})
            for one, size in zip(going, sizes[1:], strict=True)
        ]
        legal = not going or any(freed(some) <= room for some in spared)
        bounded = freed(gone, most=room) - max(sizes) <= room
        admitted = any(holds(rows, counts, each) for each in values)
        assert admitted >= legal, gone
        assert more or not rows or admitted == bounded, gone
    everybody = Counter(b=sum(OF_B) * unit, c=sum(OF_C) * unit)
    assert rows or freed(everybody, most=room) - max(OF_B) * unit <= room


def holds(rows: Iterable[Row], counts: Sequence[int], values: Mapping[str, int]) -> bool:
    """Say whether rows hold for so many of each class and so much of each quantity."""
    return all(
        sum(int(n) * counts[k] for k, n in zip(row.classes, row.amounts, strict=True))
        + sum(c * values[name] for name, c in row.extra.items())
        >= row.least
        for row in rows
    )


def test_rows_about_a_queue_that_loses_nobody_in_a_narrowed_box_are_left_out() -> None:
    state = state_of(
        queue("a", {"cpu": 24, "memory": 14}, "c", reclaim="Any"),
        queue("b", {"cpu": 10, "memory": 6}, "c"),
        queue("d", {"cpu": 10, "memory": 6}, "c"),
        *(
            running(f"{name}{n}", name, {"cpu": cpu, "memory": memory})
            for name in "bd"
            for n, (cpu, memory) in enumerate(PAIRS)
        ),
        pending("a", {"cpu": 18, "memory": 10}),
    )
    planning = start(state, Given(PENDING))
    assert isinstance(planning, Planning)
    question = planning.claims(planning.set_objective(PROFILES["no-regret"]), ()).infeasible()
    of_d = [k for k, key in enumerate(_keys(question)) if key.startswith("ns/d")]
    box = question.root.without(np.array(of_d))
    (narrow,) = question.parts(box, Narrowing(narrow={"cpu in flavor default at cohort/c": 1}))
    told = {name.rpartition("/")[2] for name in question.rows(narrow) if "one over at" in name}
    assert told == {"b"}
    assert not narrow.is_single
