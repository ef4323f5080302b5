"""The least disruptive plan in the place of the victims that Kueue chooses."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from planner.commands.boost.kueue.search import Search
from planner.commands.boost.kueue.trial import Trial
from planner.commands.simulate.simulate import BOOST, STABLE, Asked, Unproved
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Holders
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.context import Search as Searched
from planner.reference.kueue.context import Target
from planner.reference.kueue.decision import Decision, with_places
from planner.reference.kueue.topology.assigning import Placing
from planner.solver.deadline import Deadline
from planner.solver.kueue.placement import concerns, unknown
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import solve_planning
from planner.solver.kueue.stability import best_stable
from planner.state.clock import seconds_since
from planner.state.kueue import State


class KueueOptimum:
    """Puts other victims into a decision of Kueue; Kueue itself decides who fits, or never can.

    Kueue also decides whether there are victims at all under classical preemption, where quota
    alone decides: a proof that there are none takes longer than all the rest, and Kueue nearly
    always finds victims where there are any. Under fair sharing, and where pods are placed on
    nodes, a plan may find victims where Kueue finds none.

    Kueue's own targets stand where the best plan has none (only pods are short, or fair sharing
    led Kueue to a set outside its own rules), and under ``boost`` where no boosts lead Kueue to the
    plan. They stand unproved where Kueue places the pods in a way that plans leave out.
    """

    def __init__(self, state: State, asked: Asked, unproved: Unproved) -> None:
        """Prepare to decide."""
        self._state: Final = state
        self._asked: Final = asked
        self._unproved: Final = unproved

    def __call__(self, snapshot: Snapshot, preemptor: Preemptor, found: Decision) -> Decision:
        """Return Kueue's decision with the least disruptive targets for its flavors."""
        if found.assignment.mode != "Preempt":
            return found
        placing = concerns(snapshot, preemptor)
        classical = not snapshot.configuration.fair_sharing_on
        if classical and not placing and not found.search.targets:
            return found
        if placing and unknown(self._state, snapshot, preemptor):
            self._unproved.count += 1
            return found
        plan = self._plan(snapshot, preemptor, found.assignment)
        if not plan.victims:
            return found
        held = {one.key: one for some in snapshot.admitted.values() for one in some}
        targets = tuple(Target(held[one.workload], one.reason) for one in plan.victims)
        search = Searched(targets, found.search.attempts, plan.borrowing)
        return with_places(replace(found, search=search), Placing.of(snapshot, preemptor, Chance()))

    def _plan(self, snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> Plan:
        """Return the plan, without victims where Kueue's own targets are to stand."""
        asked, deadline = self._asked, Deadline.after(self._asked.time_limit)
        # The seconds for which workloads have run are brought up to the clock of the snapshot.
        now = {
            node: Holders(
                one._replace(running_s=seconds_since(one.started_at, snapshot.now)) for one in some
            )
            for node, some in snapshot.admitted.items()
        }
        seen = replace(snapshot, admitted=now)
        planning = Planning(self._state, seen, preemptor, assignment=assignment)
        if asked.decider == STABLE:
            steady, free = best_stable(solve_planning, planning, asked.profile, deadline)
            plan = steady if steady.victims else free
        else:
            plan = solve_planning(planning, asked.profile, deadline)
        self._unproved.note(plan)
        if asked.decider == BOOST:
            # Kueue has to evict exactly the planned victims with some boosts that are found.
            trial = Trial(snapshot, preemptor, plan.assignment, frozenset(plan.keys))
            search = Search(trial, deadline)
            if not trial.victims <= search.today.keys() or search.some().choice is None:
                return plan.model_copy(update={"victims": ()})
        return plan
