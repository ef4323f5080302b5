"""What the recorded legal sets say of an ask of YuniKorn: the best there is, among them all."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from msgspec.structs import replace

from planner.models.yunikorn.candidates import adjusted_priorities, eligible
from planner.objective.applied import apply_profile, spelled_out
from planner.objective.profiles import PROFILES, Measure, Profile
from planner.objective.yunikorn import yunikorn_term_table
from planner.plan import Level
from planner.plan.yunikorn import YuniKornPlan
from planner.reader.yunikorn import read_yunikorn_objects
from planner.solver.deadline import Deadline
from planner.solver.finder import solve_levels
from planner.solver.levels import level_of
from planner.solver.start import Given
from planner.solver.yunikorn.planning import Laws, YuniKornPlanning
from planner.solver.yunikorn.start import prepare_ask, start
from tests.conftest import TEST_ALL
from tests.solver.ways import solve
from tests.yunikorn.legality import candidates_of, last_tier_of, opted_out_of, sets_of
from tests.yunikorn.recorded import Line, lines, step

SAMPLE = 120
"""One line in so many is tried by default."""

FEW = 3
"""And of the files of few lines, one in so many."""

LAWS: tuple[Laws, ...] = ("design", "code")

Terms = Mapping[str, int]
Victims = frozenset[str]


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, whether ``planner.solve`` gave it or the search within it."""

    status: str
    victims: Victims
    greedy: YuniKornPlan
    levels: tuple[Level, ...]
    plan: YuniKornPlan | None = None
    """Nothing where it was the search."""


class YuniKornTruth:
    """One recorded line whose legal sets are all known, on one side of the laws."""

    def __init__(self, line: Line, laws: Laws) -> None:
        self.id: str = line["id"]
        self.line = line
        self.laws: Laws = laws
        self.state = read_yunikorn_objects(line, where=self.id)
        self.ask: str = line["ask"]["allocationKey"]
        self.keys = candidates_of(line)
        self.last_tier = last_tier_of(line)
        self.opted_out = opted_out_of(line)
        self.legal: set[Victims] = set().union(*sets_of(line, f"yunikorn-{laws}").values())
        self._found: dict[str, Found] = {}

    @property
    def permitted(self) -> set[Victims]:
        """The legal sets without who opted out; all, if there is none (law 1)."""
        return {victims for victims in self.legal if not victims & self.opted_out} or self.legal

    @property
    def is_searched(self) -> bool:
        """Whether preemption is in question: the ask does not fit now, and may preempt (YK-11)."""
        conditions = self.line["expect"]["preconditions"]
        may = all(conditions[name] for name in ("preemptionEnabled", "allowPreemptOther"))
        return may and conditions["notTriggered"] and not conditions["allocatableNow"]

    def solve(self, objective: str, costs: Mapping[str, int] | None = None) -> Found:
        """Return the program's answer; the search's, where the program has no need to search."""
        if costs is not None:
            return self._solve(objective, costs)
        if objective not in self._found:
            self._found[objective] = self._solve(objective, None)
        return self._found[objective]

    def _solve(self, objective: str, costs: Mapping[str, int] | None) -> Found:
        if not self.is_searched:
            return self._search(objective, costs)
        plan = solve(self.state, self.ask, objective, costs, rules=self.laws)
        assert plan.greedy is not None
        levels = plan.certificate.levels if plan.certificate else ()
        return Found(plan.status, frozenset(plan.keys), plan.greedy, levels, plan)

    def _search(self, objective: str, costs: Mapping[str, int] | None) -> Found:
        """Search as if the ask might preempt: the lists do not look at YK-11."""
        planning = self.planning(costs)
        planning.table = apply_profile(PROFILES[objective], planning.table, dict, dict)
        profile = spelled_out(PROFILES[objective], planning.table)
        greedy = planning.greedy_plan()
        ready = prepare_ask(planning, profile, Deadline(), greedy)
        answer = solve_levels(ready.search, profile.levels)
        positions: Sequence[int] = ()
        if ready.search.incumbent is not None:
            positions = ready.search.classes.take(ready.search.incumbent)
        victims = [planning.problem.allocations[one].allocation_key for one in positions]
        found = answer.levels.items()
        levels = tuple(level_of(each, least.value, least.bound) for each, least in found)
        return Found(answer.outcome, frozenset(victims), greedy, levels)

    def planning(self, costs: Mapping[str, int] | None = None) -> YuniKornPlanning:
        """Return the problem of the ask with its terms, as if it might preempt."""
        planning = start(self.state, Given(self.ask, rules=self.laws, costs=costs))
        if not planning.problem.may_preempt:
            problem = replace(planning.problem, may_preempt=True)
            allowed, adjusted = eligible(problem), adjusted_priorities(problem)
            planning.problem, planning.eligible = problem, allowed
            now = planning.case.cluster.now
            planning.table = yunikorn_term_table(problem, now, allowed, adjusted, costs)
        return planning

    def random_costs(self, seed: int) -> dict[str, int]:
        """Return a random cost for every candidate."""
        chance = random.Random(f"{self.id}/{seed}")  # noqa: S311 - test data
        return {key: chance.randint(0, 9) for key in self.keys}

    def measured(self, profile: Profile | None = None) -> Measured:
        """Return the legal sets with their terms, and with those that only a profile counts."""
        return Measured(self, profile)


class Measured:
    """The legal sets of a line with every term; the terms themselves are tested elsewhere."""

    def __init__(self, truth: YuniKornTruth, profile: Profile | None = None) -> None:
        planning = truth.planning()
        keys = [one.allocation_key for one in planning.problem.allocations]
        self.table = (
            apply_profile(profile, planning.table, dict, dict) if profile else planning.table
        )
        self.last_tier, self.opted_out = truth.last_tier, truth.opted_out
        self.order = {key: int(planning.problem.order[i]) for i, key in enumerate(keys)}
        self.terms: dict[Victims, Terms] = {
            victims: self.table.evaluate([keys.index(key) for key in victims])
            for victims in truth.legal
        }

    def sparing(self, some: Victims) -> list[Victims]:
        """Return the legal sets without some candidates."""
        return [victims for victims in self.terms if not victims & some]

    def keeping(self, caps: Mapping[Measure, int], among: Collection[Victims]) -> list[Victims]:
        """Return the sets that keep to all caps."""
        return [
            victims
            for victims in among
            if all(value_of(self.terms[victims], cap) <= most for cap, most in caps.items())
        ]

    def permitted(self, levels: Collection[Measure]) -> list[Victims]:
        """Return the sets that law 1 permits: originators go last where they are counted."""
        among = self.sparing(self.last_tier) if ("last_resort",) in levels else []
        return among or self.sparing(self.opted_out) or list(self.terms)

    def within_caps(self, profile: Profile, greedy: YuniKornPlan) -> list[Victims]:
        """Return the permitted sets that keep to the caps that can be met together."""
        among = self.permitted(profile.levels)
        for cap in profile.caps if greedy.victims else ():
            among = self.keeping({cap: value_of(greedy.terms, cap)}, among) or among
        return among

    def best(self, profile: Profile, greedy: YuniKornPlan) -> tuple[list[int], list[Victims]]:
        """Return the least levels under the caps that can be met together, and who has them."""
        among = self.within_caps(profile, greedy)
        least = min(self.levels(profile, victims) for victims in among)
        return least, [one for one in among if self.levels(profile, one) == least]

    def levels(self, profile: Profile, victims: Victims) -> list[int]:
        """Return the levels of a profile, then the number of victims."""
        levels = spelled_out(profile, self.table).levels
        return [*(value_of(self.terms[victims], level) for level in levels), len(victims)]

    def first(self, among: Collection[Victims]) -> Victims:
        """Return the first set by the core's candidate order."""
        return min(among, key=lambda victims: sorted(self.order[key] for key in victims))


def value_of(terms: Terms, measure: Measure) -> int:
    """Return a measure of some terms."""
    return sum(terms[term] for term in measure)


@lru_cache(maxsize=2 if TEST_ALL else 64)
def truths(name: str, laws: Laws) -> Sequence[YuniKornTruth]:
    """Return every so-manieth line of a file."""
    return [YuniKornTruth(line, laws) for line in lines(name, step(name, SAMPLE, FEW))]
