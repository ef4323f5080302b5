"""An ask of YuniKorn with all its legal sets, and the rules that trees stand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Final

import numpy as np

from planner.laws.yunikorn import Spared
from planner.objective.profiles import Measure
from planner.proof.box import Box, Row
from planner.proof.claims import BETTER
from planner.proof.measures import Bounded
from planner.proof.question import Question
from planner.proof.yunikorn import Setting, YuniKornRules, yunikorn_rules
from planner.reader.yunikorn import read_yunikorn_objects
from planner.solver.deadline import Deadline
from planner.solver.proving.grow import Effort, Grown, grow
from planner.solver.start import Given
from planner.solver.yunikorn.planning import Laws, YuniKornPlanning
from planner.solver.yunikorn.start import start
from planner.verifier.yunikorn import verify_yunikorn_case
from planner.verifier.yunikorn.case import Victim, YuniKornCase
from tests.subsets import subsets
from tests.yunikorn.building import Json, allocation, application, ask, cluster_value, node, queue

Keys = frozenset[str]
Counts = tuple[int, ...]

MEASURES: tuple[Measure, ...] = (
    ("workloads",),
    ("last_resort",),
    ("highest_priority",),
    ("priority_weight",),
    ("lost_work", "restart_cost"),
    ("excess_freed",),
    ("queues",),
    ("unfairness",),
    ("workloads", "excess_freed", "queues"),
    ("candidate_order",),
)
EFFORT: Final = Effort(steps=2_000, entries=10**9)
HALF: Final = 0.5


@dataclass
class Sets:
    """One ask with its legal sets, by the keys of their victims."""

    planning: YuniKornPlanning
    legal: frozenset[Keys]

    @classmethod
    def tried(cls, value: Json, laws: Laws, queue: str | None = None) -> Sets:
        """Try every set on every node, by the verifier: for the ask, or to bring a queue down."""
        planning = planning_of(value, laws, queue)
        return cls(planning, frozenset(accepted(planning)))

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of each allocation."""
        allocations = self.planning.problem.allocations
        return {one.allocation_key: i for i, one in enumerate(allocations)}

    def sparing(self) -> frozenset[Keys]:
        """Return the legal sets without the last tier."""
        problem = self.planning.problem
        last = problem.originator | problem.opted_out
        kept = {key for key, i in self.position.items() if last[i]}
        return frozenset(keys for keys in self.legal if not keys & kept)

    def rules(self, terms: Iterable[str], *, spare: bool = False) -> YuniKornRules:
        """Return the rules over classes that these terms do not tell apart."""
        planning = self.planning
        case, order = planning.case, planning.problem.order
        spared: Spared = "last-tier" if spare else "nobody"
        setting = Setting(case.cluster, case.asking, planning.rules, order, spared)
        rules = yunikorn_rules(setting)(planning.table, terms, ())
        assert isinstance(rules, YuniKornRules)
        return rules

    def counts(self, rules: YuniKornRules, sets: Iterable[Keys]) -> set[Counts]:
        """Return how many members of each class some sets have."""
        places = ([self.position[key] for key in keys] for keys in sets)
        return {tuple(rules.classes.counts(some) or ()) for some in places}

    def value(self, measure: Measure, keys: Keys) -> int:
        """Return a measure of a set."""
        terms = self.planning.table.evaluate([self.position[key] for key in sorted(keys)])
        return sum(terms[term] for term in measure)


def planning_of(value: Json, laws: Laws = "design", queue: str | None = None) -> YuniKornPlanning:
    """Make the ask of an instance ready, or a queue above its maximum, by its path."""
    given = Given("ask", rules=laws) if queue is None else Given(quota=queue)
    return start(read_yunikorn_objects(value, where="test"), given)


def guarded(seed: int) -> Json:
    """Draw a cluster in which the guaranteed of four leaves decides, and hardly anything else.

    One node has room for the ask, so that nothing has to be freed there, and the ask is within
    its own guaranteed: its victims need only an order. Each leaf guarantees a little of two
    types, and so may the queue above two of them.
    """
    chance = Random(seed)  # noqa: S311 - test data

    def amount(least: int, most: int) -> dict[str, int]:
        return {t: chance.randint(least, most) for t in chance.choice((("gpu", "mem"), ("gpu",)))}

    def leaf(name: str) -> Json:
        return queue(name, guaranteed=amount(0, 4))

    above = amount(1, 6) if chance.random() < HALF else {}
    queues = [queue("a", leaf("q1"), leaf("q2"), guaranteed=above), leaf("b"), leaf("c")]
    wanted = queue("wants", guaranteed={"gpu": 9, "mem": 9})
    held: dict[str, list[Json]] = {"root.a.q1": [], "root.a.q2": [], "root.b": [], "root.c": []}
    for number in range(7):
        held[chance.choice(list(held))].append(allocation(f"v{number}", amount(0, 3), number))
    running = [application(f"runs-{path}", path, *each) for path, each in held.items()]
    asking = application("asks", "root.wants", asks=(ask("ask", {"gpu": 1, "mem": 1}),))
    room = node("n1", {"gpu": 50, "mem": 50})
    return cluster_value([*queues, wanted], [room], [*running, asking])


def accepted(planning: YuniKornPlanning) -> Iterator[Keys]:
    """Yield every set that the verifier accepts on some node."""
    cluster, asking, rules = planning.case.cluster, planning.case.asking, planning.rules
    everything = [
        Victim(one, cluster.tree.leaf_of(application), application.application_id)
        for application in cluster.partition.applications
        for one in application.allocations
    ]
    for victims in subsets(everything, 1):
        cases = (YuniKornCase(cluster, asking, rules, room, victims) for room in cluster.nodes)
        if any(verify_yunikorn_case(case).accepted for case in cases):
            yield frozenset(victim.key for victim in victims)


def question(sets: Sets, rules: YuniKornRules, bounds: Sequence[tuple[Measure, int]]) -> Question:
    """Ask for a set within some bounds, the last of which is the one to be better on."""
    named = [Bounded(f"bound {i}", measure, most) for i, (measure, most) in enumerate(bounds)]
    if named:
        named[-1] = Bounded(BETTER, named[-1].measure, named[-1].most)
    return Question(rules, sets.planning.table, named, rules.root())


def answered(asked: Question) -> Grown:
    """Look for a tree, and let it be checked."""
    found = grow(asked, Deadline.after(60), EFFORT)
    if found.steps is not None:
        asked.check(found.steps)
    return found


def single(box: Box, counts: Counts) -> Box:
    """Return the part of a box with one set."""
    exactly = np.array(counts, dtype=np.int64)
    return Box(exactly, exactly, host=box.host, touched=box.touched)


def holds(box: Box, counts: Counts) -> bool:
    """Say whether a set is between the two that bound a box."""
    return bool(((box.least <= counts) & (np.array(counts) <= box.most)).all())


def satisfied(rows: Iterable[Row], counts: Counts, ranges: Mapping[str, tuple[int, int]]) -> bool:
    """Say whether a set keeps to all rows, with some values of their further quantities."""
    taken, matrix, missing = np.array(counts, dtype=np.int64), [], []
    names = sorted(ranges)
    for row in rows:
        short = row.least - int((row.amounts * taken[row.classes]).sum())
        if row.extra:
            matrix.append([-float(row.extra.get(name, 0)) for name in names])
            missing.append(-float(short))
        elif short > 0:
            return False
    if not matrix:
        return True
    limits = [ranges[name] for name in names]
    # A second, which no process that collects the tests of others has to spend.
    from scipy.optimize import linprog  # noqa: PLC0415

    found = linprog(np.zeros(len(names)), A_ub=matrix, b_ub=missing, bounds=limits)
    return bool(found.status == 0)
