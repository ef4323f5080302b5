"""The loop: changes of the cluster in, one decision after the other out, and what came of each.

It can be killed at any moment. What it had written until then is told by the notes beside boosts
and by the gates themselves; the next run takes back what is of no preemptor that it serves.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planner.errors import InputError
from planner.operations.kubectl.call import Answer
from planner.operations.kubectl.kueue_dump import Dump
from planner.operations.kubectl.kueue_resource import COHORTS, is_forbidden, is_missing
from planner.operations.kubectl.watch import FIRST_WAIT_S, Source
from planner.operations.steer.kueue.carry import Denied, Hands, Lease
from planner.operations.steer.kueue.decide import Action, Intent, Memory, Policy, next_action
from planner.operations.steer.kueue.marks import Marked, Patch
from planner.operations.steer.kueue.mirror import Mirror
from planner.operations.steer.kueue.propose import Proposal
from planner.operations.steer.kueue.setup import missing_gates
from planner.operations.steer.record import Act, Came, Line, Steered
from planner.operations.watch.kueue.live import TIDY_S, ended
from planner.operations.watch.record import Note
from planner.state.kueue import State

TICK_S: Final = 0.5
"""How long the loop waits for changes, before it looks at its Lease and at whose time is up."""
READ_AGAIN_S: Final = 600.0
LOST_S: Final = 10.0
"""Seconds after which all is read anew, if a change of ours does not show."""
STEPS: Final = 8
"""Steps for one tree without a change of the cluster; beyond that, the other trees come first."""
TRIES: Final = 3
"""How often a release is tried on workloads that others change meanwhile."""


class Scope(Struct, frozen=True):
    """Whose preemption is planned: all, or those in some ClusterQueues and namespaces."""

    queues: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()

    def has(self, one: Marked, queue: str) -> bool:
        """Say whether a workload is among them."""
        by_queue = not self.queues or queue in self.queues
        return by_queue and (
            not self.namespaces or one.at("metadata", "namespace") in self.namespaces
        )


class How(Struct, frozen=True):
    """How steering goes: the policy, for whom, whether for show, and by which clock."""

    policy: Policy = Policy()
    scope: Scope = Scope()
    dry_run: bool = False
    seconds: Callable[[], float] = time.monotonic


class Cluster(NamedTuple):
    """A cluster: its changes, how all of it is read and with what, and the hands that change it."""

    source: Source
    take: Callable[[], Dump]
    how: Mapping[str, Any]
    hands: Hands


@dataclass
class _Case:
    """A preemptor that is being served: its last proposal, and what happened so far."""

    marked: Marked
    proposal: Proposal = field(default_factory=Proposal)
    steered: bool = False
    opened: bool = False
    plans: int = 0
    used_s: float = 0.0
    blocked_s: float = 0.0


class Steer:
    """The steering of one cluster.

    ``propose`` plans for a preemptor, ``tell`` is called with each line; without a ``lease`` nobody
    is asked who may act. ``only`` is the key of the one preemptor to serve, if it is only one.
    ``last`` is what came of the last preemptor, ``given_up`` why one waits without a plan.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what steering is made of
        self,
        cluster: Cluster,
        propose: Callable[[State, str], Proposal],
        tell: Callable[[Line], None],
        how: How,
        lease: Lease | None = None,
        only: str = "",
    ) -> None:
        self._cluster, self._propose, self._tell, self._how = cluster, propose, tell, how
        self._lease, self._only = lease, only
        self._memory = Memory({}, {})
        self._cases: dict[str, _Case] = {}
        self._mirror: Mirror | None = None
        self._begun: set[str] = set()
        self._told: set[str] = set()
        self._is_gap = True
        self._read_at = self._retry_at = 0.0
        self._behind_since: float | None = None
        self._acts: bool | None = None
        self.last: Steered | None = None
        self.given_up = ""

    def run(self, for_s: float | None = None, until: Callable[[], bool] = lambda: False) -> None:
        """Steer for so many seconds, or until somebody says so, or the process is interrupted.

        Raises ``InputError`` if the cluster cannot be read at the start, or forbids a change.
        """
        seconds = self._how.seconds
        end, tidy = inf if for_s is None else seconds() + for_s, seconds() + TIDY_S
        try:
            while (self._mirror is None or seconds() < end) and not until():
                self._hear(TICK_S if self._mirror else FIRST_WAIT_S)
                self._read_if_due()
                if self._mirror is not None and not self._is_gap and self._may_act():
                    self._look(self._mirror)
                if seconds() >= tidy:  # plans refer to themselves in circles
                    gc.collect()
                    tidy = seconds() + TIDY_S
        except InputError:
            with suppress(InputError):
                self.take_back()
            raise
        finally:
            self._cluster.source.close()

    def take_back(self) -> None:
        """Take back the boosts for preemptors whose gates are closed, from a list read just now.

        Those for the only one, if it is only one, go in any case.
        """
        served = {one.marked.key for one in self._cases.values() if not one.opened} | {self._only}
        items = (Marked(one) for one in self._cluster.take().objects if one["kind"] == "Workload")
        boosted = [one for one in items if one.boosted_for in served]
        self._cluster.hands.patch(one.unboosted() for one in boosted)

    def _hear(self, timeout_s: float) -> bool:
        """Wait for changes, at most so long, and take them; say whether there were any."""
        events = self._cluster.source.poll(timeout_s)
        for one in events:
            if one.kind == "BEGUN":
                self._begun.add(one.resource)
                self._is_gap = True
            elif one.kind == "LOST":
                self._lost(one.resource, one.answer or Answer(0, b"", ""))
            elif self._mirror is not None and not self._is_gap and self._mirror.take(one):
                self._is_gap = True
        return bool(events)

    def _lost(self, resource: str, answer: Answer) -> None:
        if resource == COHORTS and is_missing(answer):
            self._begun.add(resource)  # an older Kueue has no Cohorts that could change
            return
        self._begun.discard(resource)
        self._is_gap = True
        what, error = ended(resource, answer, begins=self._mirror is None)
        if is_forbidden(answer) or self._mirror is None:
            raise error
        if answer.code or answer.stderr:
            self._trouble(str(error), what)

    def _read_if_due(self) -> None:
        """Read everything: at the start, after a break or a change of settings, once in a while."""
        now, before = self._how.seconds(), self._mirror
        old = now - self._read_at >= READ_AGAIN_S
        behind = self._behind_since is not None and now - self._behind_since >= LOST_S
        ready = self._begun.issuperset(self._cluster.source.resources) and now >= self._retry_at
        if not ready or not (self._is_gap or old or behind):
            return
        try:
            mirror = Mirror(self._cluster.take(), self._cluster.how, self._how.seconds)
        except InputError as error:
            if before is None:
                raise
            self._retry_at = now + TICK_S
            self._trouble(f"cannot be read: {error}")
            return
        if said := missing_gates(mirror.state):
            raise InputError("Kueue", said)
        mirror.followed = {} if before is None else before.followed
        if before is None:
            self._note(f"read: {len(mirror.state.workloads):,} workloads")
        self._mirror, self._read_at, self._is_gap, self._behind_since = mirror, now, False, None
        self._told.clear()

    def _may_act(self) -> bool:
        """Say whether the Lease is ours; a change is told."""
        if self._lease is None:
            return True
        try:
            acts = self._lease.keep()
        except InputError as error:
            if self._acts is None:
                raise
            self._trouble(str(error))
            return False
        if acts != self._acts and (self._acts is not None or not acts):
            self._note("this one acts" if acts else f"{self._lease.held_by or 'another'} acts")
            self._memory = Memory({}, {})  # whatever is in the cluster is not ours alone any more
        self._acts = acts
        return acts

    def _look(self, mirror: Mirror) -> None:
        """Take a step in each tree; tell what came of preemptors that are served."""
        if not self._settled(mirror):
            return
        for root in mirror.roots:
            for _ in range(STEPS):
                if self._mirror is not mirror or self._is_gap or not self._step(mirror, root):
                    break
                if not self._settled(mirror):
                    return

    def _settled(self, mirror: Mirror) -> bool:
        """Apply what was heard; say whether all changes of ours are among it."""
        try:
            mirror.settle()
        except InputError as error:
            self._is_gap = True
            self._note(f"read anew: {error}")
            return False
        self._tell_what_came(mirror)
        now = self._how.seconds()
        self._behind_since = (self._behind_since or now) if mirror.is_behind else None
        return not mirror.is_behind

    def _step(self, mirror: Mirror, root: int) -> bool:
        """Take one step in a tree; say whether another may follow at once."""
        action = self._next(mirror, root)
        if action.do == "look":
            # Whatever came meanwhile is heard and decided on first; then this is the latest state.
            heard = self._hear(0.0)
            if self._is_gap or (heard and not self._settled(mirror)):
                return False
            action = self._next(mirror, root, looked=True)
        if action.preemptor is not None:
            uid = action.preemptor.uid
            self._memory.turns.setdefault(uid, self._how.seconds())
            self._cases.setdefault(uid, _Case(action.preemptor))
            mirror.followed.setdefault(uid, set())
        return self._do(mirror, root, action)

    def _next(self, mirror: Mirror, root: int, *, looked: bool = False) -> Action:
        tree = mirror.tree(root)
        if self._only:
            mine = tuple(one for one in tree.gated if one.is_open or one.key == self._only)
            tree = replace(tree, gated=mine)
        begun = self._how.seconds()
        replay, policy = mirror.replays(root), self._how.policy
        action = next_action(tree, replay, self._memory, policy, begun, looked=looked)
        if action.preemptor is not None and (case := self._cases.get(action.preemptor.uid)):
            case.used_s += self._how.seconds() - begun
        return action

    def _do(self, mirror: Mirror, root: int, action: Action) -> bool:
        """Do what was decided; say whether another step may follow without news of the cluster."""
        one = action.preemptor
        match action.do:
            case "plan" if one is not None:
                self._plan(mirror, root, one, action.why)
                return True
            case "boost" if one is not None:
                boosted = {key: mirror.find(key) for key in action.boosts}
                patches = [
                    there.boosted(action.boosts[key], one.key)
                    for key, there in boosted.items()
                    if there
                ]
                self._act("boost", one.key, action.why, boosts=dict(action.boosts))
                if not self._carry(mirror, patches) or len(patches) < len(boosted):
                    self._memory.forget(one.uid)
            case "take back":
                if one is not None:
                    self._memory.forget(one.uid)
                self._act("take back", one.key if one else "", action.why)
                self._carry(mirror, action.patches)
            case "wait" if one is not None and not one.is_open:
                self.given_up = action.why
            case "open" if one is not None:
                self._open(mirror, one, action)
        return False

    def _plan(self, mirror: Mirror, root: int, one: Marked, why: str) -> None:
        case, begun = self._cases[one.uid], self._how.seconds()
        queue = mirror.queue_of(one)
        if self._how.scope.has(one, queue):
            proposal = self._propose(mirror.state, one.key)
        else:
            own = mirror.replays(root)(one.key).victims
            proposal = Proposal(own, own)
        standing = mirror.tree(root).standing
        intent = Intent(proposal.victims, proposal.boosts, standing, proposal.why)
        if self._how.dry_run and (proposal.boosts or proposal.why):
            intent = replace(intent, victims=proposal.own, boosts={}, why="")
        self._memory.intents[one.uid] = intent
        case.proposal, case.plans = proposal, case.plans + 1
        case.used_s += self._how.seconds() - begun
        self._act(
            "plan",
            one.key,
            proposal.why or why,
            victims=tuple(sorted(proposal.victims)),
            own=tuple(sorted(proposal.own)),
            boosts=dict(proposal.boosts),
        )

    def _open(self, mirror: Mirror, one: Marked, action: Action) -> None:
        case = self._cases[one.uid]
        intent = self._memory.intents.get(one.uid)
        self._act("open", one.key, action.why)
        if self._carry(mirror, [one.opened(mirror.now)]):
            case.opened = True
            planned = intent is not None and intent.victims == case.proposal.victims
            case.steered = action.as_planned and planned
            since = one.blocked_since
            case.blocked_s = max(0.0, (mirror.now - since).total_seconds()) if since else 0.0
            self._memory.turns[one.uid] = self._how.seconds()

    def _carry(self, mirror: Mirror, patches: Iterable[Patch]) -> bool:
        """Make changes; say whether all were made. They show once the cluster tells of them."""
        try:
            done = self._cluster.hands.patch(patches)
        except Denied:
            raise
        except InputError as error:
            self._is_gap = True  # what was done of it is read with all the rest
            self._trouble(f"cannot be changed: {error}")
            return False
        for _, changed in done:
            if changed is not None:
                mirror.awaits(changed)
        return all(changed is not None for _, changed in done)

    def _tell_what_came(self, mirror: Mirror) -> None:
        """Tell the decision for each preemptor that has its quota by now, or is gone."""
        for uid, case in [*self._cases.items()]:
            now = mirror.find(case.marked.key)
            there = now is not None and now.uid == uid
            admitted = there and now is not None and now.holds_quota
            if there and not admitted and now is not None and not now.is_true("Finished"):
                continue
            del self._cases[uid]
            self._memory.forget(uid)
            self._memory.turns.pop(uid, None)
            evicted = frozenset(mirror.followed.pop(uid, ()))
            if case.opened or evicted:
                self.last = _steered(mirror, case, evicted, admitted=bool(admitted))
                self._tell(self.last)

    def _act(self, act: Any, preemptor: str, why: str, **more: Any) -> None:  # noqa: ANN401
        said = {"act": act, "preemptor": preemptor, "why": why, "dry_run": self._how.dry_run}
        self._tell(Act(at=self._now(), **said, **more))

    def _trouble(self, text: str, what: str = "") -> None:
        """Note what is wrong, once until everything is read again: streams all say ``what``."""
        if (what or text) not in self._told:
            self._told.add(what or text)
            self._tell(Note(at=self._now(), text=text, connected=False))

    def _note(self, text: str) -> None:
        self._tell(Note(at=self._now(), text=text, connected=True))

    def _now(self) -> datetime:
        return datetime.now(UTC) if self._mirror is None else self._mirror.now


def _steered(mirror: Mirror, case: _Case, evicted: frozenset[str], *, admitted: bool) -> Steered:
    planned, own = case.proposal.victims, case.proposal.own
    wanted = planned if case.steered else own
    came: Came = "exact" if evicted == wanted else "otherwise"
    if evicted < wanted:
        came = "subset" if evicted else "nobody"
    return Steered(
        at=mirror.now,
        preemptor=case.marked.key,
        queue=mirror.queue_of(case.marked),
        came=came,
        steered=case.steered,
        admitted=admitted,
        planned=tuple(sorted(planned)),
        own=tuple(sorted(own)),
        evicted=tuple(sorted(evicted)),
        boosts=dict(case.proposal.boosts),
        replans=max(0, case.plans - 1),
        spared_s=case.proposal.spared_s if case.steered and came == "exact" else 0,
        blocked_s=case.blocked_s,
        used_s=case.used_s,
    )


def released(take: Callable[[], Dump], hands: Hands) -> tuple[int, tuple[str, ...]]:
    """Take back all boosts of ours, and our gate everywhere, from fresh lists.

    Return how many workloads were changed, and which could not be: after some tries, as others
    change them, too.
    """
    changed, left = 0, tuple[str, ...]()
    for _ in range(TRIES):
        items = (Marked(one) for one in take().objects if one["kind"] == "Workload")
        done = hands.patch(filter(None, (one.cleared() for one in items)))
        left = tuple(patch.key for patch, after in done if after is None)
        changed += len(done) - len(left)
        if not left:
            break
    return changed, left
