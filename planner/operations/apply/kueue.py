"""A plan for one gated preemptor, carried out where Kueue runs.

It is checked on the cluster as it is, by the checker that trusts no plan; then the steering of
``planner steer`` serves this one preemptor with this one plan, and lets Kueue choose nothing else.

Source: docs/design/steering.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

from planner.commands.check.plan import check
from planner.errors import InputError
from planner.objective.profiles import Profile
from planner.operations.apply.kueue_record import Applied, ApplyStatus
from planner.operations.steer.kueue.carry import Lease
from planner.operations.steer.kueue.decide import Policy
from planner.operations.steer.kueue.loop import Cluster, How, Steer
from planner.operations.steer.kueue.marks import boosting
from planner.operations.steer.kueue.mirror import marked
from planner.operations.steer.kueue.propose import Proposal, boosted
from planner.operations.steer.kueue.setup import missing_gates
from planner.operations.steer.record import Act, Line
from planner.plan.kueue import Plan
from planner.plan.record import Command, Commands
from planner.quantity import plural
from planner.reader import read_objects
from planner.solver.deadline import Deadline
from planner.state.kueue import State, of_kueue

MOST_CHANGES: Final = 8
BOOSTS_S: Final = 60.0
"""How long boosts are looked for before anything is written."""
AGAIN_S: Final = 2.0
"""The same while the preemptor waits."""
NO_GATE: Final = (
    "it has no preemption gate of the planner, so that Kueue decides for it before anybody can "
    "plan: `planner steer --manifests` prints the policy that gives new workloads their gate"
)
NO_VERSION: Final = (
    "has no resourceVersion in the dump, so that no command could tell whether it has changed "
    "since: planner snapshot keeps it"
)
RELEASE: Final = "planner steer --release takes back what is left"


class Question(NamedTuple):
    """A plan, and under what it was made: the objective and costs, as for ``planner.check``.

    ``agreed`` are the titles of the steps to which somebody said yes, if anybody was asked.
    """

    plan: Plan
    objective: str | Profile | None = None
    costs: Mapping[str, int] | None = None
    agreed: frozenset[str] | None = None

    def changes(self, state: State) -> list[str]:
        """Say what is not as the plan has it in a state, judged at the time of the plan."""
        now = state.model_copy(update={"now": self.plan.now})
        try:
            judged = check(now, self.plan, self.objective, self.costs)
        except InputError as error:
            return [str(error)]
        wrong = [f"{one.law}: {one.detail}" for one in judged.verdicts if not one.holds]
        levels = self.plan.certificate.levels if self.plan.certificate else ()
        # A level that had a tree must have it; one without has none now either.
        proved = {level.term for level in levels if level.proof == "certified"}
        wrong += [
            f"{claim.title} is not proved any more: {claim.detail}"
            for claim in judged.claims
            if claim.claim in proved and not claim.certified
        ]
        return wrong[:MOST_CHANGES]

    def proposal(self, state: State, within_s: float = BOOSTS_S) -> Proposal:
        """Return what steering is to do in a state: the plan, if it still holds there."""
        if changes := self.changes(state):
            return Proposal(why="; ".join(changes))
        found = boosted(state, self.plan, Deadline.after(within_s))
        wanted = [boosting(key, n, self.plan.preemptor) for key, n in found.boosts.items()]
        if self.agreed is not None and (other := {*wanted} - self.agreed):
            return Proposal(why=f"it would take what was not shown: {min(other)}")
        return found


def cannot_be_applied(plan: Plan, state: State) -> str:  # noqa: PLR0911 - one reason after another
    """Say why a plan cannot be carried out in a state, whatever else holds; empty if it can."""
    if misnamed := plan.about.misnamed:
        return misnamed
    reasons = {
        "it evicts nobody": not plan.victims,
        f"it is by the rules {plan.rule_options}, and not by Kueue's own": plan.by.replaces,
        "its flavors were chosen for least disruption: Kueue would assign its own": plan.flavors
        is not None,
    }
    if said := next((reason for reason, holds in reasons.items() if holds), ""):
        return said
    found = state.workloads.find(plan.preemptor)
    if found is None:
        return f"{plan.preemptor} is gone"
    preemptor = marked(found)
    if not preemptor.is_gated:
        return f"{plan.preemptor}: {NO_GATE}"
    if said := missing_gates(state):
        return said
    if preemptor.is_open or not preemptor.waits:
        return f"Kueue has been left to decide for {plan.preemptor}: its gate is open, or it is in"
    if preemptor.blocked_since is None:
        return f"{plan.preemptor} is not blocked on its gate: Kueue would not preempt for it now"
    return ""


def preview(question: Question, cluster: Cluster, options: Sequence[str]) -> Applied:
    """Compare a cluster with a plan; return the commands that carry it out, or why it cannot be."""
    plan = question.plan
    how = {**cluster.how, "now": plan.now}  # as the plan was made
    state = of_kueue(read_objects(cluster.take().value(), where="snapshot", **how))
    if said := cannot_be_applied(plan, state):
        return record_of(plan, "refused", said)
    if changes := question.changes(state):
        why = "the cluster is no longer as the plan has it"
        way_on = f"plan again: kubectl preemption-plan --pending {plan.preemptor} -o plan.json"
        found = {"changes": tuple(changes), "way_on": way_on}
        return record_of(plan, "refused", why).model_copy(update=found)
    reason, steps = steps_of(state, plan, options)
    if reason:
        return record_of(plan, "refused", reason)
    planned = record_of(plan, "planned", plural(len(steps), "step"))
    return planned.model_copy(update={"steps": steps})


def with_commands(state: State, plan: Plan, options: Sequence[str]) -> Plan:
    """Return a plan for a state with the commands that carry it out, or why there are none."""
    reason, steps = cannot_be_applied(plan, state), tuple[Command, ...]()
    if not reason:
        reason, steps = steps_of(state, plan, options)
    return plan.model_copy(update={"commands": Commands(reason=reason, steps=steps)})


def steps_of(state: State, plan: Plan, options: Sequence[str]) -> tuple[str, tuple[Command, ...]]:
    """Return why there are no commands, or those of all steps: boosts, the gate, boosts away."""
    proposal = boosted(state, plan, Deadline.after(BOOSTS_S))
    preemptor, *raised = (
        marked(one)
        for key in (plan.preemptor, *proposal.boosts)
        if (one := state.workloads.find(key)) is not None
    )
    unversioned = (f"{one.key} {NO_VERSION}" for one in (preemptor, *raised) if not one.version)
    if reason := proposal.why or next(unversioned, ""):
        return reason, ()
    boosts = [(one, proposal.boosts[one.key]) for one in raised]
    patches = [one.boosted(boost, preemptor.key) for one, boost in boosts]
    after = [one.with_boost(boost, preemptor.key).unboosted() for one, boost in boosts]
    each = (*patches, preemptor.opened(state.now), *after)
    return "", tuple(Command(title=one.title, command=one.command(options)) for one in each)


class Run:
    """A plan carried out by the loop of steering, which serves its one preemptor.

    ``tell`` is called with each line.
    """

    def __init__(
        self,
        question: Question,
        cluster: Cluster,
        seconds: Callable[[], float] = time.monotonic,
        lease: Lease | None = None,
        tell: Callable[[Line], None] = lambda _: None,
    ) -> None:
        self._plan, self._tell, self._acts = question.plan, tell, list[Act]()
        how = How(Policy(inf, "wait"), seconds=seconds, only=self._plan.preemptor)
        self._steer = Steer(
            cluster, lambda state, _: question.proposal(state, AGAIN_S), self._heard, how, lease
        )

    def _heard(self, line: Line) -> None:
        if isinstance(line, Act):
            self._acts.append(line)
        self._tell(line)

    def carry_out(self, wait_s: float | None) -> Applied:
        """Carry the plan out within so many seconds; take the boosts back in the end."""
        steer = self._steer
        try:
            steer.run(wait_s, until=lambda: bool(steer.last or steer.given_up))
        except KeyboardInterrupt:
            return self._ended("interrupted", "it was interrupted")
        except InputError as error:
            return self._ended("stopped", str(error))
        last = steer.last
        if last is None:
            opened = any(one.act == "open" for one in self._acts)
            why = steer.given_up or f"{wait_s or 0:g} s are over"
            return self._ended("otherwise" if opened else "stopped", why)
        as_planned = last.steered and last.came != "otherwise" and last.admitted
        said = f"{last.preemptor} {'holds quota now' if last.admitted else 'is gone'}"
        said = f"{said}; whom Kueue evicted: {last.came} ({len(last.evicted)})"
        more = {"evicted": last.evicted, "admitted": last.admitted}
        return self._ended("applied" if as_planned else "otherwise", said, **more)

    def _ended(self, status: ApplyStatus, said: str, **more: object) -> Applied:
        way_on = ""
        try:
            self._steer.take_back()
        except InputError as error:
            said, way_on = f"{said}; and then: {error}", RELEASE
        found = {"acts": tuple(self._acts), "way_on": way_on, **more}
        return record_of(self._plan, status, said).model_copy(update=found)


def record_of(plan: Plan, status: ApplyStatus, explanation: str) -> Applied:
    """Return the record of a run for a plan."""
    return Applied(
        preemptor=plan.preemptor, status=status, explanation=explanation, victims=plan.keys
    )
