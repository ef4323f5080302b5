"""A planned ask to its proven optimum."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from planner.models.shared.classes import told_apart
from planner.models.yunikorn.columns import build_classes
from planner.objective.profiles import Profile
from planner.objective.yunikorn import chosen_node
from planner.plan import Status, YuniKornPlan
from planner.problem.array import BoolArray
from planner.solver.answer import no_plan, without_solver
from planner.solver.certificate import certify
from planner.solver.comparison import blame_wishes, cap, refuse_worse
from planner.solver.core import find_any
from planner.solver.engine import Deadline
from planner.solver.levels import Answer, solve_levels
from planner.solver.proving.settle import Settling, say_proved
from planner.solver.search import Search
from planner.solver.yunikorn.explanation import (
    explain_infeasible,
    explain_refusal,
    victims_in_words,
)
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.solver.yunikorn.rules import YuniKornRules

LAST_TIER = ("D0",)


@dataclass(frozen=True, slots=True)
class PreparedAsk:
    """A search that is ready for its levels.

    ``spared`` says that no answer has anybody of the last tier, ``dropped`` what was said about
    caps, ``within`` whether the core's own answer is one that the search may give.
    """

    search: Search
    spared: bool
    dropped: str
    within: bool


@dataclass(frozen=True, slots=True)
class _Found(PreparedAsk):
    """A finished search."""

    answer: Answer


def solve_yunikorn(
    planning: YuniKornPlanning, profile: Profile, deadline: Deadline
) -> YuniKornPlan:
    """Return the best legal plan under a profile, verified, with its certificate.

    Raises
    ------
    InputError
        If the state cannot tell what the profile counts or names.
    InternalError
        If a plan fails its verification, or the optimum is worse than the core's own plan.
    """
    started = time.monotonic()
    profile = planning.adopt(profile)
    greedy = planning.greedy_plan()
    settled = settled_ask(planning)
    if settled is not None:
        return without_solver(planning, profile, greedy, *settled)
    found = search_yunikorn(planning, profile, deadline, greedy)
    search = found.search
    claims = planning.claims(profile, search.caps, spare_last_tier=found.spared)
    proved = Settling(claims, search, profile.levels, planning.certify).prove(found.answer)
    certificate = certify(
        planning.state.digest, proved.levels, started, proved=proved, caps=search.caps
    )
    if proved.victims is None:
        why = _why_none(planning, profile, search) if proved.outcome == "infeasible" else None
        return no_plan(planning, profile, greedy, certificate, why)
    positions = planning.in_candidate_order(proved.victims)
    terms = planning.table.evaluate(positions)
    if greedy.victims and found.within:
        refuse_worse(profile, terms, greedy.terms)
    optimal = proved.outcome == "optimal"
    node = chosen_node(planning.problem, positions)
    plan = planning.subject.plan(
        "optimum",
        "optimal" if optimal else "feasible",
        f"preempting {victims_in_words(len(positions))} makes room; "
        + say_proved(proved, deadline)
        + found.dropped,
        objective=profile.name,
        node=None if node is None else planning.problem.nodes[node],
        victims=positions,
        terms=terms,
        certificate=certificate,
        greedy=greedy,
    )
    return planning.accepted(plan)


def search_yunikorn(
    planning: YuniKornPlanning, profile: Profile, deadline: Deadline, greedy: YuniKornPlan
) -> _Found:
    """Search the least disruptive set, the last tier spared if any legal set spares it."""
    ready = prepare_ask(planning, profile, deadline, greedy)
    answer = solve_levels(ready.search, profile.levels)
    return _Found(ready.search, ready.spared, ready.dropped, ready.within, answer)


def prepare_ask(  # noqa: PLR0913 - what a search is made of
    planning: YuniKornPlanning,
    profile: Profile,
    deadline: Deadline,
    greedy: YuniKornPlan,
    apart: Collection[int] = (),
    *,
    last_resort: bool = False,
) -> PreparedAsk:
    """Set up the search for an ask that needs one, with the caps of its profile.

    Whether some legal set spares the last tier is settled before any cap: law 1 is not up for
    trade. ``apart`` are positions of allocations that get a class of their own, so that a
    question can be asked about each of them; with ``last_resort`` law 1 does not bind.
    """
    problem, table = planning.problem, planning.table
    # The tier always tells apart, for law 1.
    costs = table.telling_apart((*profile.terms, *LAST_TIER))
    costs += told_apart(len(problem.allocations), apart)
    classes = build_classes(problem, _reachable(planning), costs)
    everything = list(range(len(classes)))
    rules = YuniKornRules(problem, table, planning.subject.rules, spare_last_tier=False)
    search = Search(rules, classes, deadline, everything)
    spared = False
    if LAST_TIER in profile.levels and not last_resort:
        sparing = Search(replace(rules, spare_last_tier=True), classes, deadline, everything)
        find_any(sparing, sparing.alive)
        spared = sparing.incumbent is not None
        search = sparing if spared else search
    within = not greedy.outside_rules and not (spared and greedy.last_tier)
    if greedy.victims and within:
        search.incumbent = classes.counts(planning.greedy_positions())
    dropped = cap(search, profile, greedy)
    return PreparedAsk(search, spared, dropped, within)


def settled_ask(planning: YuniKornPlanning) -> tuple[Status, str] | None:
    """Return the answer where no search is needed: nothing has to go, or nothing can."""
    if planning.fits_at_once:
        return "optimal", "it fits as it is: no preemption needed"
    if not planning.problem.may_preempt:
        return "infeasible", explain_refusal(planning.cluster, planning.asking.ask)
    return None


def _why_none(planning: YuniKornPlanning, profile: Profile, search: Search) -> str:
    problem, candidates = planning.problem, planning.eligible
    classes = build_classes(problem, candidates, [])
    by_wishes = blame_wishes(search, profile)
    return by_wishes or explain_infeasible(problem, classes, candidates, planning.subject.rules)


def _reachable(planning: YuniKornPlanning) -> BoolArray:
    """Return the eligible allocations that some plan can have: (A,).

    Unless a node has room without victims, they are on a usable node.
    """
    problem = planning.problem
    if problem.roomy and not problem.ask.required_node:
        return planning.eligible
    known = problem.node >= 0
    hosted = np.zeros(len(problem.node), dtype=np.bool_)
    hosted[known] = problem.usable[problem.node[known]]
    reachable: BoolArray = planning.eligible & hosted
    return reachable
