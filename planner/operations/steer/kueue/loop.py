"""The loop: changes of the cluster in, one decision after the other out, and what came of each.

It can be killed at any moment. What it had written until then is told by the notes beside boosts
and by the gates themselves; the next run takes back what is of no preemptor that it serves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planner.errors import InputError
from planner.operations.kubectl.kueue_dump import Dump
from planner.operations.steer.kueue.carry import Denied, Hands, Lease
from planner.operations.steer.kueue.decide import Action, Intent, Memory, Now, Policy, next_action
from planner.operations.steer.kueue.marks import Marked, Patch
from planner.operations.steer.kueue.mirror import Mirror
from planner.operations.steer.kueue.propose import Proposal
from planner.operations.steer.kueue.setup import missing_gates
from planner.operations.steer.record import Act, Came, Line, Steered
from planner.operations.watch.kueue.follower import Follower, Pace, Watched
from planner.state.kueue import State

TICK_S: Final = 0.5
"""How long the loop waits for changes, before it looks at its Lease and at whose time is up."""
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
    """How steering goes: the policy, for whom, whether for show, and by which clock.

    ``only`` is the key of the one preemptor to serve, if it is only one.
    """

    policy: Policy = Policy()
    scope: Scope = Scope()
    dry_run: bool = False
    seconds: Callable[[], float] = time.monotonic
    only: str = ""


class Cluster(Watched, frozen=True):
    """A cluster, and the hands that change it."""

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


class Steer(Follower[Mirror]):
    """The steering of one cluster.

    ``propose`` plans for a preemptor, ``tell`` is called with each line; without a ``lease`` nobody
    is asked who may act. ``last`` is what came of the last preemptor, ``given_up`` why one waits
    without a plan.
    """

    def __init__(
        self,
        cluster: Cluster,
        propose: Callable[[State, str], Proposal],
        tell: Callable[[Line], None],
        how: How,
        lease: Lease | None = None,
    ) -> None:
        super().__init__(cluster, Mirror, tell, Pace(TICK_S, seconds=how.seconds))
        self._hands, self._propose, self._how, self._lease = cluster.hands, propose, how, lease
        self._memory = Memory({}, {})
        self._cases: dict[str, _Case] = {}
        self._acts: bool | None = None
        self.last: Steered | None = None
        self.given_up = ""

    def run(self, for_s: float | None = None, until: Callable[[], bool] = lambda: False) -> None:
        """Steer for so many seconds, or until somebody says so, or the process is interrupted.

        Raises ``InputError`` if the cluster cannot be read at the start, or forbids a change.
        """
        try:
            super().run(for_s, until)
        except InputError:
            with suppress(InputError):
                self.take_back()
            raise

    def take_back(self) -> None:
        """Take back the boosts for preemptors whose gates are closed, from a list read just now.

        Those for the only one, if it is only one, go in any case.
        """
        served = {one.marked.key for one in self._cases.values() if not one.opened} | {
            self._how.only
        }
        items = (Marked(one) for one in self._cluster.take().objects if one["kind"] == "Workload")
        boosted = [one for one in items if one.boosted_for in served]
        self._hands.patch(one.unboosted() for one in boosted)

    @property
    def _is_current(self) -> bool:
        return not (self._is_gap or self._is_wanted)

    def _came(self, before: Mirror | None, kept: Mirror) -> None:
        if before is not None:
            kept.followed = before.followed
            return
        there = {one.name for one in kept.state.cluster_queues}
        for name in sorted(self._how.scope.queues - there):
            self._note(f"there is no ClusterQueue {name}: nothing is planned for it")

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

    def _look(self, kept: Mirror) -> None:
        """Take a step in each tree; tell what came of preemptors that are served."""
        if said := missing_gates(kept.state):
            raise InputError("Kueue", said)
        if not (self._is_current and self._may_act() and self._settled(kept)):
            return
        for root in kept.roots:
            for _ in range(STEPS):
                if not (self._is_current and self._step(kept, root)):
                    break
                if not self._settled(kept):
                    return

    def _settled(self, mirror: Mirror) -> bool:
        """Apply what was heard; say whether all changes of ours are among it."""
        if not self._trying(mirror.settle):
            return False
        self._tell_what_came(mirror)
        self._is_wanted |= mirror.is_lost
        return not mirror.is_behind

    def _step(self, mirror: Mirror, root: int) -> bool:
        """Take one step in a tree; say whether another may follow at once."""
        action = self._next(mirror, root)
        if action.do == "look":
            # Whatever came meanwhile is heard and decided on first; then this is the latest state.
            heard = self._hear(0.0)
            if not self._is_current or (heard and not self._settled(mirror)):
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
        if only := self._how.only:
            mine = tuple(one for one in tree.gated if one.is_open or one.key == only)
            tree = replace(tree, gated=mine)
        begun = self._how.seconds()
        now = Now(mirror.replays(root), begun, looked)
        action = next_action(tree, now, self._memory, self._how.policy)
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
                boosts = dict(action.boosts)
                act = self._act(act="boost", preemptor=one.key, why=action.why, boosts=boosts)
                self._tell(act)
                if not self._carry(mirror, patches) or len(patches) < len(boosted):
                    self._memory.forget(one.uid)
            case "take back":
                if one is not None:
                    self._memory.forget(one.uid)
                key = one.key if one else ""
                self._tell(self._act(act="take back", preemptor=key, why=action.why))
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
        act = self._act(
            act="plan",
            preemptor=one.key,
            why=proposal.why or why,
            victims=tuple(sorted(proposal.victims)),
            own=tuple(sorted(proposal.own)),
            boosts=dict(proposal.boosts),
        )
        self._tell(act)

    def _open(self, mirror: Mirror, one: Marked, action: Action) -> None:
        case = self._cases[one.uid]
        intent = self._memory.intents.get(one.uid)
        self._tell(self._act(act="open", preemptor=one.key, why=action.why))
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
            done = self._hands.patch(patches)
        except Denied:
            raise
        except InputError as error:
            self._failed(f"cannot be changed: {error}")  # what was done is read with all the rest
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

    @property
    def _act(self) -> partial[Act]:
        """What an act is made with, besides what is done, for whom and why."""
        return partial(Act, at=self._now, dry_run=self._how.dry_run)


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
