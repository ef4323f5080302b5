"""A joint plan, and serving one by one beside it, as the records that are printed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from planner.case.kueue import Case
from planner.case.kueue_plan import (
    explain_no_flavor,
    hold_in_words,
    on_run_times,
    release_of,
    rule_set,
)
from planner.commands.joint.kueue.question import Question
from planner.commands.joint.kueue.sequence import Served, after, refitting
from planner.commands.joint.kueue.solve import Joint
from planner.errors import InternalError, LookupFailed, UnsupportedError
from planner.objective.profiles import Profile
from planner.objective.terms import TermTable
from planner.plan import Status
from planner.plan.base import name_some
from planner.plan.kueue import GreedyTurn, JointPending, JointPlan, JointStep, OneByOneAnswer
from planner.quantity import plural
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Snapshot
from planner.reference.kueue.aftermath import next_targets, pending_again
from planner.reference.kueue.cycle.turn import MOST_WORK
from planner.solver.answer import certify
from planner.solver.deadline import Deadline
from planner.solver.kueue.stability import looks_ahead
from planner.solver.levels import Proved
from planner.verifier.kueue.certificate import check_status
from planner.verifier.wording import broken

PROVED = "not admitted; proved: too little can be freed for it beside those admitted before it"
CLAIMED = (
    "not admitted: the solver finds no legal steps that admit it beside those admitted before it"
)
NOT = "not admitted: "
UNDECIDED = "not admitted: nothing found in time"
ITS_WORD = "which is its word alone"


def solve_together(question: Question, profile: Profile, deadline: Deadline) -> JointPlan:
    """Return the best joint plan, verified step by step.

    Raises `InputError` if the state cannot tell what the profile counts or names; `InternalError`
    if the optimum is worse than what serving one by one gives, where that is comparable.
    """
    started = time.monotonic()
    if looks_ahead(profile):
        raise UnsupportedError(
            f"objective {profile.name}",
            "whether victims would preempt again (unstable) is not known of a joint plan",
            hint="choose an objective without it, or plan for one workload",
        )
    joint = None
    if any(entrant.ways for entrant in question.entrants):
        joint = Joint(question, profile, deadline)
        joint.solve()
    return describe(question, profile, joint, started)


def describe(
    question: Question, profile: Profile, found: Joint | None, started: float
) -> JointPlan:
    """Return what was found as a joint plan; ``started`` is the monotonic time of the start.

    ``found`` is ``None`` if no pending workload has flavors that could ever do.

    Raises `InternalError` if the plan is called optimal, and not every level has its proof.
    """
    snapshot = question.snapshot
    fit_again: tuple[str, ...] = ()
    gone: list[Admitted] = []
    status: Status = "infeasible"
    pending = tuple(_pending(question, found))
    proved, steps, terms = Proved("unknown", None, ()), [], {}
    if found is None:
        why = dict.fromkeys(one.explanation.removeprefix(NOT) for one in pending)
        explanation = f"no eviction would make room for any of them: {name_some(why, MOST_NAMED)}"
    else:
        status, explanation = _status(found), _explained(question, found)
        examined = not (found.undecided or found.unexamined)
        claimed = status in {"feasible", "unknown"} and found.best and examined
        proved = Proved("unknown", None, found.levels, cut_off=found.cut_off, claimed=claimed)
        place = question.forest.position_of
        steps = [_step(step, found.rules.table, place) for step in found.steps]
        if found.steps:
            victims = [key for step in found.steps for key in step.plan.keys]
            terms = found.rules.table.evaluate([place[key] for key in victims])
            left = after(found.steps[-1].case, found.steps[-1].plan.keys)
            gone = _of_state(snapshot, victims)
            fit_again = refitting(left, gone)
            explanation += "".join(_undone(question, found.steps, left))
    plan = JointPlan(
        rules=rule_set(snapshot.configuration),
        objective=profile.name,
        status=status,
        explanation=explanation,
        now=snapshot.now,
        pending=pending,
        skipped=tuple(question.skipped),
        steps=tuple(steps),
        fit_again=fit_again,
        terms=terms,
        greedy=_greedy(question, found.rules.table if found else None),
        certificate=certify(question.state.digest, proved, started),
        kueue=release_of(snapshot.configuration),
        requests=snapshot.configuration.requests_from,
        notes=(
            *snapshot.notes,
            *_passed_over(question, found.steps if found else ()),
            *on_run_times(question.state, gone),
        ),
    )
    # Steps are verified one by one; what the whole claims is checked here.
    untrue = broken([check_status(plan)])
    if untrue:
        message = f"the certificate of the joint plan is not true: {'; '.join(untrue)}"
        raise InternalError(message)
    return plan


def _status(found: Joint) -> Status:
    settled = not (found.undecided or found.claimed or found.unexamined)
    settled = settled and found.best and all(level.proof for level in found.levels)
    if found.steps:
        return "optimal" if settled else "feasible"
    return "infeasible" if settled else "unknown"


def _explained(question: Question, found: Joint) -> str:
    count, all_ = len(found.steps), len(question.entrants)
    victims = sum(len(step.plan.victims) for step in found.steps)
    examined = not found.undecided and not found.unexamined
    if not count:
        if _status(found) == "infeasible":
            return "proved: no legal steps admit any of them"
        if examined and found.best:
            return f"the solver finds no legal steps that admit any of them, {ITS_WORD}"
        return "nothing found that admits one of them, and nothing proved"
    room = f"evicting {plural(victims, 'workload')} makes room" if victims else "no eviction needed"
    who = f"for {count:,} of {plural(all_, 'pending workload')}"
    if _status(found) == "optimal":
        proof = "proved best over all orders of serving them"
    elif found.best and examined:
        proof = f"over all orders of serving them the solver finds nothing better, {ITS_WORD}"
    elif not found.modelled:
        proof = "served one by one; there are too many to examine more"
    elif found.in_order:
        proof = "served in order of precedence; other orders were not examined"
    else:
        proof = "not proved best within the time limit"
    return f"{room} {who}; {proof}{found.dropped}"


MOST_NAMED: Final = 3
"""How many reasons, or workloads that would undo a plan, are named at most."""


def _undone(question: Question, steps: Sequence[Served], left: Snapshot) -> Iterator[str]:
    """Say who would evict those again that a plan admits: who is left out, or was evicted for it.

    Nothing is said where so many wait, and so many hold quota, that deciding takes too long.
    """
    served = {step.plan.preemptor for step in steps}
    waiting = [one for one in question.preemptors if one.key not in served]
    reasons = {victim.workload: victim.reason for step in steps for victim in step.plan.victims}
    held = sum(map(len, left.admitted.values()))
    if (len(waiting) + len(reasons)) * held > MOST_WORK:
        return
    for victim in _of_state(question.snapshot, reasons):
        with suppress(LookupFailed):  # its LocalQueue may not be in the dump
            again = pending_again(question.state, left, victim, reasons[victim.key])
            waiting.append(again)
    taken = {one.key: served.intersection(next_targets(left, one)) for one in waiting}
    said = [
        f"{key} would evict {' and '.join(sorted(some))} again"
        for key, some in taken.items()
        if some
    ]
    if said:
        yield f"; it does not last: {name_some(said, MOST_NAMED)}"


def _pending(question: Question, found: Joint | None) -> Iterable[JointPending]:
    admitted = {step.plan.preemptor for step in found.steps} if found else set()
    holding = set(question.greedy.holding)
    for e, preemptor in enumerate(question.preemptors):
        if preemptor.key in admitted:
            said = "admitted"
        elif found is None or not question.entrants[e].ways:
            case = Case(question.state, question.snapshot, preemptor)
            lacking = case.assignment.mode == "NoFit"
            said = f"{NOT}{explain_no_flavor(case, ()) if lacking else 'no flavor could ever do'}"
        elif e in found.undecided:
            said = UNDECIDED
        elif e in found.claimed:
            said = CLAIMED
        elif e not in found.unexamined:
            said = PROVED
        else:
            how = "one by one; there are too many to examine more"
            if found.modelled:
                how = "in order of precedence; other orders were not examined"
            said = f"not admitted: not when served {how}"
        yield JointPending(
            workload=preemptor.key,
            cluster_queue=question.snapshot.queue_name(preemptor.queue),
            priority=preemptor.priority,
            admitted=preemptor.key in admitted,
            greedy=preemptor.key in holding,
            explanation=said,
        )


def _passed_over(question: Question, steps: Sequence[Served]) -> Iterator[str]:
    """Say whom Kueue does not serve, although the plan does.

    That is whom it does not even look at; of inactive ClusterQueues the snapshot says it. Or
    others are before one that is served at once and take or reserve the room, of whom the plan
    leaves some out. Or Kueue does not act on what it decides, now or in the step.
    """
    served = {step.plan.preemptor: step for step in steps}
    at_once = {key for key, step in served.items() if not step.plan.victims}
    behind = at_once.difference(question.greedy.holding)
    for preemptor in question.preemptors:
        key, case = preemptor.key, Case(question.state, question.snapshot, preemptor)
        held = case.never_nominated
        if held is None and key in served and case.assignment.mode == "Fit":
            held = case.held_back if key in behind else case.not_carried_out
        if held is None and key in served:
            held = served[key].case.not_carried_out
        # Of several that are before it in a cycle, the record names the first.
        known = held and held.why in {"notHead", "waitsForPodsReady"} and held.head in served
        if held and held.why != "clusterQueueInactive" and not known:
            yield hold_in_words(key, held)


def _step(served: Served, table: TermTable, place: Mapping[str, int]) -> JointStep:
    """Return a step as a record, with the costs of its victims on the scale of the whole plan."""
    plan = served.plan
    victims = (
        victim.model_copy(update={"costs": table.costs_of(place[victim.workload])})
        for victim in plan.victims
    )
    return JointStep(
        preemptor=plan.preemptor,
        cluster_queue=plan.cluster_queue,
        priority=plan.priority,
        assignment=plan.assignment,
        borrowing=plan.borrowing,
        victims=tuple(victims),
        verdicts=served.verification.verdicts,
        removal_order=served.verification.removal_order,
    )


def _greedy(question: Question, table: TermTable | None) -> OneByOneAnswer:
    greedy = question.greedy
    preemptors = {preemptor.key for preemptor in question.preemptors}
    evicted = [key for turn in greedy.turns for key in turn.evicted]
    victims = [key for key in evicted if key not in preemptors]
    terms: dict[str, int] = {}
    if table is not None:
        place = question.forest.position_of
        terms = table.evaluate([place[key] for key in victims if key in place])
    return OneByOneAnswer(
        turns=tuple(
            GreedyTurn(preemptor=turn.preemptor.key, admitted=turn.admitted, victims=turn.evicted)
            for turn in greedy.turns
        ),
        victims=tuple(victims),
        preemptors_evicted=tuple(key for key in evicted if key in preemptors),
        fit_again=refitting(greedy.left, _of_state(question.snapshot, victims)),
        terms=terms,
    )


def _of_state(snapshot: Snapshot, keys: Iterable[str]) -> list[Admitted]:
    """Return workloads by their keys, those of highest priority first, then longest held."""
    wanted = set(keys)
    found = [one for held in snapshot.admitted.values() for one in held if one.key in wanted]
    return sorted(found, key=lambda one: (-one.priority, one.reserved_s, one.uid))
