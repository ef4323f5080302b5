"""The laws of precedence, one function each: the executable specification of ``strict``.

Every function is named like the law in ``planner.laws.kueue``. It takes a ``Case``, the laws that
were found to hold, as orders must keep all of them, and how many states a search may visit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from planner.laws import Law, Register, kueue, of_precedence
from planner.plan import Verdict
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.fair_sharing import FairCase
from planner.verifier.kueue.setting import Setting, Variant
from planner.verifier.kueue_strict.orders import MOST_STATES, AttemptOrders, FairOrders
from planner.verifier.wording import judge, say_some


class Answer(Struct, frozen=True):
    """Whether a law holds, ``None`` if a search ended at its bound; ``detail`` says why.

    ``order`` is an order of removals that shows that, by positions of the plan's victims.
    """

    holds: bool | None
    detail: str
    order: tuple[int, ...] = ()


CHECKS: Final[Register[Callable[[Case, Sequence[Law], int], Answer]]] = Register()
"""The check of every law, by the law's id."""


@CHECKS.of(kueue.ST_ATTEMPTS)
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


@CHECKS.of(kueue.ST_STRATEGIES)
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
    return _in_order(case, (*kept, kueue.ST_STRATEGIES), most)


@CHECKS.of(kueue.ST_HIGHEST_SHARE)
def highest_share_first(case: Case, kept: Sequence[Law], most: int) -> Answer:
    """ST-03: each removal is from the ClusterQueue whose turn it is.

    It is found from the root down, at each cohort by the highest share among the children that
    matter: of equal ones a cohort before a queue, and else any. A child matters if a queue with
    candidates left is there or below it, and it borrows or lies on the preemptor's path. The
    queue found gives a candidate that passes, if it has one. Source:
    docs/semantics/kueue.md §6.4.
    """
    return _in_order(case, (*kept, kueue.ST_HIGHEST_SHARE), most)


@CHECKS.of(kueue.ST_ONE_PER_QUEUE)
def one_per_queue(case: Case, kept: Sequence[Law], most: int) -> Answer:
    """ST-04: in the second pass every ClusterQueue gives at most one victim.

    Whether it gave one or none, it has no second turn. Source: docs/semantics/kueue.md §6.6.
    """
    return _in_order(case, (*kept, kueue.ST_ONE_PER_QUEUE), most)


@CHECKS.of(kueue.ST_STOPS)
def stops_when_it_fits(case: Case, kept: Sequence[Law], most: int) -> Answer:
    """ST-05: the preemptor does not fit before the last victim is gone.

    Fitting is tested after every removal, never before the first, and ends the search for
    victims. Source: docs/semantics/kueue.md §5.6 and §6.5.
    """
    return _in_order(case, (*kept, kueue.ST_STOPS), most)


def _in_order(case: Case, laws: Sequence[Law], most: int) -> Answer:
    """Look for an order of the victims that all laws given permit."""
    if isinstance(case, FairCase):
        orders = FairOrders(case.setting, case.victims, laws)
        found, order = orders.find(most)
        stopped = orders.furthest[1]
    else:
        stops = kueue.ST_STOPS in laws
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
    laws = of_precedence("kueue-fair" if isinstance(case, FairCase) else "kueue-classical")
    if not case.victims:
        return Strict(legal=True)
    # All laws at once first: that nearly always answers, by one search in place of one per law.
    answer = CHECKS[kueue.ST_ATTEMPTS.id](case, (), most) if laws[0] is kueue.ST_ATTEMPTS else None
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
