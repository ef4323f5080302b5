"""The least disruptive plan in the place of the victims that Kueue chooses."""

from __future__ import annotations

from msgspec.structs import replace

from planner.case.kueue import Case
from planner.commands.boost.kueue.search import Search
from planner.commands.boost.kueue.trial import Trial
from planner.quota.kueue.holders import Holders
from planner.quota.kueue.placement import concerns, unknown
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.context import Search as Searched
from planner.reference.kueue.context import Target
from planner.reference.kueue.decision import Decision, with_places
from planner.reference.kueue.topology.assigning import Placing
from planner.research.simulate.simulate import BOOST, STABLE, Plans
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.stability import best_stable
from planner.solver.kueue.start import solve
from planner.state.clock import seconds_since
from planner.state.kueue import State


def optimum(
    state: State, plans: Plans, snapshot: Snapshot, preemptor: Preemptor, found: Decision
) -> Decision:
    """Put other victims into a decision of Kueue; Kueue itself decides who fits, or never can.

    Kueue also decides whether there are victims at all under classical preemption, where quota
    alone decides: a proof that there are none takes longer than all the rest, and Kueue nearly
    always finds victims where there are any. Under fair sharing, and where pods are placed on
    nodes, a plan may find victims where Kueue finds none.

    Kueue's own targets stand where the best plan has none (only pods are short, or fair sharing
    led Kueue to a set outside its own rules), and under ``boost`` where no boosts lead Kueue to the
    plan. They stand unproved where Kueue places the pods in a way that plans leave out.
    """
    if found.assignment.mode != "Preempt":
        return found
    placing = concerns(snapshot, preemptor)
    classical = not snapshot.configuration.fair_sharing_on
    if classical and not placing and not found.search.targets:
        return found
    if placing and unknown(state, snapshot, preemptor):
        plans.unproved += 1
        return found
    deadline = Deadline.after(plans.time_limit)
    # The seconds for which workloads have run are brought up to the clock of the snapshot.
    now = {
        node: Holders.of_records(
            one._replace(running_s=seconds_since(one.started_at, snapshot.now)) for one in some
        )
        for node, some in snapshot.admitted.items()
    }
    seen = replace(snapshot, admitted=now)
    planning = Planning(Case(state, seen, preemptor, found.assignment))
    if plans.decider == STABLE:
        steady, free = best_stable(solve, planning, plans.profile, deadline)
        plan = steady if steady.victims else free
    else:
        plan = solve(planning, plans.profile, deadline)
    plans.note(plan)
    if plans.decider == BOOST:
        # Kueue has to evict exactly the planned victims with some boosts that are found.
        trial = Trial(snapshot, preemptor, plan.assignment, frozenset(plan.keys))
        search = Search(trial, deadline)
        if not trial.victims <= search.today.keys() or search.some().choice is None:
            return found
    if not plan.victims:
        return found
    held = {one.key: one for some in snapshot.admitted.values() for one in some}
    targets = tuple(Target(held[one.workload], one.reason) for one in plan.victims)
    searched = Searched(targets, found.search.attempts, plan.borrowing)
    return with_places(
        replace(found, search=searched), Placing.of_preemptor(snapshot, preemptor, Chance())
    )
