"""A pending ask and its plan, to ask questions about; the changes that make a plan exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import gcd
from typing import Any

from msgspec.structs import replace

from planner.case.yunikorn_words import ahead
from planner.commands.explain.inquiry import (
    HIGHEST_PRIORITY,
    Bounds,
    Clashing,
    Edit,
    Explainer,
    led_by,
)
from planner.commands.explain.record import LawInWords
from planner.commands.explain.yunikorn import clash
from planner.commands.explain.yunikorn.record import (
    YuniKornClash,
    YuniKornExplanation,
    YuniKornStanding,
)
from planner.commands.whatif.yunikorn_edit import every_queue
from planner.errors import LookupFailed, did_you_mean
from planner.laws import RULE_SETS, in_drop_order
from planner.laws.yunikorn import YK_LAST_TIER, YK_UNDER_GUARANTEED, Spared
from planner.models.yunikorn.candidates import is_under_guaranteed, short_of_guaranteed, used
from planner.models.yunikorn.laws import spared_by
from planner.objective.yunikorn import chosen_node
from planner.plan import Conclusion
from planner.plan.yunikorn import YuniKornPlan
from planner.quota.yunikorn.queue import FENCE, read_properties
from planner.solver.search import Search
from planner.solver.yunikorn.describe import fields_of
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.solver.yunikorn.start import (
    LAST_TIER,
    Sparing,
    free_search,
    prepare_ask,
    settled_ask,
    with_caps,
)
from planner.state.yunikorn import (
    DEFAULT,
    DISABLED,
    ROOT,
    format_yunikorn_quantity,
)

YuniKornExplainer = Explainer[YuniKornPlanning, YuniKornPlan]


def helpful(inquiry: YuniKornExplainer) -> tuple[Iterator[Edit], bool]:
    """Return every single edit that works, and whether all that might be are tried.

    A number changes by the smallest step up, a policy to its other value. For an ask with a
    required node only its permission to preempt, its priority and the maxima of its queues count.
    For a queue above its maximum none is tried. What an edit cannot name is not tried: a key with
    an equals sign, queues that several partitions have.
    """
    problem, searches = inquiry.planning.problem, list[Iterator[Edit]]()
    if problem.shares is not None:
        return iter(()), False
    ask, partition = problem.ask, inquiry.planning.case.cluster.partition
    named = "=" not in ask.allocation_key + partition.name
    if named:
        path = f"ask/{ask.allocation_key}"
        permitting = []  # edits that let the ask preempt at all, if YK-11 forbids it
        if not partition.preemption.enabled:
            enabled = f"partition/{partition.name}.preemption.enabled"
            permitting.append(Edit(enabled, "false", "true"))
        if not inquiry.planning.case.asking.ask.x.allow_preempt_other:
            permitting.append(Edit(f"{path}.allowPreemptOther", "false", "true"))
        raised = _raised(inquiry, f"{path}.priority", ask.priority)
        searches += [inquiry.working(*permitting), raised]
    # Edits can name all queues and types, and no queue is in two partitions.
    names = [*(queue.path for queue in problem.queues), *problem.types]
    alone = len(inquiry.planning.state.partitions) == 1
    unique = alone and not any("=" in name for name in names)
    if unique and ask.required_node:
        searches.append(_maxima(inquiry))
    elif unique:
        own = problem.queues[problem.own_queue]
        path = f"queue/{own.path}.priority.offset"
        searches += [_raised(inquiry, path, own.properties.priority_offset), _policies(inquiry)]
        searches += [_maxima(inquiry), _guaranteed(inquiry)]
    return chain.from_iterable(searches), named and unique


def _raised(inquiry: YuniKornExplainer, path: str, now: int) -> Iterator[Edit]:
    """Return the smallest step up of a priority that works.

    What the laws say changes only where the priority reaches that of an allocation, or passes
    that of an ask with a reservation.
    """
    planning = inquiry.planning
    mine = planning.problem.ask.priority
    steps = {worth - mine for worth in planning.adjusted}
    steps |= {ask.priority + 1 - mine for ask in planning.case.cluster.asks.values()}
    ordered = sorted(step for step in steps if 0 < step <= HIGHEST_PRIORITY - now)
    return inquiry.raised(path, now, lambda number: ordered[number - 1], len(ordered))


def _policies(inquiry: YuniKornExplainer) -> Iterator[Edit]:
    """Yield the edits that work of those that remove a fence or open a disabled queue.

    A disabled queue passes its policy on to the queues below it, so it is tried even if no leaf.
    """
    planning = inquiry.planning
    written = {path: queue.properties for path, _, queue in every_queue(planning.state)}
    for facts in planning.problem.queues:
        path = f"queue/{facts.path}"
        means = facts.properties
        policy = FENCE if means.preemption_fence else DISABLED
        own = read_properties(written[facts.path]).disabled and facts.path != ROOT
        disabled = means.disabled and (facts.is_leaf or own)
        if means.preemption_fence or disabled:
            yield from inquiry.working(Edit(f"{path}.preemption.policy", policy, DEFAULT))
        if means.priority_fence:
            yield from inquiry.working(Edit(f"{path}.priority.policy", FENCE, DEFAULT))


def _maxima(inquiry: YuniKornExplainer) -> Iterator[Edit]:
    """Yield the smallest higher maximum of each queue and type that works.

    More than what is allocated and asked together is never needed.
    """
    problem = inquiry.planning.problem
    for queue in problem.path[:-1]:
        facts = problem.queues[queue]
        for t, now in sorted((facts.max or {}).items()):
            wanted = facts.allocated.get(t, 0) + problem.ask.resource.get(t, 0)
            yield from _enlarged(inquiry, f"queue/{facts.path}.max.{t}", t, now, wanted - now)


def _guaranteed(inquiry: YuniKornExplainer) -> Iterator[Edit]:
    """Yield the smallest higher guaranteed of each queue and type that works.

    It is tried where guaranteed is short: at the ask's own queue, and at those above that count.
    Above, it protects the neighbours of the ask as well, so that a still higher one may not help.
    """
    problem = inquiry.planning.problem
    short = short_of_guaranteed(problem)
    if YK_UNDER_GUARANTEED in RULE_SETS[inquiry.planning.rules]:
        short = [] if is_under_guaranteed(problem) else None
    own = [(problem.own_queue, t) for t in sorted(problem.ask.resource)]
    places = dict.fromkeys(own if short is None or short else [])
    places |= dict.fromkeys((at.queue, problem.types[at.type]) for at in short or ())
    for queue, t in places:
        facts = problem.queues[queue]
        now = (facts.guaranteed or {}).get(t)
        wanted = used(facts, t) + problem.ask.resource.get(t, 0) - (now or 0)
        yield from _enlarged(inquiry, f"queue/{facts.path}.guaranteed.{t}", t, now, wanted)


def _enlarged(
    inquiry: YuniKornExplainer, path: str, t: str, now: int | None, most: int
) -> Iterator[Edit]:
    """Return the smallest step up of an amount that works, up to ``most``.

    What the laws compare changes only at multiples of the greatest common divisor of all amounts
    of the type.
    """
    problem = inquiry.planning.problem
    amounts = [problem.ask.resource.get(t, 0)]
    amounts += [allocation.resource.get(t, 0) for allocation in problem.allocations]
    for facts in problem.queues:
        known = (facts.guaranteed, facts.max, facts.allocated, facts.preempting)
        amounts += [resource.get(t, 0) for resource in known if resource]
    grain = max(1, gcd(*amounts))

    write = partial(format_yunikorn_quantity, resource=t)
    return inquiry.raised(path, now, grain.__mul__, -(-most // grain), write=write)


class YuniKornInquiry(YuniKornExplainer):
    """One ask of YuniKorn with its optimal plan, to ask questions about."""

    clashes = YuniKornClash
    settled = staticmethod(settled_ask)
    shortfalls = staticmethod(clash.shortfalls)
    helpful = staticmethod(helpful)
    prepare = staticmethod(
        lambda planning, profile, deadline, greedy, apart=(): (
            prepare_ask(planning, profile, deadline, greedy, apart).search
        )
    )
    excluded_by = staticmethod(clash.excluded_by)

    @property
    def bounds(self) -> list[Bounds]:
        """The bounds of alternatives: with caps, without, and at last with the last tier, too."""
        last = [] if self.spared == "nobody" else [Bounds(capped=False, last_resort=True)]
        return super().bounds + last

    def search_within(self, bounds: Bounds, apart: Collection[int] = ()) -> Search:
        """Prepare a search within bounds; with the last tier, law 1 does not bind."""
        if not bounds.last_resort:
            return super().search_within(bounds, apart)
        planning, profile = self.planning, replace(self.profile, caps=())
        free = free_search(planning, profile, self.deadline, apart)
        return with_caps(planning, profile, self.greedy, Sparing(free)).search

    @property
    def others(self) -> Sequence[str]:
        """The core's own victims in a queue above its maximum that the plan does without."""
        if self.planning.case.asking.shares is None:
            return ()
        return [key for key in self.greedy.keys if key not in self.plan.keys]

    @property
    def spared(self) -> Spared:
        """The kind of allocations that YK-01 spares, as some legal set does without that kind."""
        plan, problem = self.plan, self.planning.problem
        if not plan.victims:
            return "nobody"
        victims = [self.positions[key] for key in plan.keys]
        if LAST_TIER in self.profile.levels and not spared_by(problem, "last-tier")[victims].any():
            return "last-tier"
        return "nobody" if spared_by(problem, "opted-out")[victims].any() else "opted-out"

    def key_named(self, name: str) -> str:
        """Return the key of an allocation that is named by its key or its pod."""
        allocations = self.planning.problem.allocations
        if any(one.allocation_key == name for one in allocations):
            return name
        keys = [one.allocation_key for one in allocations if one.pod == name]
        if len(keys) == 1:
            return keys[0]
        found = f"there is no allocation {name}"
        known = [one.pod or one.allocation_key for one in allocations]
        if keys:
            found, known = f"{len(keys)} allocations are of pod {name}", keys
        shown = ", ".join(known[:10]) or "there are none"
        expected = f"an allocation key, or the namespace/name of its pod: {shown}"
        hint = did_you_mean(name, known)
        raise LookupFailed(self.planning.state.source, found, expected, hint)

    def name(self, key: str) -> str:
        """Return the pod of an allocation, or its key where no pod is known."""
        return self.planning.problem.allocations[self.positions[key]].pod or key

    def seen(self, key: str) -> YuniKornStanding:
        """Return how the laws see an allocation."""
        planning, position = self.planning, self.positions[key]
        problem, law = planning.problem, clash.excluded_by(planning, position)
        # YK-01 spares it only because some legal set does without its kind.
        if law is None and spared_by(problem, self.spared)[position]:
            why = "it is the originator of its application"
            if problem.opted_out[position]:
                why = "it has opted out of preemption"
            text = f"{why}: a last resort, and there are plans without any"
            law = LawInWords.with_text(YK_LAST_TIER, text)
        candidate, generic = law is None, problem.shares is None
        order = clash.node_order(planning, position) if generic else ()
        return YuniKornStanding(
            **fields_of(planning, position),
            candidate=candidate,
            law=law or clash.permitted_by(planning, position),
            position=planning.place.get(position) if candidate else None,
            candidates=len(planning.place),
            node_position=order.index(position) + 1 if candidate and generic else None,
            node_candidates=len(order),
        )

    @property
    def clashing(self) -> Clashing:
        """The laws that can be dropped."""
        planning, rules = self.planning, self.planning.rules
        return (
            in_drop_order(rules),
            partial(clash.stated, planning.problem, rules),
            lambda law: LawInWords.said(law, clash.WORDS, planning),
        )

    def explanation(
        self, text: str, standings: tuple[Any, ...], found: Mapping[str, Any]
    ) -> YuniKornExplanation:
        """Put an answer together, with the names of the pods of all allocations in it."""
        plan = self.plan
        if (
            self.planning.case.asking.shares is not None
        ):  # the core's own answer is no plan for an ask
            text = f"{text}. {'; '.join((self.greedy.explanation, *self.greedy.outside_rules))}"
        if plan.held_back or plan.may_also:
            text = led_by(". ".join(ahead(self.planning.case)), text, plan)
        keys = [*plan.keys, *(one.allocation for one in standings)]
        if other := found.get("alternative"):
            keys += other.victims
        if optima := found.get("optima"):
            keys += chain.from_iterable(optima.plans)
        if clash := found.get("clash"):
            keys += chain.from_iterable(change.victims for change in clash.changes)
        named = {key: self.name(key) for key in dict.fromkeys(keys)}
        return YuniKornExplanation(
            rules=plan.rules,
            answer=text,
            pod=plan.pod,
            application=plan.application,
            queue=plan.queue,
            node=plan.node,
            allocations=standings,
            pods={key: name for key, name in named.items() if name != key},
            **found,
        )

    def plan_of(self, victims: Sequence[int], *, proved: bool) -> YuniKornPlan:
        """Return victims as a plan that the verifier accepted.

        It is verified without a claim of proof: the question's bounds say if YK-01 can be kept.
        """
        planning = self.planning
        positions = planning.in_candidate_order(victims)
        node = chosen_node(planning.problem, positions)
        host = None if node is None else planning.problem.nodes[node]
        terms = planning.table.evaluate(positions)
        found: Conclusion[YuniKornPlan] = Conclusion(
            "feasible", objective=self.profile.name, terms=terms
        )
        plan = planning.plan(found, positions, host)
        status = "optimal" if proved else "feasible"
        return planning.accepted(plan).model_copy(update={"status": status})
