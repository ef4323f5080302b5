"""The solve of a planned ask to its proven optimum, and what planning asks of YuniKorn.

Law 1 comes first: allocations that opted out are a last resort under every objective, and
originators are under those that count ``last_resort``. Whether some legal set spares them is
settled before any cap or wish: no cap and no wish may outweigh the law.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from planner.case.yunikorn import Case
from planner.case.yunikorn_words import ahead, explain_refusal
from planner.errors import InputError, LookupFailed, did_you_mean
from planner.laws.yunikorn import Spared
from planner.models.shared.classes import alone_in_class
from planner.models.yunikorn.formulation import build_classes
from planner.models.yunikorn.laws import spared_by
from planner.objective.profiles import Measure, Profile
from planner.objective.wishes import NO_WISHES
from planner.objective.yunikorn import chosen_node
from planner.plan import Conclusion, Status
from planner.plan.yunikorn import YuniKornPlan
from planner.proof.claims import LAST_RESORT
from planner.quantity import plural
from planner.quota.yunikorn.cluster import Asking, Cluster, find_ask, prepare
from planner.quota.yunikorn.lowered import excess, lowered
from planner.quota.yunikorn.queue import walk
from planner.solver.answer import (
    Capped,
    cap,
    certify,
    refuse_worse,
    why_no_plan,
    without_solver,
)
from planner.solver.deadline import Deadline
from planner.solver.finder import find_any
from planner.solver.levels import Absence, Proved, Settling, prove_absence, say_proved
from planner.solver.proving.yunikorn import cases
from planner.solver.search import Search, bind
from planner.solver.start import Given, only_pending
from planner.solver.yunikorn.planning import YuniKornPlanning, YuniKornRules, side_of
from planner.stage import begin
from planner.state.clock import clock_of, from_nanoseconds, to_nanoseconds
from planner.state.yunikorn import YuniKornState
from planner.state.yunikorn_release import V1_9, release_of

LAST_TIER: Final[Measure] = ("last_resort",)


class Sparing(Struct, frozen=True):
    """A search that spares whom law 1 spares as far as possible.

    ``spare`` says whom, ``settled`` whether it is known that no more can be spared.
    """

    search: Search
    spare: Spared = "nobody"
    settled: bool = True


class PreparedAsk(Struct, frozen=True):
    """A search that is ready for its levels, with its caps; ``wished`` is the same before caps.

    ``within`` says whether the core's own answer is one that the search may give.
    """

    search: Search
    wished: Search
    capped: Capped
    within: bool


def solve(planning: YuniKornPlanning, profile: Profile, deadline: Deadline) -> YuniKornPlan:
    """Return the best legal plan under a profile, verified, with its certificate.

    Raises `InputError` if the state cannot tell what the profile counts or names; `InternalError`
    if a plan fails its verification, or the optimum is worse than the core's own plan.
    """
    started = time.monotonic()
    profile = planning.set_objective(profile)
    greedy = planning.greedy_plan()
    settled = settled_ask(planning)
    if settled is not None:
        return without_solver(planning, profile, greedy, *settled)
    found, proved, resort = _search(planning, profile, deadline, greedy)
    if resort.victims is not None:  # some legal set spares them after all: search anew from it
        found, proved, resort = _search(planning, profile, deadline, greedy, resort.victims)
    search = found.search
    certificate = certify(planning.state.digest, proved, started, found.capped)
    certificate = certificate.model_copy(
        update={"last_resort": "certified" if resort.tree else None}
    )
    if proved.victims is None:
        why = why_no_plan(planning, profile, search, proved)
        nothing = Conclusion(*why, profile.name, certificate=certificate, greedy=greedy)
        return planning.by_its_rules(planning.plan(nothing))
    positions = planning.in_candidate_order(proved.victims)
    terms = planning.table.evaluate(positions)
    if greedy.victims and found.within:
        refuse_worse(profile, terms, greedy.terms)
    node, made = chosen_node(planning.problem, positions), "makes room"
    if planning.problem.excess is not None:
        made = f"brings {planning.case.asking.leaf.path} to its max"
    conclusion = Conclusion(
        "optimal" if proved.outcome == "optimal" else "feasible",
        f"preempting {plural(len(positions), 'allocation')} {made}; "
        + say_proved(proved, deadline)
        + found.capped.words,
        profile.name,
        terms,
        certificate,
        greedy,
    )
    host = None if node is None else planning.problem.nodes[node]
    return planning.accepted(planning.plan(conclusion, positions, host))


def _search(
    planning: YuniKornPlanning,
    profile: Profile,
    deadline: Deadline,
    greedy: YuniKornPlan,
    known: Sequence[int] | None = None,
) -> tuple[PreparedAsk, Proved, Absence]:
    """Search the least disruptive set, and prove it.

    Last resorts are spared if any legal set spares them: if the answer has victims that opted out,
    it is to be proved, too, that no legal set does without such victims.
    """
    free = free_search(planning, profile, deadline)
    sparing = spare_last_resorts(planning, profile, free, known)
    found = with_caps(planning, profile, greedy, sparing, proving=True)
    claims = planning.claims(profile, found.capped.kept, spare=sparing.spare)
    undecided, levels = found.capped.undecided, profile.levels

    def fresh(_: Sequence[Measure], left: AbstractSet[int] | None) -> Search:
        search = found.wished.fork()
        if left is not None:
            members = search.classes.members
            search.active = [k for k in search.active if not left.isdisjoint(members[k])]
        return search

    given = claims, found.search, levels, fresh, planning.certify
    proved = Settling(*given, undecided=undecided).settle()
    opted_out = spared_by(planning.problem, "opted-out")
    if proved.victims is None or not opted_out[list(proved.victims)].any():
        # If time ended before it was known whom law 1 spares, another plan might spare more.
        sure = sparing.settled or proved.outcome != "optimal"
        return found, proved if sure else replace(proved, outcome="feasible"), Absence()
    without = planning.claims(replace(profile, wishes=NO_WISHES), (), spare="opted-out")
    others = _narrowed(planning, free, "opted-out")
    resort = prove_absence(others, without, planning.certify, LAST_RESORT)
    if resort.tree is None:
        proved = replace(proved, outcome="feasible")
    else:
        proved = replace(proved, trees=(*proved.trees, resort.tree))
    return found, proved, resort


def prepare_ask(
    planning: YuniKornPlanning,
    profile: Profile,
    deadline: Deadline,
    greedy: YuniKornPlan,
    apart: Collection[int] = (),
) -> PreparedAsk:
    """Set up the search for an ask that needs one, with the caps of its profile.

    ``apart`` are positions of allocations that get a class of their own, so that a question can
    be asked about each of them.
    """
    free = free_search(planning, profile, deadline, apart)
    return with_caps(planning, profile, greedy, spare_last_resorts(planning, profile, free))


def free_search(
    planning: YuniKornPlanning, profile: Profile, deadline: Deadline, apart: Collection[int] = ()
) -> Search:
    """Return the search over all classes of a profile in which law 1 does not bind."""
    problem = planning.problem
    # Members of a class never differ in tier or opting out, for law 1.
    costs = planning.table.telling_apart((*profile.terms, *LAST_TIER))
    costs += [problem.opted_out.astype(np.int64), *alone_in_class(len(problem.allocations), apart)]
    reachable = planning.eligible
    # Victims are on the node of the ask, unless it has room without them: then on any node.
    if not problem.roomy or problem.ask.required_node:
        known_nodes = problem.node >= 0
        hosted = np.zeros(len(problem.node), dtype=np.bool_)
        hosted[known_nodes] = problem.usable[problem.node[known_nodes]]
        reachable = reachable & hosted
    classes = build_classes(problem, reachable, costs)
    rules = YuniKornRules(problem, planning.table, planning.rules, spare="nobody")
    return Search(rules, classes, deadline, list(range(len(classes))))


def _narrowed(planning: YuniKornPlanning, free: Search, spare: Spared) -> Search:
    """Return a fork of a search in which law 1 spares some."""
    rules = YuniKornRules(planning.problem, planning.table, planning.rules, spare=spare)
    return dataclasses.replace(free.fork(), rules=rules)


def spare_last_resorts(
    planning: YuniKornPlanning, profile: Profile, free: Search, known: Sequence[int] | None = None
) -> Sparing:
    """Bind a search by law 1 as far as some legal set keeps it; ``free`` is never narrowed.

    ``known`` are positions of a legal set without anybody who opted out.
    """
    settled = True
    # Originators are spared only where `last_resort` counts them; the choice that spares more comes
    # first.
    choices: tuple[Spared, ...] = ("last-tier",) if LAST_TIER in profile.levels else ()
    for choice in (*choices, "opted-out"):
        if not spared_by(planning.problem, choice)[planning.eligible].any():
            continue  # there is nobody to spare
        # Without caps or wishes: whom law 1 spares does not depend on what the user wishes.
        trial = _narrowed(planning, free, choice)
        if known is not None and choice == "opted-out":
            trial.incumbent = trial.classes.counts(known)
        elif find_any(trial) == "unknown" and choice == "opted-out":
            settled = False  # for originators the level `last_resort` settles it
        if trial.incumbent is not None:
            return Sparing(trial, choice, settled)
    return Sparing(free.fork(), settled=settled)


def with_caps(
    planning: YuniKornPlanning,
    profile: Profile,
    greedy: YuniKornPlan,
    sparing: Sparing,
    *,
    proving: bool = False,
) -> PreparedAsk:
    """Bind a search by the wishes and caps of a profile; begin from the core's own answer if legal.

    ``proving`` asks for proofs of what caps drop.
    """
    search, spare = sparing.search, sparing.spare
    within = not greedy.outside_rules and greedy.spares(spare)
    if greedy.victims and within:
        search.incumbent = search.classes.counts(planning.greedy_positions())
    claiming = partial(planning.claims, profile, spare=spare) if proving else None
    bind(search, profile)
    wished = search.fork()
    capped = cap(search, profile, greedy, claiming, planning.certify)
    return PreparedAsk(search, wished, capped, within)


def settled_ask(planning: YuniKornPlanning) -> tuple[Status, str] | None:
    """Return the answer where no search is needed: it fits as it is, or may not preempt."""
    held = planning.case.decision.replaces
    if held is not None:
        place = f"placeholder {held.allocation_key}"
        return "optimal", f"it takes the place of {place}: no preemption needed"
    if planning.case.decision.fits_at_once:
        return "optimal", "it fits as it is: no preemption needed"
    if planning.problem.excess is not None and not planning.problem.excess:
        return "optimal", "what is being preempted already brings it to its max"
    if not planning.problem.may_preempt:
        return "infeasible", explain_refusal(planning.case.cluster, planning.case.asking)
    return None


__all__ = ["answer", "cases", "check", "is_outside", "lowered_quotas", "solve", "start"]


def check(given: Given) -> None:
    """Refuse options that mean something to other schedulers only.

    Raises `InputError` if one of them is given.
    """
    if given.flavors != "kueue":
        raise InputError("flavors", "YuniKorn knows no flavors to choose", hint="leave it out")
    if given.assignment is not None:
        raise InputError("assignment", "YuniKorn knows no flavors", hint="leave it out")
    if given.quota is not None and (given.pending or given.rules):
        said = "takes the place of an ask" if given.pending else "has rules of its own"
        raise InputError("quota", f"a queue {said}", hint="leave one of the two out")
    if given.stability or given.stable:
        asked = "stability" if given.stability else "stable"
        hint = "leave it out; planner simulate shows what YuniKorn does when they are asks again"
        raise InputError(asked, "only Kueue's victims queue again", hint=hint)


def start(state: YuniKornState, given: Given) -> YuniKornPlanning:
    """Make an ask ready for planning: its allocation key names it, or its pod's namespace/name.

    Or a queue, where the path of one is given that uses more than its maximum.

    Raises `InputError` if it cannot be planned for, or an option means nothing to YuniKorn.
    """
    check(given)
    begin("preparing")
    now, laws = clock_of(given.now), side_of(given.rules)
    if now is not None and now != from_nanoseconds(state.now):  # of which a plan tells no more
        state = state.model_copy(update={"now": to_nanoseconds(now)})
    quota = given.quota
    found = _waits(state, given) if quota is None else _above_max(state, quota.lower())
    planning = YuniKornPlanning(Case(state, *found, given.costs), laws)
    planning.certify = given.certify
    return planning


def _waits(state: YuniKornState, given: Given) -> tuple[Cluster, Asking]:
    """Return the ask to plan for; raises `InputError` if there is no such ask."""
    asks = [
        (partition.name, application.application_id, ask)
        for partition in state.partitions
        for application, ask in partition.asks
    ]
    pods = {ask.allocation_key: ask.pod for _, _, ask in asks}
    wanted = given.pending or only_pending(state, state.pending, lambda key: pods[key] or key)
    for partition, application, ask in asks:
        if wanted in {ask.allocation_key, ask.pod}:
            cluster = prepare(state, partition)
            return cluster, find_ask(cluster, ask.allocation_key, application)
    known = [ask.pod or ask.allocation_key for _, _, ask in asks]
    shown = ", ".join(known[:10]) or "there are none"
    raise LookupFailed(
        state.source,
        f'no ask "{wanted}" is pending',
        f"the allocation key of an ask, or the namespace/name of its pod: {shown}",
        did_you_mean(wanted, known),
    )


def _above_max(state: YuniKornState, path: str) -> tuple[Cluster, Asking]:
    """Return a queue that uses more than its maximum, by its path, in the first such partition.

    Raises `InputError` if there is no such queue, or it is within its maximum.
    """
    clusters = [prepare(state, partition.name) for partition in state.partitions]
    there = [one for one in clusters if path in one.tree.by_path] or clusters[:1]
    found = [lowered(cluster, path) for cluster in there]
    for cluster, asking in found:
        used = asking.leaf.allocated
        if any(used.get(t, 0) > most for t, most in (asking.leaf.max or {}).items()):
            return cluster, asking
    is_so = "is within its max" if found[0][1].leaf.max else "has no max"
    raise InputError(state.source, f"queue {path} {is_so}: nobody has to go for it")


def lowered_quotas(state: YuniKornState) -> list[str]:
    """Return the queues above their maximum in which the core preempts for that, from 1.9 on."""
    if release_of(state.release) < V1_9:
        return []
    known = [prepare(state, one.name) for one in state.partitions if one.preemption.quota]
    queues = (queue for cluster in known for queue in walk(cluster.tree.root))
    found = (one for one in queues if one.is_managed and one.properties.quota_delay)
    return [one.path for one in found if excess(one)]


def answer(
    planning: YuniKornPlanning, profile: Profile, deadline: Deadline, given: Given
) -> YuniKornPlan:
    """Return the best legal plan, with what the core's cycles make of its own decision.

    Of what is ``given`` nothing else has a meaning for an ask.
    """
    del given
    plan, case = solve(planning, profile, deadline), planning.case
    notes = tuple(ahead(case))
    if not notes:
        return plan
    found = {"held_back": case.held_back, "may_also": case.may_also}
    greedy = plan.greedy and plan.greedy.model_copy(
        update={**found, **({"explanation": notes[0]} if case.held_back else {})}
    )
    return plan.model_copy(update={**found, "greedy": greedy, "notes": (*notes, *plan.notes)})


def is_outside(greedy: YuniKornPlan, plans: Sequence[YuniKornPlan], terms: Sequence[str]) -> bool:
    """Say whether the core's own plan breaks a law, or has victims that some best plan spares.

    Best plans have pods that opted out, or originators where last-tier victims are counted, only
    if no plan can do without (law 1). The core does not heed that law.
    """
    if greedy.outside_rules:
        return True
    spare: tuple[Spared, ...] = (
        ("opted-out", "last-tier") if "last_resort" in terms else ("opted-out",)
    )
    return any(
        not greedy.spares(each) and any(plan.spares(each) for plan in plans) for each in spare
    )
