"""The rule set ``strict``: Kueue's documented precedence as laws, ST-01 to ST-05.

Today's laws ask whether every single removal is permitted at its moment. These laws ask whether it
was also the victim's turn. They are judged beside today's laws and change none of their verdicts.

First come bounded searches over orders of removals, then the laws, one function each, and what all
of them say of victims. Small sets are judged exactly. A search that reaches its bound says so:
whether the victims are strict-legal is then not known.

In classical preemption attempts go in turn, and no victim goes once the preemptor fits. Under fair
sharing documented precedence is kept.

There Kueue finds victims in two passes (docs/semantics/kueue.md §6.4 to §6.6). A moment of one is

    gone    the victims removed so far, the preemptor's request REQ being counted in its queue
    left    the candidates that this pass still has, victims and others
    failed  the candidates that the first strategy refused when it was the turn of their queue

Whose turn it is follows from gone and left: a node without candidates left, or that no longer
borrows, never gets a turn again, as usage only falls. Within a queue all orders of candidates are
searched: that order is the scheduler's heuristic, as ties between shares are. So at a queue's turn,

    no candidate passes     all of them fail; in the second pass, the queue is done
    a candidate passes      one that passes goes, perhaps after some that fail

and if no victim is among those that pass, these orders do not lead to the victims. Which ones
failed before one passed matters in two ways only: they are not asked again in this pass, and only
they are asked in the second. So of the candidates that are no victims either none fail first or all
do, and of the victims at most one: a queue gives one in the second pass. Without law ST-04 it can
give more, and each choice is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, NamedTuple

from msgspec import Struct

from planner.laws import Law, Register
from planner.plan import Verdict, Verification
from planner.quota.kueue.amount import saturating_add
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.tree import Share, Usage
from planner.research.strict.laws import (
    ST_ATTEMPTS,
    ST_HIGHEST_SHARE,
    ST_ONE_PER_QUEUE,
    ST_STOPS,
    ST_STRATEGIES,
    beside,
)
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.fair_sharing import FINAL_SHARE, FairCase, FairSetting
from planner.verifier.kueue.plan import verify_case
from planner.verifier.kueue.setting import Setting, Variant, say_node
from planner.verifier.wording import judge, say_some

MOST_STATES: Final = 10_000
"""After how many states a search ends without an answer."""


Positions = frozenset[int]


class Moment(NamedTuple):
    """A state that a search has reached; candidates are named by their positions.

    In one attempt of classical preemption the order alone matters.
    """

    order: tuple[int, ...] = ()
    left: Positions = frozenset()
    failed: Positions = frozenset()
    second: bool = False

    @property
    def gone(self) -> Positions:
        """The candidates that were removed."""
        return frozenset(self.order)

    @property
    def key(self) -> tuple[Positions, Positions, Positions, bool]:
        """What the rest of the search depends on."""
        return self.gone, self.left, self.failed, self.second


def search(
    begin: Moment,
    steps: Callable[[Moment], Iterable[Moment]],
    is_end: Callable[[Moment], bool],
    most: int = MOST_STATES,
) -> tuple[bool | None, tuple[int, ...]]:
    """Search depth first, steps in order, for a moment that ``is_end``; none is visited twice.

    Returns whether there is one, and the order that leads to it; ``None`` if ``most`` states were
    visited and some are left.
    """
    ahead, seen = [begin], {begin.key}
    visited = 0
    while ahead:
        state = ahead.pop()
        if is_end(state):
            return True, state.order
        visited += 1
        if visited > most:
            return None, ()
        # A stack takes the last first: reversed, the step that came first is followed first.
        for after in reversed(list(steps(state))):
            if after.key not in seen:
                seen.add(after.key)
                ahead.append(after)
    return False, ()


class Ledger:
    """The usage after sets of removals; only the last usage is kept, as trees may be large."""

    def __init__(self, setting: Setting, start: Usage, workloads: Sequence[Admitted]) -> None:
        self.setting = setting
        self.workloads = workloads
        self._start = start
        self._last: tuple[frozenset[int], Usage] = (frozenset(), start.copy())
        self._fits: dict[tuple[frozenset[int], bool], bool] = {}

    def usage(self, gone: frozenset[int]) -> Usage:
        """Return the usage without the workloads at positions; callers must not change it."""
        before, usage = self._last
        if before != gone:
            # A search mostly removes one more: then removals are continued in place of a new copy.
            usage = usage if before < gone else self._start.copy()
            # Usage depends only on which are gone (docs/explanation/closed-form.md, Lemma 1).
            for position in gone - before if before < gone else gone:
                usage.remove(self.workloads[position].queue, self.workloads[position].usage)
            self._last = gone, usage
        return usage

    def fits(self, gone: frozenset[int], *, borrowing: bool) -> bool:
        """Say whether the preemptor fits (docs/semantics/kueue.md §5.1 ``workloadFits``).

        The preemptor's request is not counted in the usage.
        """
        known = self._fits.get((gone, borrowing))
        if known is None:
            usage, queue, tree = self.usage(gone), self.setting.queue, self.setting.snapshot.tree
            known = self._fits[gone, borrowing] = all(
                (
                    borrowing
                    or saturating_add(usage.amount[queue][fr], asked) <= tree.nominal(queue, fr)
                )
                and asked <= max(0, usage.available(queue, fr))
                for fr, asked in self.setting.searched.items()
            )
        return known


@dataclass
class AttemptOrders:
    """All orders in which workloads may be removed in one attempt.

    Source: docs/semantics/kueue.md §5.6.
    """

    setting: Setting
    workloads: Sequence[Admitted]
    borrowing: bool
    stops: bool = False

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.setting, self.setting.snapshot.usage, self.workloads)
        self.everybody = frozenset(range(len(self.workloads)))

    def all_of_them(self, most: int = MOST_STATES) -> tuple[bool | None, tuple[int, ...]]:
        """Look for an order of all workloads; with ``stops``, one that fits only at the end."""
        return search(Moment(), self._steps, lambda m: m.gone == self.everybody, most)

    def enough(self, most: int = MOST_STATES) -> bool | None:
        """Say whether a legal order of removals makes the preemptor fit; ``None`` if undecided."""
        # Fitting is monotone: if removing all workloads is not enough, no subset is.
        if not self._fits(self.everybody):
            return False
        return search(Moment(), self._steps, lambda moment: self._fits(moment.gone), most)[0]

    def _fits(self, gone: Positions) -> bool:
        return self.ledger.fits(gone, borrowing=self.borrowing)

    def _steps(self, moment: Moment) -> Iterator[Moment]:
        gone = moment.gone
        # Kueue tests fitting after a removal only, never before the first: hence `gone` (§5.6).
        if self.stops and gone and self._fits(gone):
            return
        usage, setting = self.ledger.usage(gone), self.setting
        idle: dict[int, bool] = {}
        contested = sorted(setting.contested)

        def size(position: int) -> tuple[int, ...]:
            return tuple(self.workloads[position].usage.get(fr, 0) for fr in contested)

        # Small workloads first: they leave a queue over its quota for longest.
        for position in sorted(self.everybody - gone, key=size):
            queue = self.workloads[position].queue
            if queue not in idle:
                idle[queue] = any(
                    usage.within_nominal(node, setting.contested) for node in setting.side(queue)
                )
            if not idle[queue]:
                yield Moment((*moment.order, position))


@dataclass
class FairOrders:
    """All orders in which Kueue might remove the victims, as far as ``laws`` say.

    These are the laws of precedence that are in force.
    """

    setting: FairSetting
    victims: Sequence[Admitted]
    laws: Collection[Law]

    def __post_init__(self) -> None:
        setting = self.setting
        keys = {victim.key for victim in self.victims}
        self.candidates = [*self.victims, *(c for c in setting.candidates if c.key not in keys)]
        self.wanted = frozenset(range(len(self.victims)))
        self.queues: dict[int, Positions] = {}
        for position, candidate in enumerate(self.candidates):
            known = self.queues.get(candidate.queue, frozenset())
            self.queues[candidate.queue] = known | {position}
        before = setting.snapshot.usage
        self.counted = Ledger(setting, setting.with_request(before), self.candidates)
        self.plain = Ledger(setting, before, self.candidates)
        tree = setting.snapshot.tree
        self.nodes = {node for queue in self.queues for node in tree.path(queue)}
        self.shares_of = setting.shares.share_of
        self.furthest: tuple[int, str] = (-1, "")

    def find(self, most: int = MOST_STATES) -> tuple[bool | None, tuple[int, ...]]:
        """Look for an order of the victims that the laws permit; see ``search``."""
        begin = Moment(left=frozenset(range(len(self.candidates))))
        return search(begin, self._steps, lambda moment: moment.gone == self.wanted, most)

    def _steps(self, moment: Moment) -> Iterator[Moment]:
        if ST_STOPS in self.laws and moment.order and self.plain.fits(moment.gone, borrowing=True):
            self._note(moment, "the preemptor fits")
            return
        if not self._is_hopeful(moment):
            return
        turns = self._turns(moment)
        for queue in turns:
            yield from self._visit(moment, queue, moment.left & self.queues[queue])
        if not turns and ST_STRATEGIES in self.laws and not moment.second:
            yield Moment(moment.order, moment.failed, frozenset(), second=True)

    def _is_hopeful(self, moment: Moment) -> bool:
        """Say whether every victim not yet removed can be asked, now or in the second pass."""
        waiting = self.wanted - moment.gone
        again = not moment.second and len(self.setting.strategies) > 1
        if again and ST_ONE_PER_QUEUE in self.laws:
            queues = [self.candidates[p].queue for p in waiting & moment.failed]
            again = len(queues) == len(set(queues))
        return waiting <= moment.left or (again and waiting <= moment.left | moment.failed)

    # Whose turn it is (§6.4).

    def _turns(self, moment: Moment) -> list[int]:
        """Return the queues whose turn it may be; several where shares are equal."""
        root = self.setting.path[-1]
        # Without a cohort there is only the own queue, and no share to compare.
        if root == self.setting.queue:
            return [root] if moment.left & self.queues.get(root, frozenset()) else []
        usage = self.counted.usage(moment.gone)
        below = self._below(moment, {n: self.shares_of(usage, n) for n in self.nodes})
        # Without ST-03 it may be the turn of any queue that still matters.
        if ST_HIGHEST_SHARE not in self.laws:
            return [node for nodes in below.values() for node in nodes if node in self.queues]
        return list(self._highest(below, root))

    def _below(self, moment: Moment, shares: Mapping[int, Share]) -> dict[int, dict[int, Share]]:
        """Return, per cohort, the children that can still get a turn, with their shares."""
        on_path, tree = self.setting.path, self.setting.snapshot.tree
        alive: dict[int, dict[int, Share]] = {}
        for queue, positions in self.queues.items():
            path = tree.path(queue)
            # A node that does not borrow is pruned with all below it; not on the preemptor's path.
            borrows = all(node in on_path or shares[node].borrowing for node in path)
            if borrows and not moment.left.isdisjoint(positions):
                for node, parent in pairwise(path):
                    alive.setdefault(parent, {})[node] = shares[node]
        return alive

    def _highest(self, below: Mapping[int, Mapping[int, Share]], cohort: int) -> Iterator[int]:
        """Yield the queues that are reached by the highest share at every cohort."""
        shares = {node: share.order for node, share in below.get(cohort, {}).items()}
        top = max(shares.values(), default=None)
        ahead = [node for node, share in shares.items() if share == top]
        # Of equal shares a cohort comes before a queue: Kueue then descends into the cohort.
        cohorts = [node for node in ahead if node not in self.queues]
        for node in cohorts:
            yield from self._highest(below, node)
        if not cohorts:
            yield from ahead

    # What the queue gives (§6.5 and §6.6).

    def _visit(self, moment: Moment, queue: int, here: Positions) -> Iterator[Moment]:
        """Yield the moments that can follow the turn of a queue with candidates ``here`` left."""
        passing = self._passing(moment, queue, here)
        if not passing:
            # There is no third pass: candidates that fail in the second are dropped.
            failed = moment.failed if moment.second else moment.failed | here
            yield moment._replace(left=moment.left - here, failed=failed)
            return
        if passing.isdisjoint(self.wanted):
            node, one = say_node(self.setting.snapshot, queue), self.candidates[min(passing)]
            self._note(moment, f"it is the turn of {node}, which would give {one.key}")
            return
        # Victims with the same usage are interchangeable: trying one of them is enough.
        different: dict[object, int] = {}
        for position in sorted(passing & self.wanted):
            held = tuple(sorted(self.candidates[position].usage.items()))
            different.setdefault(held, position)
        for position in different.values():
            order = (*moment.order, position)
            if moment.second:
                done = here if ST_ONE_PER_QUEUE in self.laws else {position}
                yield moment._replace(order=order, left=moment.left - done)
                continue
            for before in self._failing_first(here - passing):
                left = moment.left - before - {position}
                yield Moment(order, left, moment.failed | before, second=False)

    def _passing(self, moment: Moment, queue: int, here: Positions) -> Positions:
        setting = self.setting
        side = setting.side(queue)
        if not side or setting.stays_within_nominal:
            return here
        usage = self.counted.usage(moment.gone)
        mine = self.shares_of(usage, setting.rival(side[-1]))
        before = self.shares_of(usage, side[-1])
        in_turn = ST_STRATEGIES in self.laws
        # The second pass always asks for LessThanInitialShare; so does a first pass configured so.
        # That share is the same for all of a queue, so either all pass or none does.
        if moment.second or (in_turn and setting.strategies[0] != FINAL_SHARE):
            # Shares before this removal: REQ is counted, and earlier victims are gone.
            return here if mine.order < before.order else frozenset()
        after = {p: self._share_without(usage, p, side[-1]) for p in here}
        if in_turn:
            return frozenset(p for p in here if mine.order <= after[p].order)
        return frozenset(p for p in here if setting.is_fair(mine, before, after[p]))

    def _share_without(self, usage: Usage, position: int, node: int) -> Share:
        """Return the share of a node with one candidate less; the usage is left as it was."""
        candidate = self.candidates[position]
        path = self.setting.snapshot.tree.path(candidate.queue)
        kept = [usage.amount[at].copy() for at in path]
        usage.remove(candidate.queue, candidate.usage)
        share = self.shares_of(usage, node)
        for at, row in zip(path, kept, strict=True):
            usage.amount[at] = row
        return share

    def _failing_first(self, failing: Positions) -> Iterator[Positions]:
        """Yield the sets of failing candidates that may have been asked before, none first."""
        if ST_STRATEGIES not in self.laws:
            yield frozenset()
            return
        others = failing - self.wanted
        victims = sorted(failing & self.wanted)
        most = 1 if ST_ONE_PER_QUEUE in self.laws else len(victims)
        for count in range(most + 1):
            for some in combinations(victims, count):
                yield frozenset(some)
                if others:
                    yield frozenset(some) | others

    # In words.

    def _note(self, moment: Moment, what: str) -> None:
        if len(moment.order) > self.furthest[0]:
            count = f"after {len(moment.order)} of {len(self.wanted)} victims "
            self.furthest = len(moment.order), (count if moment.order else "at once ") + what


class Answer(Struct, frozen=True):
    """Whether a law holds, ``None`` if a search ended at its bound; ``detail`` says why.

    ``order`` is an order of removals that shows that, by positions of the plan's victims.
    """

    holds: bool | None
    detail: str
    order: tuple[int, ...] = ()


CHECKS: Final[Register[Callable[[Case, Sequence[Law], int], Answer]]] = Register()
"""The check of every law, by the law's id.

It takes a case, the laws that were found to hold, as orders must keep all of them, and how many
states a search may visit.
"""


@CHECKS.of(ST_ATTEMPTS)
def attempts_in_turn(case: Case, kept: Sequence[Law], most: int) -> Answer:  # noqa: ARG001
    """ST-01: victims of a later attempt only where the earlier one finds no victims.

    For every attempt before the plan's own in Kueue's order: no set of its candidates, removed
    one by one in whichever order as KQ-07 permits, makes the preemptor fit. That is so if it
    would not fit with all of them gone. Source: docs/semantics/kueue.md §5.5 and §5.6.
    """
    due, decided = attempts_due(case.setting, most)
    if case.borrowing in due:
        return Answer(holds=True, detail=f"{_say_attempt(case.borrowing)} is due")
    said = " and ".join(map(_say_attempt, due))
    # If the earlier attempt is not decided, neither is this law: it may find victims.
    return Answer(False if decided else None, f"{said} comes first and finds victims")


def attempts_due(setting: Setting, most: int = MOST_STATES) -> tuple[tuple[bool, ...], bool]:
    """Return the attempts whose victims are legal, and whether that is certain.

    It is one: the first attempt that finds victims, or the last if none does. An attempt for
    which that is not decided counts as finding victims.
    """
    for borrowing in setting.attempts[:-1]:
        # Candidates of this attempt (docs/semantics/kueue.md §5.3 and §5.6).
        candidates = [
            one
            for one in setting.candidates
            if not borrowing or setting.variant(one) is not Variant.RECLAIM_WITHOUT_BORROWING
        ]
        enough = AttemptOrders(setting, candidates, borrowing).enough(most)
        if enough is not False:
            return (borrowing,), enough is not None
    return setting.attempts[-1:], True


def _say_attempt(borrowing: bool | None) -> str:  # noqa: FBT001 - an attempt is named by it
    return f"the attempt {'with' if borrowing else 'without'} borrowing"


@CHECKS.of(ST_STRATEGIES)
def strategies_in_turn(case: Case, kept: Sequence[Law], most: int) -> Answer:
    """ST-02: the second strategy only where the first finds no victims.

    An order of the victims exists, with a first and a second pass. With a and b the children of
    the common ancestor on the victim's and on the preemptor's side, REQ counted, each victim of
    another queue satisfies at its moment, unless the preemptor stays within nominal quota:

        first pass     the first configured strategy
        second pass    share(b) < share(a) before the removal (LessThanInitialShare)

    The second begins when no queue has candidates left for the first: at each of its turns, a
    queue gave a candidate that passes, or all of its candidates were refused. Only candidates
    that were refused take part in the second pass. Source: docs/semantics/kueue.md §6.5 and §6.6.
    """
    return _in_order(case, (*kept, ST_STRATEGIES), most)


@CHECKS.of(ST_HIGHEST_SHARE)
def highest_share_first(case: Case, kept: Sequence[Law], most: int) -> Answer:
    """ST-03: each removal is from the ClusterQueue whose turn it is.

    It is found from the root down, at each cohort by the highest share among the children that
    matter: of equal ones a cohort before a queue, and else any. A child matters if a queue with
    candidates left is there or below it, and it borrows or lies on the preemptor's path. The
    queue found gives a candidate that passes, if it has one. Source:
    docs/semantics/kueue.md §6.4.
    """
    return _in_order(case, (*kept, ST_HIGHEST_SHARE), most)


@CHECKS.of(ST_ONE_PER_QUEUE)
def one_per_queue(case: Case, kept: Sequence[Law], most: int) -> Answer:
    """ST-04: in the second pass every ClusterQueue gives at most one victim.

    Whether it gave one or none, it has no second turn. Source: docs/semantics/kueue.md §6.6.
    """
    return _in_order(case, (*kept, ST_ONE_PER_QUEUE), most)


@CHECKS.of(ST_STOPS)
def stops_when_it_fits(case: Case, kept: Sequence[Law], most: int) -> Answer:
    """ST-05: the preemptor does not fit before the last victim is gone.

    Fitting is tested after every removal, never before the first, and ends the search for
    victims. Source: docs/semantics/kueue.md §5.6 and §6.5.
    """
    return _in_order(case, (*kept, ST_STOPS), most)


def _in_order(case: Case, laws: Sequence[Law], most: int) -> Answer:
    """Look for an order of the victims that all laws given permit."""
    if isinstance(case, FairCase):
        orders = FairOrders(case.setting, case.victims, laws)
        found, order = orders.find(most)
        stopped = orders.furthest[1]
    else:
        stops = ST_STOPS in laws
        attempt = AttemptOrders(case.setting, case.victims, bool(case.borrowing), stops)
        found, order = attempt.all_of_them(most)
        stopped = "the preemptor fits before the last of them is gone"
    if found is None:
        return Answer(None, f"not decided: {most:,} states of the search over orders were not all")
    if not found:
        return Answer(holds=False, detail=stopped or "no order of removals keeps to it")
    keys = [case.victims[position].key for position in order]
    return Answer(found, f"in the order {say_some(keys)}", order)


class Strict(Struct, frozen=True):
    """What the laws of precedence say of victims that today's laws accept.

    ``legal`` is ``None`` where it is not decided: a search ended at its bound. ``verdicts`` are
    of the laws that apply, as far as they are decided, each judged together with the earlier laws
    that hold. ``order`` is an order of removals that all laws permit, if there is one.
    """

    legal: bool | None
    verdicts: tuple[Verdict, ...] = ()
    order: tuple[str, ...] = ()


def judge_strictly(case: Case, most: int = MOST_STATES) -> Strict:
    """Judge victims by the laws of precedence; each search over orders visits ``most`` states.

    Today's laws must accept the case: only removals that they permit are searched.
    """
    laws = beside(case.rules)
    if not case.victims:
        return Strict(legal=True)
    # All laws at once first: that nearly always answers, by one search in place of one per law.
    answer = CHECKS[ST_ATTEMPTS.id](case, (), most) if laws[0] is ST_ATTEMPTS else None
    if answer is None or answer.holds:
        answer = CHECKS[laws[-1].id](case, laws[:-1], most)
    if answer.holds:
        verdicts = tuple(judge(law, (), answer.detail) for law in laws)
        return Strict(answer.holds, verdicts, tuple(case.victims[p].key for p in answer.order))
    kept: list[Law] = []
    verdicts = ()
    for law in laws:
        one = CHECKS[law.id](case, kept, most)
        # Later laws are judged together with earlier ones: without these they mean nothing.
        if one.holds is None:
            break
        verdicts += (judge(law, [] if one.holds else [one.detail], one.detail),)
        if one.holds:
            kept.append(law)
    return Strict(answer.holds, verdicts)


def verify(case: Case) -> Verification:
    """Judge a case by today's laws, and by precedence if these hold; undecided is not accepted."""
    found = verify_case(case)
    # Precedence asks whose turn each legal removal was: of illegal ones it says nothing.
    if not found.accepted:
        return found
    strict = judge_strictly(case)
    return Verification(
        accepted=strict.legal is True,
        verdicts=(*found.verdicts, *strict.verdicts),
        removal_order=strict.order,
    )
