"""Why nothing: the laws of YuniKorn that leave no plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from planner.commands.explain.minimal import in_words, minimal
from planner.commands.explain.record import LawInWords
from planner.commands.explain.yunikorn.shortfall import held_by, nearest_node
from planner.commands.explain.yunikorn.wording import (
    amount,
    counted,
    fault,
    fence,
    guarantees,
    listed,
)
from planner.laws import (
    YK_FENCE,
    YK_FITS_NODE,
    YK_LEAVES_GUARANTEED,
    YK_MAY_PREEMPT,
    YK_OTHER_QUEUE,
    YK_OVER_GUARANTEED,
    YK_PREEMPTABLE,
    YK_PRIORITY,
    YK_UNDER_GUARANTEED,
    YK_WITHIN_GUARANTEED,
    YK_WITHIN_LIMITS,
    Law,
    Register,
    in_drop_order,
)
from planner.models.yunikorn.build import assemble
from planner.models.yunikorn.candidates import eligible, exclusions
from planner.models.yunikorn.columns import build_classes
from planner.models.yunikorn.need import (
    above_guaranteed,
    missing_on,
    over_limits,
    short_of_guaranteed,
)
from planner.problem.yunikorn import YuniKornProblem
from planner.solver.deadline import Deadline
from planner.solver.engine import Outcome, run
from planner.solver.yunikorn.describe import explain_refusal
from planner.solver.yunikorn.planning import YuniKornPlanning

WORDS: Final[Register[Callable[[YuniKornPlanning], str]]] = Register()
"""What a law says of an ask, with its numbers, by the law's id."""


def laws_of(rules: str) -> tuple[Law, ...]:
    """Return the laws of a rule set that can be dropped, in the order in which that is tried."""
    return in_drop_order(rules)


def feasible(problem: YuniKornProblem, rules: str, kept: set[str], deadline: Deadline) -> Outcome:
    """Say whether any victim set keeps to the laws whose ids are given, and to no others.

    Without YK-08 every node may host the ask, and so may one that is not there.
    """
    without = {law.id for law in laws_of(rules)} - kept
    if YK_FITS_NODE.id in without:
        nodes = [*problem.nodes, ""]
        available = [*problem.available, {}]
        usable = np.ones(len(nodes), dtype=np.bool_)
        problem = replace(problem, nodes=nodes, available=available, usable=usable)
    classes = build_classes(problem, eligible(problem, without), [])
    formulation = assemble(problem, classes, rules, spare="nobody", without=without)
    return run(formulation.builder, None, deadline).outcome


def minimal_clash(
    problem: YuniKornProblem, rules: str, deadline: Deadline
) -> tuple[set[str], bool]:
    """Return the ids of a minimal clashing set, and whether it is proved to be one."""
    return minimal(laws_of(rules), lambda kept: feasible(problem, rules, kept, deadline))


def clash_in_words(planning: YuniKornPlanning, ids: set[str]) -> tuple[LawInWords, ...]:
    """Return clashing laws in the order of their ids, with what each says here."""
    return in_words(laws_of(planning.subject.rules), ids, WORDS, planning)


def _forbidden(planning: YuniKornPlanning, law: Law) -> int:
    """Count the allocations that a law forbids by itself."""
    problem = planning.problem
    return sum(int(forbids(problem).sum()) for each, forbids in exclusions(problem) if each == law)


@WORDS.of(YK_LEAVES_GUARANTEED)
def _leaves_guaranteed(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    may_go = [
        f"queue {problem.queues[at.queue].path} gives {amount(at.amount, problem.types[at.type])}"
        for at in above_guaranteed(problem)
        if problem.types[at.type] in problem.ask.resource
    ]
    return f"queues keep their guaranteed: at most {listed(may_go) or 'anything'}"


@WORDS.of(YK_OTHER_QUEUE)
def _other_queue(planning: YuniKornPlanning) -> str:
    own = planning.problem.queues[planning.problem.own_queue].path
    return f"{_are(planning, YK_OTHER_QUEUE)} in {own}, the queue of the ask"


@WORDS.of(YK_WITHIN_GUARANTEED)
def _within_guaranteed(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    short = short_of_guaranteed(problem)
    if short is None:
        return f"{guarantees(problem, problem.own_queue)}, so the ask may not preempt"
    lacks = listed(
        f"{amount(at.amount, problem.types[at.type])} at queue {problem.queues[at.queue].path}"
        for at in short
    )
    return f"the ask does not fit into what is left of the guaranteed: it lacks {lacks}"


@WORDS.of(YK_UNDER_GUARANTEED)
def _under_guaranteed(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    return f"{guarantees(problem, problem.own_queue)}: nothing is left of it"


@WORDS.of(YK_OVER_GUARANTEED)
def _over_guaranteed(planning: YuniKornPlanning) -> str:
    text = "queues give only while they are over their guaranteed"
    count = _forbidden(planning, YK_OVER_GUARANTEED)
    return f"{text}; {_are(planning, YK_OVER_GUARANTEED)} in one that is not" if count else text


@WORDS.of(YK_PRIORITY)
def _priority(planning: YuniKornPlanning) -> str:
    count = _forbidden(planning, YK_PRIORITY)
    have = "has" if count == 1 else "have"
    ask = planning.problem.ask
    after = "" if ask.required_node else " after the offsets and fences of the queues"
    return f"{counted(count)} {have} a higher priority than {ask.priority}{after}"


@WORDS.of(YK_FENCE)
def _fence(planning: YuniKornPlanning) -> str:
    text = f"preemption stays inside {fence(planning.problem)}"
    where = "outside, or in a queue with preemption.policy disabled"
    return f"{text}; {_are(planning, YK_FENCE)} {where}"


@WORDS.of(YK_FITS_NODE)
def _fits_node(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    if not problem.usable.any():
        reasons = Counter(fault(planning, room) for room in planning.cluster.nodes)
        said = [
            f"{'1 node' if count == 1 else f'each of {count:,} nodes'} {why}"
            for why, count in reasons.items()
        ]
        return f"no node may host the ask: {listed(said) or 'there is none'}"
    if problem.roomy and not problem.ask.required_node:
        return f"the ask goes to a node with room, such as {problem.nodes[problem.roomy[0]]}"
    node = nearest_node(planning)
    name = problem.nodes[node]
    held = held_by(problem, planning.eligible & (problem.node == node))
    lacks = listed(
        f"{amount(missing, problem.types[t])} (candidates there hold "
        f"{amount(held[t], problem.types[t])})"
        for t, missing in missing_on(problem, node).items()
    )
    return f"the ask must fit on one node; {name}, the nearest, lacks {lacks or 'nothing'}"


@WORDS.of(YK_WITHIN_LIMITS)
def _within_limits(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    over = listed(
        f"{amount(at.amount, problem.types[at.type])} too much for queue "
        f"{problem.queues[at.queue].path}"
        for at in over_limits(problem)
    )
    return f"queues stay within their maximum: the ask is {over}"


@WORDS.of(YK_PREEMPTABLE)
def _preemptable(planning: YuniKornPlanning) -> str:
    count = _forbidden(planning, YK_PREEMPTABLE)
    text = "there must be a victim"
    why = "without anything the ask wants, bound to their node, or going already"
    return f"{text}; {_are(planning, YK_PREEMPTABLE)} {why}" if count else text


@WORDS.of(YK_MAY_PREEMPT)
def _may_preempt(planning: YuniKornPlanning) -> str:
    return explain_refusal(planning.cluster, planning.asking.ask)


def _are(planning: YuniKornPlanning, law: Law) -> str:
    count = _forbidden(planning, law)
    return f"{counted(count)} {'is' if count == 1 else 'are'}"
