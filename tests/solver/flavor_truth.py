"""The best plan over all flavors, found by looking at all assignments and all legal sets of each.

Written from docs/semantics/kueue.md §4.1 to §4.4: every combination of listed flavors is
judged by itself, from the beginning. What is shared with the product is the terms, apart from
ranks, and who may run on which nodes, as the verifier has it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import planner
from planner.models.kueue.laws import eligible
from planner.objective.kueue import term_table
from planner.objective.profiles import Measure, Profile
from planner.plan.kueue import Plan
from planner.problem.kueue import build_problem
from planner.quota.kueue.amount import saturating_add, subtract
from planner.quota.kueue.assignment import (
    Assignment,
    FlavorChoice,
    PodSetFlavors,
    contested,
    total_request,
)
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.request import PodSetRequest
from planner.quota.kueue.snapshot import take_snapshot
from planner.quota.kueue.tree import FlavorResource
from planner.state.kueue import State
from planner.state.queues import ResourceGroup
from planner.verifier.kueue_topology.leaves import obstacle_between
from tests.brute_force import Gone, legal_sets, question_of
from tests.oracle.cluster import Held
from tests.oracle.fair import Search, candidates
from tests.oracle.legality import collected
from tests.oracle.question import Question
from tests.solver.truth import value_of
from tests.solver.ways import solve

Terms = Mapping[str, int]
MOST_CANDIDATES = 9


class TooLargeError(Exception):
    """There are too many candidates to look at all sets."""


class Slot(NamedTuple):
    """Podsets that are handled together, and one resource group: they get one flavor."""

    members: tuple[int, ...]
    covering: ResourceGroup
    wanted: Mapping[str, int]


class Answer(NamedTuple):
    """A legal set under the assignment of a number, with its terms and candidate positions."""

    number: int
    victims: Gone
    terms: Terms
    places: list[int]


class FlavorTruth:
    """One pending workload whose legal sets under all permitted flavors can be looked at."""

    def __init__(self, state: State, pending: str) -> None:
        self.state, self.pending = state, pending
        self.snapshot = take_snapshot(state)
        self.preemptor = find_preemptor(state, self.snapshot, pending)
        self.fair = self.snapshot.configuration.fair_sharing_on
        self.greedy = planner.greedy(state, pending)
        self.own = self.greedy.assignment
        names = [request.name for request in self.preemptor.pod_sets]
        assigned = [pods.name for pods in self.own.pod_sets]
        self.own_complete = self.own.mode != "NoFit" and assigned == names
        self.anything = question_of(self.snapshot, self.preemptor, Assignment(mode="NoFit"))

    @cached_property
    def requests(self) -> list[PodSetRequest]:
        """What the podsets ask for at Kueue's own counts, with pods where they are covered."""
        counts = [base.count for base in self.preemptor.pod_sets]
        if self.own_complete:
            counts = [
                pods.count if pods.count is not None else n
                for pods, n in zip(self.own.pod_sets, counts, strict=True)
            ]
        spec = self.snapshot.queues[self.preemptor.queue].spec
        covered = any("pods" in group.covered_resources for group in spec.resource_groups)
        found = []
        for base, count in zip(self.preemptor.pod_sets, counts, strict=True):
            scaled = base.scaled(count)
            totals = {**scaled.totals, "pods": scaled.count} if covered else scaled.totals
            found.append(PodSetRequest(base.pod_set, scaled.count, totals))
        return found

    @cached_property
    def slots(self) -> list[Slot]:
        """All choices to make, in Kueue's order."""
        groups: dict[str, list[int]] = {}
        for i, request in enumerate(self.requests):
            topology = request.pod_set.topology_request
            name = (topology.pod_set_group_name if topology else "") or f"/{i}"
            groups.setdefault(name, []).append(i)
        found = []
        for members in groups.values():
            total: dict[str, int] = {}
            for i in members:
                for resource, amount in self.requests[i].totals.items():
                    total[resource] = saturating_add(total.get(resource, 0), amount)
            for covering in self.snapshot.queues[self.preemptor.queue].spec.resource_groups:
                wanted = {r: n for r, n in total.items() if r in covering.covered_resources}
                if wanted:
                    found.append(Slot(tuple(members), covering, wanted))
        return found

    @cached_property
    def hopeless(self) -> bool:
        """Whether something is asked for that no flavor can give (§4.1)."""
        spec = self.snapshot.queues[self.preemptor.queue].spec
        covered = {name for group in spec.resource_groups for name in group.covered_resources}
        configuration = self.snapshot.configuration
        lenient = configuration.gate("QuotaCheckStrategy") and (
            configuration.resources.quota_check_strategy == "IgnoreUndeclared"
        )
        asked = [
            (resource, amount)
            for request in self.requests
            for resource, amount in request.totals.items()
        ]
        undeclared = any(amount and name not in covered for name, amount in asked)
        served = {i for slot in self.slots for i in slot.members}
        stops = any(
            request.totals and i not in served for i, request in enumerate(self.requests[:-1])
        )
        active = self.snapshot.is_active(self.preemptor.queue)
        return not active or stops or (undeclared and not lenient)

    @cached_property
    def permitted(self) -> list[Assignment]:
        """Every permitted assignment, in the order of the flavors in the ClusterQueue."""
        if self.hopeless:
            return []
        lists = [[quota.name for quota in slot.covering.flavors] for slot in self.slots]
        judged = (self._judge(chosen) for chosen in product(*lists))
        return [assignment for assignment in judged if assignment is not None]

    def _judge(self, chosen: tuple[str, ...]) -> Assignment | None:
        assumed: dict[int, int] = {}
        flavors: list[dict[str, FlavorChoice]] = [{} for _ in self.requests]
        for slot, flavor in zip(self.slots, chosen, strict=True):
            if not self._may_run(slot, flavor):
                return None
            for resource, amount in slot.wanted.items():
                fr = self.snapshot.fr_or_none(flavor, resource)
                mode = "Fit"
                if fr is not None:
                    assumed[fr] = saturating_add(assumed.get(fr, 0), amount)
                    mode = self._mode(self.snapshot.tree.frs[fr], assumed[fr])
                elif amount:
                    mode = "NoFit"
                if mode == "NoFit":
                    return None
                for i in slot.members:
                    if resource in self.requests[i].totals:
                        choice = {"flavor": flavor, "mode": mode}
                        flavors[i][resource] = FlavorChoice.model_validate(choice)
        modes = {choice.mode for each in flavors for choice in each.values()}
        return Assignment(
            mode="Preempt" if "Preempt" in modes else "Fit",
            pod_sets=tuple(
                PodSetFlavors(name=request.name, count=request.count, flavors=each)
                for request, each in zip(self.requests, flavors, strict=True)
            ),
        )

    def _may_run(self, slot: Slot, flavor: str) -> bool:
        """Walk the listed flavors; a selector that is not valid ends the walk."""
        for quota in slot.covering.flavors:
            known = self.snapshot.flavors.get(quota.name)
            obstacle = None
            if known is not None:
                pods = (self.requests[i].pod_set.template.spec for i in slot.members)
                obstacle = next(filter(None, (obstacle_between(pod, known) for pod in pods)), None)
            if obstacle is not None and obstacle.fatal:
                return False
            if quota.name == flavor:
                return known is not None and obstacle is None
        return False

    def _mode(self, fr: FlavorResource, value: int) -> str:
        """docs/semantics/kueue.md §4.3, with nobody removed."""
        queue, tree = self.anything.queue, self.anything.tree
        if value > tree.potential(queue, fr):
            return "NoFit"
        if value <= max(0, tree.available(queue, fr, 0)):
            return "Fit"
        policies = self.anything.policies
        while_borrowing = policies["borrowWithinCohort"]["policy"] != "Never" or (
            self.fair and policies["reclaimWithinCohort"] != "Never"
        )
        nominal = tree.nodes[queue].nominal.get(fr, 0)
        may = value <= nominal or while_borrowing or self._may_reclaim(fr, value)
        return "Preempt" if may else "NoFit"

    def _may_reclaim(self, fr: FlavorResource, value: int) -> bool:
        tree, at = self.anything.tree, self.anything.queue
        rest = value
        for above in tree.above(at):
            if saturating_add(tree.usage(at, fr, 0), rest) <= tree.subtree(at, fr):
                return True
            rest = subtract(rest, tree.local_free(at, fr, 0))
            at = above
        return False

    @cached_property
    def assignments(self) -> list[Assignment]:
        """Kueue's own first, then those that ask for or contest something else, each once."""
        found = [self.own] if self.own_complete else []
        seen = [self._asks(assignment) for assignment in found]
        for assignment in self.permitted:
            if self._asks(assignment) not in seen:
                found.append(assignment)
                seen.append(self._asks(assignment))
        return found

    def _asks(self, assignment: Assignment) -> tuple[dict[int, int], frozenset[int]]:
        request = total_request(assignment, self.preemptor, self.snapshot)
        return request, contested(assignment, self.snapshot)

    def _legal(self, assignment: Assignment) -> set[Gone]:
        question = question_of(self.snapshot, self.preemptor, assignment)
        if question.fits(0, borrow=True):
            return {frozenset()}
        if assignment.mode != "Preempt":
            return set()
        if len(self._candidates(question)) > MOST_CANDIDATES:
            raise TooLargeError
        return legal_sets(self.snapshot, self.preemptor, assignment, fair=self.fair)

    def _candidates(self, question: Question) -> list[Held]:
        if not self.fair:
            return [candidate.held for candidate in collected(question)[0]]
        search, held = Search(question), question.cluster.held
        return [held[index] for index in candidates(question) if search.borrows(0, held[index])]

    @cached_property
    def ranks(self) -> dict[int, int]:
        """The rank of each priority among all who are candidates, whatever is contested."""
        frs = frozenset[int]().union(*(self._asks(a)[1] for a in self.assignments))
        contested = frozenset(map(self.snapshot.tree.frs.__getitem__, frs))
        candidates = self._candidates(replace(self.anything, contested=contested))
        priorities = sorted({held.priority for held in candidates})
        return {priority: rank for rank, priority in enumerate(priorities, start=1)}

    def ranked(self, terms: Terms, victims: Gone) -> dict[str, int]:
        """Return terms with ``highest_priority`` and ``priority_weight`` on the common scale."""
        held = self.anything.cluster.held
        ranks = [self.ranks[one.priority] for one in held if one.key in victims and not one.evicted]
        each = {f"victims@{p}": ranks.count(rank) for p, rank in self.ranks.items()}
        weight = sum(2 ** min(r, 20) for r in ranks)
        return {
            **terms,
            "highest_priority": max(ranks, default=0),
            "priority_weight": weight,
            **each,
        }

    def levels(self, profile: Profile) -> list[Measure]:
        """Return the levels of a profile, one for each priority where it asks for that."""
        each: list[Measure] = [(f"victims@{p}",) for p in sorted(self.ranks, reverse=True)]
        levels = (each if level == ("victims@each",) else [level] for level in profile.levels)
        return [one for several in levels for one in several]

    @cached_property
    def answers(self) -> list[Answer]:
        """Every legal set under every assignment."""
        return [answer for number in range(len(self.assignments)) for answer in self._under(number)]

    def _under(self, number: int) -> Iterator[Answer]:
        assignment = self.assignments[number]
        problem = build_problem(self.snapshot, self.preemptor, assignment)
        table = term_table(problem, self.snapshot, eligible(problem))
        position = {workload.key: i for i, workload in enumerate(problem.workloads)}
        for victims in self._legal(assignment):
            chosen = [position[key] for key in victims]
            places = sorted(int(problem.order[i]) for i in chosen)
            yield Answer(number, victims, self.ranked(table.evaluate(chosen), victims), places)

    def best(self, profile: Profile, answers: list[Answer]) -> Answer | None:
        """Return the best of some answers, under the caps that they can keep together."""
        kept = self._keeping(profile, answers)

        def rank(answer: Answer) -> tuple[list[int], int, int, list[int]]:
            values = [value_of(answer.terms, level) for level in self.levels(profile)]
            return values, len(answer.victims), answer.number, answer.places

        return min(kept, key=rank, default=None)

    def _keeping(self, profile: Profile, answers: list[Answer]) -> list[Answer]:
        greedy = self.ranked(self.greedy.terms, frozenset(self.greedy.keys))
        caps: dict[Measure, int] = {}
        for cap in profile.caps if self.greedy.victims else ():
            caps[cap] = value_of(greedy, cap)
            kept = [a for a in answers if all(value_of(a.terms, c) <= n for c, n in caps.items())]
            if not kept:
                del caps[cap]
        return [a for a in answers if all(value_of(a.terms, c) <= n for c, n in caps.items())]

    def solve(self, profile: Profile) -> Plan:
        """Return the program's answer."""
        return solve(self.state, self.pending, objective=profile, flavors="optimal")
