"""What the recorded legal sets say of a line: the best there is, found by looking at them all."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, lru_cache

from planner.laws.kueue import FS_BORROWING
from planner.models.kueue.laws import eligible
from planner.objective.applied import apply_profile, spelled_out
from planner.objective.kueue import term_table
from planner.objective.profiles import Measure, Profile
from planner.objective.terms import TermTable
from planner.plan.asked import AssignmentInput
from planner.plan.kueue import Plan
from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import Assignment, flavor_resources, read_assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.state.kueue import State
from tests import recorded
from tests.conftest import recorded_root
from tests.solver.ways import solve

Terms = Mapping[str, int]
Victims = frozenset[str]


def frees_pods(line: recorded.Line, state: State) -> Callable[[Victims], bool]:
    """Return the question whether enough pods are free without some victims, where they are quota.

    The recorded sets are those after which Kueue's search ends, which does not look at pods. The
    cycle does, and evicts nobody for a workload that would not fit after all: the answer
    ``skipped`` of docs/semantics/kueue-features.md §5.
    """
    assignment = recorded.assignment_of(line)
    asked: dict[str, int] = {}
    for pods in assignment.pod_sets:
        if "pods" in pods.flavors:
            flavor = pods.flavors["pods"].flavor
            asked[flavor] = asked.get(flavor, 0) + (pods.count or 0)
    if not asked:
        return lambda _: True
    snapshot = take_snapshot(state, extra=flavor_resources(assignment))
    queue = find_preemptor(state, snapshot, line["pending"]).queue

    def free(victims: Victims) -> bool:
        usage = snapshot.usage.copy()
        for node, admitted in snapshot.admitted.items():
            for one in admitted:
                if one.key in victims:
                    usage.remove(node, one.usage)
        return all(
            count <= max(0, usage.available(queue, snapshot.fr(flavor, "pods")))
            for flavor, count in asked.items()
        )

    return free


class Truth:
    """One recorded line whose legal sets are all known."""

    def __init__(self, line: recorded.Line, state: State) -> None:
        self.id: str = line["id"]
        self.state = state
        self.pending: str = line["pending"]
        self.given: AssignmentInput | None = line.get("assignment")
        self._assignment = recorded.assignment_of(line)
        exhaustive = line["expect"]["exhaustive"]
        self.keys: list[str] = [candidate["workload"] for candidate in exhaustive["candidates"]]
        masks = {mask for attempt in exhaustive["attempts"] for mask in attempt["legal"]}
        found = [self._named(mask) for mask in sorted(masks)]
        free = frees_pods(line, state)
        self.legal: list[Victims] = [victims for victims in found if free(victims)]

    def _named(self, mask: int) -> Victims:
        return frozenset(key for bit, key in enumerate(self.keys) if mask >> bit & 1)

    def solve(
        self,
        objective: str | Profile,
        costs: Mapping[str, int] | None = None,
        time_limit: float | None = None,
        *,
        certify: bool | None = None,
    ) -> Plan:
        """Return the program's answer."""
        return solve(
            self.state,
            self.pending,
            objective=objective,
            costs=costs,
            assignment=self.given,
            time_limit=time_limit,
            certify=certify,
        )

    def random_costs(self, seed: int) -> dict[str, int]:
        """Return a random cost for every candidate."""
        chance = random.Random(f"{self.id}/{seed}")  # noqa: S311 - test data
        return {key: chance.randint(0, 9) for key in self.keys}

    def setting(self) -> tuple[Problem, Snapshot, Preemptor, Assignment]:
        """Return the problem, and what it was built from."""
        snapshot = take_snapshot(self.state, extra=flavor_resources(self._assignment))
        preemptor = find_preemptor(self.state, snapshot, self.pending)
        assignment = read_assignment(self._assignment, preemptor)
        return build_problem(snapshot, preemptor, assignment), snapshot, preemptor, assignment

    def measured(self, profile: Profile | None = None) -> Measured:
        """Return the legal sets with their terms, and with those that only a profile counts."""
        problem, table = self._own
        if profile is None:
            return Measured(self, problem, table)
        return Measured(self, problem, apply_profile(profile, table, dict, dict))

    @cached_property
    def _own(self) -> tuple[Problem, TermTable]:
        """The problem with the terms that every profile has."""
        problem, snapshot, *_ = self.setting()
        # Ranks and places are those among Kueue's candidates: under fair sharing it looks at their
        # cohorts only at their turn (docs/semantics/kueue.md §6.2 and §6.4).
        later = {FS_BORROWING.id} if problem.fair is not None else set[str]()
        listed = eligible(problem, without=later)
        return problem, term_table(problem, snapshot, listed)


class Measured:
    """The legal sets of a line with every term; the terms themselves are tested elsewhere."""

    def __init__(self, truth: Truth, problem: Problem, table: TermTable) -> None:
        self.position = {workload.key: i for i, workload in enumerate(problem.workloads)}
        self.order: list[int] = problem.order.tolist()
        self.table = table
        self.terms: dict[Victims, Terms] = {
            victims: table.evaluate([self.position[key] for key in victims])
            for victims in truth.legal
        }

    def keeping(self, caps: Mapping[Measure, int]) -> list[Victims]:
        """Return the legal sets that keep to all caps."""
        return [
            victims
            for victims, terms in self.terms.items()
            if all(value_of(terms, cap) <= most for cap, most in caps.items())
        ]

    def caps(self, profile: Profile, greedy: Plan) -> dict[Measure, int]:
        """Return the caps that can be met together, the earlier ones first."""
        kept: dict[Measure, int] = {}
        for cap in profile.caps if greedy.victims else ():
            wider = {**kept, cap: value_of(greedy.terms, cap)}
            if self.keeping(wider):
                kept = wider
        return kept

    def canonical(self, profile: Profile, greedy: Plan) -> Victims:
        """Return the answer: level by level, then fewest names, then the first in order."""
        levels = spelled_out(profile, self.table).levels

        def rank(victims: Victims) -> tuple[list[int], int, list[int]]:
            values = [value_of(self.terms[victims], level) for level in levels]
            places = sorted(self.order[self.position[key]] for key in victims)
            return values, len(victims), places

        return min(self.keeping(self.caps(profile, greedy)), key=rank)


def value_of(terms: Terms, measure: Measure) -> int:
    """Return a measure of some terms."""
    return sum(terms[term] for term in measure)


def truths(name: str, every: int, *, fair: bool) -> Iterator[Truth]:
    """Yield those of every so-manieth line of a file that are with or without fair sharing.

    Of the project's own copies, which are few, it is every line.
    """
    step = every if recorded_root() else 1
    places = range(step - 1, sum(1 for _ in recorded.lines(name)), step)
    found = (_truth(name, place) for place in places)
    return (one for one in found if one and one.state.configuration.fair_sharing_on == fair)


def named(name: str, ids: Collection[str]) -> list[Truth]:
    """Return the lines of a file that have these ids, as far as they are there."""
    return [one for one in map(_known, recorded.named(name, ids)) if one]


@lru_cache(maxsize=512)
def _truth(name: str, place: int) -> Truth | None:
    """Return a line whose legal sets are known, None of another.

    A file is asked for by many tests, and most of them take few of its lines.
    """
    return _known(recorded.line(name, place))


def _known(line: recorded.Line) -> Truth | None:
    if "exhaustive" not in line["expect"] or not recorded.asks_the_state(line):
        return None
    return Truth(line, recorded.state_of(line))
