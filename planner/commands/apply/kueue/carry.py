"""A plan carried out: the preemptor waits, the victims are treated, the preemptor goes on.

Before that, the cluster must still be as the plan has it. While the LocalQueue of the preemptor is
held, Kueue looks at no workload that waits in it, and so cannot choose other victims before all
planned victims are treated. The hold is lifted at once after that, while the victims still hold
their quota, so that no other workload gets it (docs/design/applying.md §3: each other order failed
on a live cluster). An annotation of the LocalQueue says whose hold it is: an interrupted run can be
continued, or undone, also from another machine.

The commands of these steps also stand at the end of a plan, for the objects of a state.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from math import isfinite
from typing import Any, Final

from planner.commands.apply.kueue.cluster import (
    BOOSTED,
    HELD,
    LOCAL_QUEUES,
    OPEN,
    Call,
    Cluster,
    Evictions,
    Surprise,
    Treatment,
    hold,
    lift,
    mark_of,
    unboost,
)
from planner.commands.apply.record import Applied, ApplyStatus, Step, Way
from planner.commands.check.plan import check
from planner.errors import InputError
from planner.kubectl.kueue_resource import WORKLOADS, LiveObject
from planner.objective.profiles import Profile
from planner.plan.kueue import Plan
from planner.plan.record import Command, Commands
from planner.scheduler import OWN
from planner.state.kueue import State
from planner.state.kueue_workload import Workload
from planner.state.queues import LocalQueue

MAX_CHANGES: Final = 8
SAME: Final = "Kueue evicts just these by itself"
UNTESTED: Final = (
    "under fair sharing nobody has tried this way on a live cluster, and it is doubtful: shares "
    "choose the queue that gives first"
)
ONLY_JOBS: Final = (
    "only Jobs were tried on a live cluster: other kinds of work may behave otherwise"
)


def digest_of(plan: Plan) -> str:
    """Return the digest that names a plan in the cluster: of its preemptor, clock and victims."""
    content = [plan.preemptor, plan.now.isoformat(), sorted(plan.keys)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def cannot_be_applied(plan: Plan, way: Way) -> str:
    """Say why a live Kueue cannot carry out a plan; empty if it can."""
    greedy = plan.greedy
    held_back = plan.held_back or (greedy.held_back if greedy else None)
    before = greedy.in_the_way if greedy else ()
    evicted = any(one.evicted for one in plan.victims)
    reasons = {
        "it evicts nobody": not plan.victims,
        "it is for Kueue as KEP-83 proposed it, which runs nowhere": plan.rules == "kep83",
        "it places pods at will, which Kueue does not": plan.placement == "any",
        "its flavors were chosen for least disruption: Kueue would assign its own": plan.flavors
        is not None,
        f"Kueue never comes to {plan.preemptor}: {', '.join(before)} is before it": bool(before),
        "it counts on workloads that are being evicted already, which no boost changes": evicted
        and way == "boosts",
    }
    if held_back is not None:
        return f"Kueue does nothing for {plan.preemptor} in its next cycle: {held_back.text}"
    return next((reason for reason, holds in reasons.items() if holds), "")


def is_what_kueue_does(plan: Plan) -> bool:
    """Say whether Kueue evicts just the planned victims by itself."""
    return plan.greedy is not None and set(plan.greedy.keys) == set(plan.keys)


def remarks(plan: Plan, way: Way) -> Iterator[str]:
    """Yield what a user should know before a plan is carried out."""
    if plan.status == "conditional":
        features = ", ".join(dict.fromkeys(one.title for one in plan.coverage))
        yield f"the plan is conditional, for the planner does not model all of: {features}"
    if way == "eviction":
        yield UNTESTED if plan.rules == "kueue-fair" else ONLY_JOBS


def changes(
    state: State, plan: Plan, objective: str | Profile | None, costs: Mapping[str, int] | None
) -> list[str]:
    """Say what is no longer as the plan has it; nothing if the plan can be carried out.

    The preemptor and the victims of the plan are compared with the objects. Then the whole plan is
    judged anew, as ``planner check`` does: a workload that came, went or changed since counts if it
    changes a law's verdict, a value, a rank, Kueue's own choice, or a proof.

    ``state`` is the cluster as it is now, read with the clock and the release of the plan, which
    was made under ``objective`` and ``costs``, as for ``planner.check``.
    """
    found = list(_of_workloads(state, plan)) or list(_of_the_rest(state, plan, objective, costs))
    return found[:MAX_CHANGES]


def _of_workloads(state: State, plan: Plan) -> Iterator[str]:
    workload = state.workloads.find(plan.preemptor)
    if workload is None:
        yield f"{plan.preemptor} is gone"
    elif workload.holds_quota:
        yield f"{plan.preemptor} holds quota already"
    elif not workload.is_pending:
        yield f"{plan.preemptor} does not wait any more"
    for victim in plan.victims:
        key, queue = victim.workload, victim.cluster_queue
        workload = state.workloads.find(key)
        if workload is None:
            yield f"{key} is gone"
        elif not workload.holds_quota:
            yield f"{key} holds no quota any more"
        elif workload.admitted_by != queue:
            yield f"{key} runs in ClusterQueue {workload.admitted_by}, not in {queue}"
        elif workload.is_true("Evicted") and not victim.evicted:
            yield f"{key} is being evicted already"


def _of_the_rest(
    state: State, plan: Plan, objective: str | Profile | None, costs: Mapping[str, int] | None
) -> Iterator[str]:
    try:
        # The question is that of the plan: who carries it out has chosen it.
        judged = check(
            state,
            plan,
            objective,
            costs,
            plan.assignment,
            rules=plan.rule_options or None,
            stable=plan.stable,
            placement=plan.placement or OWN,
            assume=plan.assume,
        )
    except InputError as error:
        yield str(error)
        return
    for verdict in judged.verdicts:
        if not verdict.holds:
            yield f"{verdict.law}: {verdict.detail}"
    # A level that two engines agreed on has no tree, then or now; one that had a tree must have it.
    levels = plan.certificate.levels if plan.certificate else ()
    proved = {level.term for level in levels if level.proof == "certified"}
    for claim in judged.claims:
        if claim.claim in proved and not claim.certified:
            yield f"{claim.title} is not proved least any more: {claim.detail}"


TRIES: Final = 5
"""How often a change is tried: other clients write the status of a workload, too."""
GO_ON: Final = "the same command goes on; with --undo it takes back what was done"
UNDO_AGAIN: Final = "the same command takes back the rest"


@dataclass
class Patience:
    """How long to wait, and by which clocks.

    ``wait_s`` is how many seconds the preemptor may take to get its quota; ``poll_s`` how many lie
    between two looks at it, or two tries of a change.
    """

    wait_s: float = 120.0
    poll_s: float = 2.0
    seconds: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))


@dataclass
class Carrying:
    """One run of a plan, with the steps done so far.

    The ``cluster`` is still as the ``plan`` has it, and ``treatment`` is how workloads are changed.
    ``evictions`` are those of before the run, each a key and since when: later ones are not among
    them. ``tell`` is called with each step before it is done.

    All methods but `run` raise ``Surprise`` or ``InputError`` if the cluster is not as it has to
    be, or kubectl fails.
    """

    plan: Plan
    treatment: Treatment
    cluster: Cluster
    evictions: Collection[tuple[str, str]] = ()
    patience: Patience = field(default_factory=Patience)
    tell: Callable[[str], None] = lambda _: None
    steps: list[Step] = field(default_factory=list)
    treated: int = 0
    held: bool = False

    def goes_on(self) -> bool:
        """Say whether an earlier run of the plan holds the LocalQueue still."""
        return bool([*self._marked([self._queue()], HELD)])

    def has_boosts(self, workloads: Iterable[LiveObject]) -> bool:
        """Say whether an earlier run of the plan left boosts behind."""
        return bool([*self._marked(workloads, BOOSTED)])

    def calls(self) -> list[Call]:
        """Return the calls of all steps, as they would be made now."""
        self.cluster.look_at(self.treatment.keys)
        each = (self.treatment.change(self.cluster, key) for key in self.treatment.keys)
        return [*filter(None, (self._hold_call(), *each)), lift(self._queue_key)]

    def run(self) -> Applied:
        """Carry the plan out, and return the outcome; if the run ends early, also how to go on."""
        try:
            self.held = True  # also if the answer is lost: `_lift` looks at whose hold it is
            self._do(self._hold_call)
            self.cluster.look_at(self.treatment.keys)
            for key in self.treatment.keys:
                self._do(partial(self.treatment.change, self.cluster, key))
                self.treated += 1
            self._lift()
            most = self.patience.wait_s
            until = f", at most {most:g} s" if isfinite(most) else ""
            self.tell(f"wait for {self.plan.preemptor}{until}")
            admitted = self._wait()
            there = self.cluster.listed(WORKLOADS)
            evicted = (one for one in there if one.is_true("Evicted"))
            late = {one.key for one in evicted if one.eviction not in self.evictions}
            others = tuple(sorted(late.difference(self.plan.keys)))
            self._restore()
        except (Surprise, InputError) as reason:
            return self._given_up("stopped", str(reason))
        except KeyboardInterrupt:
            return self._given_up("interrupted", "it was interrupted")
        waits = f"does not hold quota after {self.patience.wait_s:g} s"
        said = [f"{self.plan.preemptor} {'holds quota now' if admitted else waits}"]
        if others:
            said.append(f"Kueue evicted others, too: {', '.join(others)}")
        status: ApplyStatus = "applied" if admitted and not others else "otherwise"
        return self.answer(status, "; ".join(said), also_evicted=others, admitted=admitted)

    def undo(self) -> Applied:
        """Take back what an earlier run of the plan left behind: its boosts, and its hold.

        The preemptor may be gone: a held LocalQueue is known by its mark.
        """
        namespace = self.plan.preemptor.partition("/")[0]
        boosted = [*self._marked(self.cluster.listed(WORKLOADS), BOOSTED)]
        held = [*self._marked(self.cluster.listed(LOCAL_QUEUES, namespace), HELD)]
        status: ApplyStatus = "undone"
        try:
            for key in boosted:
                self._do(partial(unboost, self.cluster, key, digest_of(self.plan)))
            for key in held:
                self._do(partial(self._lift_call, key))
            said = "what was left behind is taken back" if self.steps else "nothing was left behind"
        except (Surprise, InputError) as reason:
            if not self.steps:
                raise
            status, said = "stopped", str(reason)
        answer = self.answer(status, said, way_on="" if status == "undone" else UNDO_AGAIN)
        return answer.model_copy(update={"way": "boosts"}) if boosted else answer

    def _marked(self, some: Iterable[LiveObject], mark: str) -> Iterator[str]:
        """Yield the keys of the objects that have a mark of this plan."""
        ours = digest_of(self.plan)
        return (one.key for one in some if mark_of(one, mark).get("plan") == ours)

    def _given_up(self, status: ApplyStatus, why: str) -> Applied:
        """Take back what can be taken back, and say what is left.

        The eviction of a victim cannot be called back. The hold stays then: were it lifted, Kueue
        would choose other victims beside those that are evicted already.
        """
        gone = self.treated if self.treatment.way == "eviction" else 0
        if self.held and gone:
            total = len(self.treatment.keys)
            left = f"{gone} of {total} victims are evicted, and the LocalQueue stays held"
            return self.answer(status, f"{why}; {left}", way_on=GO_ON)
        try:
            self._restore()
            if self.held:
                self._lift()
        except (Surprise, InputError) as more:
            return self.answer(status, f"{why}; and then: {more}", way_on=GO_ON)
        left = "all victims are evicted" if gone else "nothing is left of what was done"
        return self.answer(status, f"{why}; {left}")

    def answer(self, status: ApplyStatus, explanation: str, **more: Any) -> Applied:  # noqa: ANN401
        """Return the record of the run."""
        return Applied(
            preemptor=self.plan.preemptor,
            plan=digest_of(self.plan),
            way=self.treatment.way,
            status=status,
            explanation=explanation,
            victims=self.plan.keys,
            **{"steps": tuple(self.steps), **more},
        )

    def step(self, call: Call, at: datetime | None = None) -> Step:
        """Return a call as a step of the record."""
        return Step(title=call.title, command=self.cluster.command(call), at=at)

    def _do(self, next_call: Callable[[], Call | None]) -> None:
        """Make a call, anew where the object changed meanwhile; ``None`` says it is done already.

        The object is read for each try: it also shows that a call was done whose answer was lost.
        """
        failed = ""
        for _ in range(TRIES):
            call = next_call()
            if call is None:
                return
            self.tell(call.title)
            fault = self.cluster.change(call)
            if not fault:
                self.steps.append(self.step(call, self.patience.clock()))
                return
            failed = f"{call.title} failed {TRIES} times: {fault}"
            self.patience.sleep(self.patience.poll_s)
        raise Surprise(failed)

    @cached_property
    def _queue_key(self) -> str:
        preemptor = self.cluster.need(WORKLOADS, self.plan.preemptor)
        namespace = self.plan.preemptor.partition("/")[0]
        return f"{namespace}/{preemptor.at('spec', 'queueName')}"

    def _queue(self) -> LiveObject:
        return self.cluster.need(LOCAL_QUEUES, self._queue_key, "LocalQueue ")

    def _hold_call(self) -> Call | None:
        queue = self._queue()
        mark = mark_of(queue, HELD)
        if mark.get("plan") == digest_of(self.plan):
            return None
        if mark:
            held = f"held for another plan, for {mark.get('preemptor')}"
            undo = "planner apply --undo of that plan lifts it"
            raise Surprise(f"LocalQueue {queue.key} is {held}: {undo}")
        policy = queue.at("spec", "stopPolicy") or OPEN
        if policy != OPEN:
            stopped = f"stopped by somebody: its stopPolicy is {policy}"
            raise Surprise(f"LocalQueue {queue.key} is {stopped}")
        note = {"plan": digest_of(self.plan), "preemptor": self.plan.preemptor}
        return hold(queue, json.dumps(note))

    def _lift(self) -> None:
        """Let the LocalQueue go on, if the hold of this plan is still there."""
        self._do(partial(self._lift_call, self._queue_key))
        self.held = False

    def _lift_call(self, key: str) -> Call | None:
        """Return the call that lifts the hold of this plan; ``None`` if it is not there."""
        queue = self.cluster.find(LOCAL_QUEUES, key)
        return lift(key) if queue and [*self._marked([queue], HELD)] else None

    def _wait(self) -> bool:
        """Wait until the preemptor holds quota; say whether it does."""
        end = self.patience.seconds() + self.patience.wait_s
        while not self.cluster.need(WORKLOADS, self.plan.preemptor).holds_quota:
            if self.patience.seconds() >= end:
                return False
            self.patience.sleep(self.patience.poll_s)
        return True

    def _restore(self) -> None:
        """Take back the changes that are needed only until the preemptor holds quota."""
        if self.treatment.way == "boosts":
            self.cluster.look_at(self.treatment.keys)
        for key in self.treatment.keys:
            self._do(partial(self.treatment.restore, self.cluster, key))


class Dumped(Cluster):
    """The objects of a state: commands for them are shown, and none of them is run."""

    def __init__(self, state: State, options: Sequence[str]) -> None:
        self._state, self._options = state, options

    @property
    def options(self) -> Sequence[str]:
        """The options that the state was read with, if kubectl read it."""
        return self._options

    def look_at(self, keys: Collection[str]) -> None:
        """Do nothing: all objects are at hand."""

    def find(self, resource: str, key: str) -> LiveObject | None:
        """Return an object of the state.

        Raises ``Surprise`` if the object has no version that a command could test.
        """
        found: Workload | LocalQueue | None
        if resource == WORKLOADS:
            found = self._state.workloads.find(key)
        else:
            named = ((one.metadata, one) for one in self._state.local_queues)
            like = (one for it, one in named if f"{it.namespace}/{it.name}" == key)
            found = next(like, None)
        if found is None:
            return None
        if not found.metadata.resource_version:
            why = "no command could tell whether it has changed since: planner snapshot keeps it"
            raise Surprise(f"{key} has no resourceVersion in the dump, so that {why}")
        return LiveObject(found.model_dump(mode="json", by_alias=True))


def with_commands(state: State, plan: Plan, options: Sequence[str]) -> Plan:
    """Return a plan for a state with the commands that carry it out, or why there are none.

    ``options`` are the options of kubectl that say which cluster it is.
    """
    reason = cannot_be_applied(plan, "eviction") or (SAME if is_what_kueue_does(plan) else "")
    found = Commands(reason=reason)
    if not reason:
        run = Carrying(plan, Evictions(plan, lambda: plan.now), Dumped(state, options))
        try:
            each = ((one.title, run.cluster.command(one)) for one in run.calls())
            steps = tuple(Command(title=title, command=command) for title, command in each)
            found = Commands(steps=steps, notes=tuple(remarks(plan, "eviction")))
        except Surprise as surprise:
            found = Commands(reason=str(surprise))
    return plan.model_copy(update={"commands": found})
