"""A pending workload of Kueue, its plan, and the searches that questions about it are put to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from planner.commands.explain.inquiry import Answer, Asked, Bounds, Explainer, capped
from planner.commands.explain.kueue.candidacy import excluded_by, standing
from planner.commands.explain.kueue.change import KueueTrial, smallest_changes
from planner.commands.explain.kueue.clash import clash_in_words, minimal_clash, shortfalls
from planner.commands.explain.kueue.record import Clash, Explanation, Standing
from planner.errors import LookupFailed
from planner.objective.profiles import Profile
from planner.plan import Plan
from planner.solver.engine import Deadline
from planner.solver.given import Given
from planner.solver.kueue.explanation import hold_in_words
from planner.solver.kueue.solve import Prepared, prepare, settled, solve_planning
from planner.solver.kueue.turn import in_words, who_is_in_the_way
from planner.solver.search import Counts
from planner.solver.start import start
from planner.state import State

_SHOWN = 10


class KueueInquiry(Explainer[Standing, Clash, Explanation]):
    """One pending workload of Kueue with its optimal plan, to be asked about."""

    taken = "evicted"

    def __init__(
        self,
        state: State,
        given: Given,
        profile: Profile,
        costs: Mapping[str, int] | None,
        deadline: Deadline,
    ) -> None:
        self.state = state
        self.planning = start(state, given, costs)
        self._plan = solve_planning(self.planning, profile, deadline)
        super().__init__(self.planning.adopt(profile), deadline)
        self.greedy = self._plan.greedy or self.planning.greedy_plan()
        named = replace(given, pending=self._plan.preemptor)
        self._trial = KueueTrial(self.planning, named, costs, profile, deadline)

    @property
    def plan(self) -> Plan:
        """The optimal plan."""
        return self._plan

    @property
    def preemptor(self) -> str:
        """What people call the preemptor."""
        return self.plan.preemptor

    @property
    def searched(self) -> bool:
        """Whether there was anything to search: otherwise nothing has to go, or nothing can."""
        return settled(self.planning) is None

    @property
    def bounds(self) -> Sequence[Bounds]:
        """Alternatives keep to the caps, or else do without them."""
        return [Bounds(), Bounds(capped=False)] if self.profile.caps else [Bounds()]

    def find(self, name: str) -> str:
        """Return the key of a workload of the dump.

        Raises
        ------
        LookupFailed
            If it is not there.
        """
        if any(workload.key == name for workload in self.state.workloads):
            return name
        holding = [workload.key for workload in self.state.workloads if workload.holds_quota]
        shown = ", ".join(holding[:_SHOWN]) or "there are none"
        raise LookupFailed(
            self.state.source,
            f"there is no workload {name}",
            f"one of those that hold quota: {shown}",
        )

    def position(self, key: str) -> int | None:
        """Return where a workload stands in the problem, ``None`` if it is not in it."""
        return self._positions.get(key)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {one.key: i for i, one in enumerate(self.planning.problem.workloads)}

    @cached_property
    def _chosen(self) -> tuple[frozenset[str], frozenset[str]]:
        """Kueue's own victims, and those of the plan."""
        return frozenset(self.greedy.keys), frozenset(self.plan.keys)

    def key(self, position: int) -> str:
        """Return the workload at a position as ``namespace/name``."""
        return self.planning.problem.workloads[position].key

    def name(self, key: str) -> str:
        """Return the key: people call a workload by it."""
        return key

    def in_candidate_order(self, positions: Sequence[int]) -> list[int]:
        """Sort positions by Kueue's candidate order."""
        return self.planning.in_candidate_order(positions)

    def may_be_taken(self, position: int) -> bool:
        """Say whether no law excludes a workload by itself."""
        return excluded_by(self.planning, position) is None

    def asked(self, bounds: Bounds, apart: Collection[int] = ()) -> Asked:
        """Return a search in which the positions ``apart`` have classes of their own."""
        profile = capped(self.profile, bounds)
        prepared = prepare(self.planning, profile, self.deadline, self.greedy, apart)
        return Asked(prepared.search, partial(self._plan_of, prepared))

    def standing(self, key: str) -> Standing:
        """Say how the rules see a workload of the dump."""
        found = standing(self.planning, self.state, key, self.position(key))
        by_scheduler, by_plan = self._chosen
        mine = {"by_scheduler": key in by_scheduler, "by_plan": key in by_plan}
        return found.model_copy(update=mine)

    def place(self, standing: Standing) -> str:
        """Say by which reason a workload is a candidate, and where in Kueue's order."""
        place = f"place {standing.position} of {standing.candidates} in Kueue's order"
        return f"{standing.reason}, {place}"

    def clash(self) -> Clash:
        """Say why there is no plan, and what would change that."""
        problem = self.planning.problem
        ids, proved = minimal_clash(problem, self.deadline) if self.searched else (set(), True)
        changes, tried_all = smallest_changes(self._trial)
        return Clash(
            laws=clash_in_words(problem, ids),
            proved=proved,
            shortfalls=shortfalls(self.planning),
            changes=changes,
            tried_all=tried_all,
        )

    def explanation(self, answer: Answer[Standing, Clash]) -> Explanation:
        """Put an answer together; it says so where Kueue would never come to the preemptor."""
        plan, said = self._plan, answer.text
        found = who_is_in_the_way(self.planning, self.deadline) if self.greedy.victims else None
        reason = self.planning.held_back
        if found is not None:
            said = f"{said}. {in_words(plan.preemptor, plan.cluster_queue, found)}"
        elif reason is not None and reason.text not in said:
            said = f"{hold_in_words(plan.preemptor, reason)}. {said}"
        return Explanation(
            rules="kueue-classical" if self.planning.problem.fair is None else "kueue-fair",
            question=answer.question,
            answer=said,
            preemptor=plan.preemptor,
            cluster_queue=plan.cluster_queue,
            priority=plan.priority,
            objective=plan.objective,
            status=plan.status,
            victims=plan.keys,
            workloads=answer.standings,
            alternative=answer.other,
            optima=answer.optima,
            clash=answer.clash,
        )

    def _plan_of(self, prepared: Prepared, counts: Counts, proved: bool) -> Plan:  # noqa: FBT001
        """Return class counts as a plan that the verifier accepted."""
        planning, search = self.planning, prepared.search
        positions = planning.in_candidate_order(search.classes.take(counts))
        plan = planning.subject.plan(
            "optimum",
            "optimal" if proved else "feasible",
            "",
            objective=self.profile.name,
            victims=planning.describe_in_order(positions),
            borrowing=prepared.rules.attempt_of(search.classes, list(counts)),
            terms=planning.table.evaluate(positions),
        )
        return planning.accepted(plan)
