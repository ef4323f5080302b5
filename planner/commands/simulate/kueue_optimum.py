"""The least disruptive plan in the place of the victims that Kueue chooses."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from planner.commands.simulate.simulate import Unproved
from planner.objective.profiles import Profile
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.snapshot import Admitted, Preemptor, Snapshot
from planner.reference.kueue.assigned import Tried
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.decision import Decision, decide, with_places
from planner.reference.kueue.target import Search, Target
from planner.reference.kueue.topology.assigning import Placing
from planner.solver.deadline import Deadline
from planner.solver.kueue.placement import concerns, unknown
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import solve_planning
from planner.state import State
from planner.state.clock import seconds_since


class KueueOptimum:
    """Decides like Kueue, flavors included, but for the victims.

    Where the best plan has none, Kueue's own targets stand: only pods are short, or fair sharing
    led Kueue to a set outside its own rules. They stand unproved where Kueue places the pods in a
    way that plans leave out.
    """

    def __init__(
        self, state: State, profile: Profile, time_limit: float | None, unproved: Unproved
    ) -> None:
        """Prepare to decide; ``time_limit`` are the seconds that one decision may take."""
        self._state: Final = state
        self._profile: Final = profile
        self._time_limit: Final = time_limit
        self._unproved: Final = unproved

    def __call__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        """Return Kueue's flavors, and the least disruptive targets for them."""
        found = decide(snapshot, preemptor, nominated=nominated, tried=tried)
        # Only whom to evict is replaced: who fits, or can never fit, is Kueue's to say.
        if found.assignment.mode != "Preempt":
            return found
        if concerns(snapshot, preemptor) and unknown(self._state, snapshot, preemptor):
            self._unproved.count += 1
            return found
        planning = Planning(
            self._state, _up_to_date(snapshot), preemptor, assignment=found.assignment
        )
        plan = solve_planning(planning, self._profile, Deadline.after(self._time_limit))
        self._unproved.note(plan)
        if not plan.victims:
            return found
        held = {one.key: one for some in snapshot.admitted.values() for one in some}
        targets = tuple(Target(held[one.workload], one.reason) for one in plan.victims)
        attempts = found.search.attempts
        chosen = replace(found, search=Search(targets, attempts, plan.borrowing))
        return with_places(chosen, Placing.of(snapshot, preemptor, Chance()))


def _up_to_date(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot in which everybody has run for as long as its clock says."""

    def now(one: Admitted) -> Admitted:
        return one._replace(running_s=seconds_since(one.started_at, snapshot.now))

    admitted = {node: [now(one) for one in some] for node, some in snapshot.admitted.items()}
    return replace(snapshot, admitted=admitted)
