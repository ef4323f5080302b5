"""What to do for one preemptor: its plan, and the boosts that make Kueue carry the plan out.

Boosts that work are enough here, not the smallest: a preemptor waits for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

import planner.solver.engine
import planner.solver.kueue.start  # noqa: F401 - both loaded before anybody waits
from planner.commands.boost.kueue.search import Search
from planner.commands.boost.kueue.trial import Trial
from planner.coverage.answer import covered
from planner.errors import PlannerError, one_line
from planner.objective.profiles import Profile
from planner.operations.steer.kueue.decide import Replay
from planner.plan.kueue import Plan
from planner.quota.kueue.placement import snapshot_for
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.reference.kueue.cycle.nomination import why_never_nominated
from planner.reference.kueue.decision import outcomes
from planner.solver.deadline import Deadline
from planner.solver.start import Given, solve, start
from planner.state.kueue import State
from planner.state.kueue_workload import BOOST_ANNOTATION
from planner.state.name import not_allowed
from planner.term import lost_by

PLAN_S: Final = 2.0
BOOSTS_S: Final = 0.5
"""How long a plan, and boosts for it, are looked for at most, in seconds."""


class Proposal(Struct, frozen=True):
    """A plan for a preemptor, and the boosts with which Kueue chooses it; none if it does anyhow.

    ``own`` are those whom Kueue would evict, ``spared_s`` is the lost work that the plan saves
    beside that, in accelerator-seconds. ``why`` says why there is no way to have the plan.
    """

    victims: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    boosts: Mapping[str, int] = {}
    spared_s: int = 0
    why: str = ""


def propose(state: State, key: str, profile: Profile) -> Proposal:
    """Plan for a preemptor under an objective, and look for boosts."""
    try:
        planning = start(state, Given(key, certify=False))  # trees prove, and take time
        plan = covered(state, solve(planning, profile, Deadline.after(PLAN_S)))
    except PlannerError as error:
        return Proposal(why=f"there is no plan: {one_line(str(error))}")
    if not isinstance(plan, Plan) or not plan.victims:
        return Proposal(why=f"there is no plan: {plan.explanation}")
    return boosted(state, plan, Deadline.after(BOOSTS_S))


def boosted(  # noqa: PLR0911 - one reason after the other
    state: State, plan: Plan, deadline: Deadline
) -> Proposal:
    """Look for boosts for a plan of this state, and say what it is beside Kueue's own choice."""
    own = plan.greedy.keys if plan.greedy else ()
    lost = [lost_by(one.terms) for one in (plan, plan.greedy) if one]
    proposal = Proposal(frozenset(plan.keys), frozenset(own), spared_s=lost[-1] - lost[0])
    if proposal.victims == proposal.own:
        return proposal

    def without(why: str) -> Proposal:
        return Proposal(proposal.victims, proposal.own, why=why)

    if plan.status == "conditional":
        missing = ", ".join(dict.fromkeys(one.title for one in plan.coverage))
        return without(f"the plan is conditional, for the planner does not model: {missing}")
    snapshot = snapshot_for(state, None, (), plan.preemptor)
    preemptor = find_preemptor(state, snapshot, plan.preemptor)
    search = Search(Trial(snapshot, preemptor, plan.assignment, proposal.victims), deadline)
    if foreign := proposal.victims - search.today.keys():
        return without(f"no boosts can make Kueue evict {min(foreign)}: it is no candidate")
    found = search.quick()
    if found.choice is None:
        proved = "proved: no boosts" if found.proved else "no boosts were found that"
        return without(f"{proved} make Kueue choose the plan")
    boosts = search.boosts(found.choice)
    named = [one for key in boosts if (one := state.workloads.find(key)) is not None]
    if taken := [one.key for one in named if BOOST_ANNOTATION in one.metadata.annotations]:
        return without(f"{taken[0]} has a boost already, which is not ours to change")
    if odd := not_allowed(boosts):
        return without(odd)
    return Proposal(proposal.victims, proposal.own, boosts, proposal.spared_s)


def replayed(state: State, snapshot: Snapshot, key: str) -> Replay:
    """Say what Kueue would do for a workload if its gates were open.

    Whether others of its ClusterQueue come first is not looked at: a workload that is blocked has
    had its turn. Where Kueue leaves victims to chance, all are named that it may take.
    """
    try:
        preemptor = find_preemptor(state, snapshot, key)
    except PlannerError:
        return Replay()
    if why_never_nominated(state, snapshot, preemptor.workload) is not None:
        return Replay()
    found = outcomes(snapshot, preemptor)
    victims = {target.workload.key for one in found for target in one.search.targets}
    return Replay(frozenset(victims), bool(victims) or found[0].assignment.mode == "Fit")


def snapshot_of(state: State) -> Snapshot:
    """Return what Kueue sees of a state, nodes included where the state has them."""
    return take_snapshot(state, placing=bool(state.nodes))
