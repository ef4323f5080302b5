"""An ask of YuniKorn, its plan, and the searches that questions about it are put to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from planner.commands.explain.inquiry import Answer, Asked, Bounds, Explainer, capped
from planner.commands.explain.yunikorn.candidacy import excluded_by, standing
from planner.commands.explain.yunikorn.change import YuniKornTrial, smallest_changes
from planner.commands.explain.yunikorn.clash import clash_in_words, minimal_clash
from planner.commands.explain.yunikorn.record import (
    YuniKornClash,
    YuniKornExplanation,
    YuniKornStanding,
)
from planner.commands.explain.yunikorn.shortfall import shortfalls
from planner.errors import LookupFailed
from planner.laws import Spared
from planner.objective.profiles import Profile
from planner.objective.yunikorn import chosen_node
from planner.plan import YuniKornPlan
from planner.solver.deadline import Deadline
from planner.solver.search import Counts, Search
from planner.solver.start import Given
from planner.solver.yunikorn.start import (
    LAST_TIER,
    is_spared,
    prepare_ask,
    settled_ask,
    solve,
    start,
)
from planner.state import YuniKornState

_SHOWN = 10


class YuniKornInquiry(Explainer[YuniKornStanding, YuniKornClash, YuniKornExplanation]):
    """One ask of YuniKorn with its optimal plan, to be asked about."""

    taken = "preempted"

    def __init__(
        self,
        state: YuniKornState,
        given: Given,
        profile: Profile,
        costs: Mapping[str, int] | None,
        deadline: Deadline,
    ) -> None:
        self.planning = start(state, given, costs)
        self._plan = solve(self.planning, profile, deadline)
        super().__init__(self.planning.set_objective(profile), deadline)
        self.greedy = self._plan.greedy or self.planning.greedy_plan()
        named = replace(given, pending=self._plan.preemptor)
        self._trial = YuniKornTrial(self.planning, named, costs, profile, deadline)

    @property
    def plan(self) -> YuniKornPlan:
        """The optimal plan."""
        return self._plan

    @property
    def preemptor(self) -> str:
        """What people call the ask."""
        return self._plan.pod or self._plan.preemptor

    @property
    def searched(self) -> bool:
        """Whether there was anything to search: otherwise nothing has to go, or nothing can."""
        return settled_ask(self.planning) is None

    @property
    def bounds(self) -> Sequence[Bounds]:
        """Alternatives keep to the caps, or do without them; the last tier goes last of all."""
        known = [Bounds()]
        if self.profile.caps:
            known.append(Bounds(capped=False))
        if self.spared != "nobody":
            known.append(Bounds(capped=False, last_resort=True))
        return known

    @property
    def spared(self) -> Spared:
        """Whom YK-01 spares because some legal set does without them."""
        plan, problem = self._plan, self.planning.problem
        if not plan.victims:
            return "nobody"
        victims = [self._positions[key] for key in plan.keys]
        if LAST_TIER in self.profile.levels and is_spared(problem, "last-tier", victims):
            return "last-tier"
        return "opted-out" if is_spared(problem, "opted-out", victims) else "nobody"

    def find(self, name: str) -> str:
        """Return the key of an allocation that is named by its key or its pod.

        Raises
        ------
        LookupFailed
            If it is not there, or several are.
        """
        allocations = self.planning.problem.allocations
        if any(one.allocation_key == name for one in allocations):
            return name
        keys = [one.allocation_key for one in allocations if one.pod == name]
        if len(keys) == 1:
            return keys[0]
        found = f"there is no allocation {name}"
        known = [one.pod or one.allocation_key for one in allocations]
        if keys:
            found, known = f"{len(keys)} allocations are of pod {name}", keys
        shown = ", ".join(known[:_SHOWN]) or "there are none"
        expected = f"an allocation key, or the namespace/name of its pod: {shown}"
        raise LookupFailed(self.planning.state.source, found, expected)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {one.allocation_key: i for i, one in enumerate(self.planning.problem.allocations)}

    def position(self, key: str) -> int | None:
        """Return where an allocation stands in the problem, ``None`` if it is not in it."""
        return self._positions.get(key)

    def key(self, position: int) -> str:
        """Return the key of the allocation at a position."""
        return self.planning.problem.allocations[position].allocation_key

    def name(self, key: str) -> str:
        """Return the pod of an allocation, or its key where no pod is known."""
        return self.planning.problem.allocations[self._positions[key]].pod or key

    def in_candidate_order(self, positions: Sequence[int]) -> list[int]:
        """Sort positions by the core's candidate order."""
        return self.planning.in_candidate_order(positions)

    def may_be_taken(self, position: int) -> bool:
        """Say whether no law excludes an allocation by itself, but perhaps as a last resort."""
        return excluded_by(self.planning, position) is None

    def asked(self, bounds: Bounds, apart: Collection[int] = ()) -> Asked:
        """Return a search in which the positions ``apart`` have classes of their own."""
        search = prepare_ask(
            self.planning,
            capped(self.profile, bounds),
            self.deadline,
            self.greedy,
            apart,
            last_resort=bounds.last_resort,
        ).search
        return Asked(search, partial(self._plan_of, search))

    def standing(self, key: str) -> YuniKornStanding:
        """Say how the laws see an allocation."""
        found = standing(self.planning, self._positions[key], spared=self.spared)
        mine = {"by_scheduler": key in self.greedy.keys, "by_plan": key in self.plan.keys}
        return found.model_copy(update=mine)

    def place(self, standing: YuniKornStanding) -> str:
        """Say where a candidate stands in the core's order on its node."""
        place = f"place {standing.node_position} of {standing.node_candidates}"
        return f"{place} in YuniKorn's order on node {standing.node}"

    def clash(self) -> YuniKornClash:
        """Say why there is no plan, and what would change that."""
        planning = self.planning
        ids, proved = minimal_clash(planning.problem, planning.subject.rules, self.deadline)
        changes, tried_all = smallest_changes(self._trial)
        return YuniKornClash(
            laws=clash_in_words(planning, ids),
            proved=proved,
            shortfalls=shortfalls(planning),
            changes=changes,
            tried_all=tried_all,
        )

    def explanation(self, answer: Answer[YuniKornStanding, YuniKornClash]) -> YuniKornExplanation:
        """Put an answer together."""
        plan = self._plan
        return YuniKornExplanation(
            rules=plan.rules,
            question=answer.question,
            answer=answer.text,
            preemptor=plan.preemptor,
            pod=plan.pod,
            application=plan.application,
            queue=plan.queue,
            priority=plan.priority,
            objective=plan.objective,
            status=plan.status,
            node=plan.node,
            victims=plan.keys,
            allocations=answer.standings,
            alternative=answer.other,
            optima=answer.optima,
            clash=answer.clash,
            pods=self._pods(answer),
        )

    def _pods(self, answer: Answer[YuniKornStanding, YuniKornClash]) -> dict[str, str]:
        """Return the pods of all allocations that an answer names."""
        keys = [*self._plan.keys, *(one.allocation for one in answer.standings)]
        if answer.other is not None:
            keys += answer.other.victims
        for plan in answer.optima.plans if answer.optima else ():
            keys += plan
        for change in answer.clash.changes if answer.clash else ():
            keys += change.victims
        named = {key: self.name(key) for key in dict.fromkeys(keys)}
        return {key: name for key, name in named.items() if name != key}

    def _plan_of(self, search: Search, counts: Counts, proved: bool) -> YuniKornPlan:  # noqa: FBT001
        """Return class counts as a plan that the verifier accepted.

        It claims no proof to it: whether law 1 could be kept is what the bounds of a question say.
        """
        planning = self.planning
        positions = planning.in_candidate_order(search.classes.take(counts))
        node = chosen_node(planning.problem, positions)
        plan = planning.subject.plan(
            "optimum",
            "feasible",
            "",
            objective=self.profile.name,
            node=None if node is None else planning.problem.nodes[node],
            victims=positions,
            terms=planning.table.evaluate(positions),
        )
        status = "optimal" if proved else "feasible"
        return planning.accepted(plan).model_copy(update={"status": status})
