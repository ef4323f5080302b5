"""What a plan claims of itself and of the state: its certificate, and the facts in it.

The checks of values and status serve every scheduler, the rest is Kueue's.

The laws say that a plan is legal; these checks say that what it claims about itself is true.
Nothing here needs a solver: values are compared with recomputed terms, and what the plan says of
preemptor, victims and shares with the state (CT-05).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from planner.laws import Law
from planner.objective.profiles import (
    measure_unit,
)
from planner.plan import AnyPlan, Verdict
from planner.plan.kueue import JointPlan, Plan
from planner.quantity import format_units, plural
from planner.quota.kueue.tree import NO_PARENT, FlavorResource, Node, Quota, Shares, Usage
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.setting import Setting
from planner.verifier.kueue_topology import around_faults
from planner.verifier.wording import compare, judge, once_each, say_some

NO_QUOTA: Final = Quota(0)


class _Keyed(Protocol):
    @property
    def key(self) -> str: ...


V = TypeVar("V", bound=_Keyed)
REPLAYED: Final = "replayed removal by removal"
FACTS: Final = Law(
    "CT-05",
    "check_facts",
    "what the plan says of preemptor and victims is what the state says",
    "Queues, priorities, usage, evictions under way, requests, what is available now, shares, the "
    "usage and quotas of the tree, and slots of the nodes around.",
    "docs/semantics/kueue.md §2, §3 and §6.1",
)


def check_facts(case: Case, plan: Plan) -> Verdict:
    """CT-05: what the plan says of preemptor, demand and victims is what the state says.

    The shares of the nodes that it names are calculated anew and compared exactly, as doubles.
    """
    setting = case.setting
    preemptor = setting.preemptor
    queue = case.snapshot.queue_name(setting.queue)
    findings = [
        *compare("preemptor", plan.preemptor, preemptor.key),
        *compare(f"queue of {preemptor.key}", plan.cluster_queue, queue),
        *compare(f"priority of {preemptor.key}", plan.priority, preemptor.priority),
        *_demand_faults(setting, plan),
        *_share_faults(case, plan),
        *_tree_faults(case, plan),
        *around_faults(setting.floor, case.victims, plan),
    ]
    if plan.algorithm == "optimum" and plan.borrowing is not None and not plan.victims:
        findings.append("borrowing: where nobody is evicted there is no attempt")
    holders = {victim.key: victim for victim in case.victims}
    for i, claim in enumerate(plan.victims):
        key, holder = claim.workload, holders.get(claim.workload)
        if holder is None:
            findings.append(f"nothing is known of {key}")
            continue
        runs_in = case.snapshot.queue_name(holder.queue)
        findings += compare(f"queue of {key}", claim.cluster_queue, runs_in)
        findings += compare(f"priority of {key}", claim.priority, holder.priority)
        findings += compare(f"eviction of {key}", claim.evicted, holder.leaving)
        held = [case.snapshot.tree.frs[fr] for fr, units in holder.usage.items() if units]
        stated = [FlavorResource(amount.flavor, amount.resource) for amount in claim.usage]
        findings += once_each(f"victims[{i}].usage of {key}", stated, held)
        for amount in claim.usage:
            name = FlavorResource(amount.flavor, amount.resource)
            fr = case.snapshot.fr_index.get(name)
            units = 0 if fr is None else holder.usage.get(fr, 0)
            quantity = format_units(units, amount.resource)
            findings += compare(f"usage of {name} by {key}", amount.units, units)
            findings += compare(f"quantity of {name} by {key}", amount.quantity, quantity)
    return judge(
        FACTS, findings, f"{preemptor.key} and {plural(len(plan.victims), 'victim')} compared"
    )


def _demand_faults(setting: Setting, plan: Plan) -> Iterator[str]:
    snapshot = setting.snapshot
    stated = [FlavorResource(demand.flavor, demand.resource) for demand in plan.demand]
    yield from once_each("the demand", stated, [snapshot.tree.frs[fr] for fr in setting.request])
    for i, demand in enumerate(plan.demand):
        name = FlavorResource(demand.flavor, demand.resource)
        known = snapshot.fr_index.get(name)
        if known is None:
            yield f"nothing is known of {name}"
            continue
        available = snapshot.usage.available(setting.queue, known)
        asked = setting.request.get(known, 0)
        yield from compare(f"request of {name}", demand.requested, asked)
        yield from compare(f"available {name}", demand.available, max(0, available))
        # Not clamped at 0: where the tree is over-admitted, the excess has to be freed as well.
        short = max(0, asked - available) if asked else 0
        yield from compare(f"shortfall of {name}", demand.shortfall, short)
        yield from compare(f"contest of {name}", demand.contested, known in setting.contested)
        quantity = format_units(asked, demand.resource)
        yield from compare(f"demand[{i}].quantity of {name}", demand.quantity, quantity)


def _share_faults(case: Case, plan: Plan) -> Iterator[str]:
    """Compare shares: today, with REQ counted, and with REQ counted and the victims gone."""
    snapshot = case.snapshot
    tree, shares = snapshot.tree, Shares(snapshot.tree)
    nodes = _nodes(case)
    # Shares count what the search for victims counts; the tree, below, counts `pods` as well.
    searched = case.setting.searched
    counted = _with_request(case, snapshot.usage, searched)
    after = _with_request(case, case.removal.usage, searched)
    told = [f"{stated.kind} {stated.name}" for stated in plan.shares]
    below = (node for node in _touched(case) if tree.nodes[node].parent != NO_PARENT)
    yield from once_each("shares", told, [_name(tree.nodes[node]) for node in below])
    for stated in plan.shares:
        name = f"{stated.kind} {stated.name}"
        node = nodes.get((stated.name, stated.kind == "ClusterQueue"))
        if node is None:
            yield f"nothing is known of {name}"
            continue
        yield from compare(f"weight of {name}", stated.weight, tree.nodes[node].weight)
        for when, claim, usage in (
            ("", stated.before, snapshot.usage),
            (" with the preemptor", stated.with_preemptor, counted),
            (" with the preemptor and without victims", stated.after, after),
        ):
            share = shares.share_of(usage, node).weighted
            yield from compare(f"share of {name}{when}", claim, share)


def _tree_faults(case: Case, plan: Plan) -> Iterator[str]:
    """Compare the tree: quotas, limits, usage today, and usage with the request, victims gone."""
    nodes, before, tree = _nodes(case), case.snapshot.usage, case.snapshot.tree
    after = _with_request(case, case.removal.usage, case.setting.request)
    touched = _touched(case)
    told = [f"{one.kind} {one.name}" for one in plan.tree]
    yield from once_each("the tree", told, [_name(tree.nodes[node]) for node in touched])
    asked = [tree.frs[fr] for fr in case.setting.request]
    listed = Counter(one.parent for one in plan.tree)
    for stated in plan.tree:
        name = f"{stated.kind} {stated.name}"
        node = nodes.get((stated.name, stated.kind == "ClusterQueue"))
        if node is None:
            yield f"nothing is known of {name}"
            continue
        above = tree.nodes[node].parent
        parent = None if above == NO_PARENT else case.snapshot.queue_name(above)
        yield from compare(f"parent of {name}", stated.parent, parent)
        yield from compare(f"touched of {name}", stated.touched, node in touched)
        hidden = 0 if tree.nodes[node].is_queue else len(tree.children[node]) - listed[stated.name]
        yield from compare(f"hidden of {name}", stated.hidden, hidden)
        used = [FlavorResource(use.flavor, use.resource) for use in stated.uses]
        yield from once_each(f"uses of {name}", used, asked)
        for use in stated.uses:
            fr = case.snapshot.fr_or_none(use.flavor, use.resource)
            where = f"{FlavorResource(use.flavor, use.resource)} of {name}"
            if fr is None:
                yield f"nothing is known of {where}"
                continue
            quota = tree.nodes[node].quotas.get(fr, NO_QUOTA)
            for what, claim, fact in (
                ("nominal quota", use.nominal, quota.nominal),
                ("quota", use.quota, tree.subtree[node][fr]),
                ("borrowing limit", use.borrowing_limit, quota.borrowing_limit),
                ("lending limit", use.lending_limit, quota.lending_limit),
                ("usage", use.before, before.amount[node][fr]),
                ("usage after the plan", use.after, after.amount[node][fr]),
            ):
                yield from compare(f"{what} of {where}", claim, fact)


def _nodes(case: Case) -> dict[tuple[str, bool], int]:
    """Return the nodes by name and by whether they are ClusterQueues."""
    nodes = case.snapshot.tree.nodes
    # A ClusterQueue and a cohort may have the same name.
    return {(node.name, node.is_queue): index for index, node in enumerate(nodes)}


def _name(node: Node) -> str:
    """Return the kind and the name of a node, as a plan has them."""
    return f"{'ClusterQueue' if node.is_queue else 'Cohort'} {node.name}"


def _touched(case: Case) -> dict[int, None]:
    """Return the nodes that the preemptor or a victim has its quota at or below, each once."""
    queues = [case.setting.queue, *(victim.queue for victim in case.victims)]
    return dict.fromkeys(node for queue in queues for node in case.snapshot.tree.path(queue))


def _with_request(case: Case, usage: Usage, request: Mapping[int, int]) -> Usage:
    counted = usage.copy()
    counted.add(case.setting.queue, request)
    return counted


LEVELS: Final = Law(
    "CT-01",
    "check_levels",
    "the values are those of the plan",
    "Every term and every level of the certificate has the value recomputed from the victims.",
    "docs/design/objectives.md §3",
)
STATUS: Final = Law(
    "CT-02",
    "check_status",
    "the status follows from the bounds",
    "No bound exceeds its value, or is below it where the level is said to be proved; and a plan "
    "is optimal only if every level's bound is its value, and said to be certified.",
    "docs/design/theory.md §4",
)
REMOVAL_ORDER: Final = Law(
    "CT-04",
    "check_removal_order",
    "the removal order is legal",
    "The order names every victim once, and the scheduler could take each of them at its turn.",
    "docs/semantics/kueue.md §5.6 and §6.5; docs/semantics/yunikorn.md §5 and §15",
)


def check_certificate(
    case: Case,
    plan: Plan,
    terms: Mapping[str, int],
    levels: Sequence[str] | None = None,
    left_out: Collection[str] = (),
) -> tuple[Verdict, ...]:
    """Check all claims of a plan with a certificate.

    ``terms`` are all terms, recomputed from the plan's victims; ``levels`` are those of the plan's
    objective, in order, and not compared when absent. Values that count terms ``left_out`` are not
    judged.
    """
    values = check_levels(plan, terms, levels, left_out)
    verdicts = [values, check_status(plan), check_facts(case, plan)]
    if plan.certificate is not None:
        order = plan.certificate.removal_order
        verdicts.append(judge_replay(case.victims, order, case.obstacle))
    return tuple(verdicts)


def check_levels(
    plan: AnyPlan,
    recomputed_terms: Mapping[str, int],
    levels: Sequence[str] | None = None,
    left_out: Collection[str] = (),
) -> Verdict:
    """CT-01: the plan's terms and the certificate's levels have the recomputed values.

    A level ``A+B`` is the sum of the terms A and B, unless recomputed under that name. Terms
    that were recomputed but which the plan does not state are no fault, nor are values that count
    a term ``left_out``.
    """
    stated = plan.certificate.levels if plan.certificate else ()
    values = [(f"term {term}", term, value) for term, value in plan.terms.items()]
    values += [(f"level {level.term}", level.term, level.value) for level in stated]
    findings = []
    for what, term, value in values:
        if not set(left_out).intersection(term.split("+")):
            parts = [term] if term in recomputed_terms else term.split("+")
            known = recomputed_terms.keys() >= {*parts}
            whole = sum(map(recomputed_terms.__getitem__, parts)) if known else None
            findings += compare(what, value, whole)
    for i, level in enumerate(stated):
        measure = tuple(level.term.split("+"))
        if level.unit and recomputed_terms.keys() >= {*measure}:
            findings += compare(f"certificate.levels[{i}].unit", level.unit, measure_unit(measure))
    named = [level.term for level in stated]
    if levels is not None and named != list(levels):
        findings.append(f"the levels are {named}, the objective asks for {list(levels)}")
    return judge(LEVELS, findings, f"{len(plan.terms)} terms and {len(stated)} levels recomputed")


def check_status(plan: AnyPlan | JointPlan) -> Verdict:
    """CT-02: bound <= value on every level; where the status is optimal, equal and with a proof.

    A level of an optimal plan must say that it is certified. Terms are never negative, so evicting
    nothing is optimal without any level.
    """
    certificate, claims_optimum = plan.certificate, plan.claim == "optimal"
    if certificate is None:
        missing = claims_optimum and plan.victims
        findings = ["an optimal plan needs a certificate"] if missing else []
        return judge(STATUS, findings, "nothing is claimed")
    findings = []
    for level in certificate.levels:
        if level.bound > level.value:
            findings.append(f"level {level.term}: bound {level.bound} > value {level.value}")
        elif claims_optimum and level.bound < level.value:
            findings.append(
                f"level {level.term}: bound {level.bound} < value {level.value}, so not optimal"
            )
        elif claims_optimum and plan.victims and level.proof is None:
            findings.append(f"level {level.term}: nothing says what its bound rests on")
        elif level.proof is not None and level.bound < level.value:
            said = f"said to be proved, and its bound {level.bound} is below {level.value}"
            findings.append(f"level {level.term}: it is {said}")
    if claims_optimum and plan.victims and not certificate.levels:
        findings.append("an optimal plan needs at least one level")
    return judge(STATUS, findings, f"{len(certificate.levels)} levels, status {plan.claim}")


def judge_replay(
    victims: Iterable[V],
    order: Sequence[str],
    obstacle: Callable[[Sequence[V]], str],
    holds: str = REPLAYED,
) -> Verdict:
    """CT-04: the claimed order names every victim once, and ``obstacle`` finds nothing in it."""
    by_key = {victim.key: victim for victim in victims}
    if sorted(order) != sorted(by_key):
        wrong = f"the order names {say_some(order) or 'none'}: not every victim once"
    else:
        wrong = obstacle([by_key[key] for key in order])
    return judge(REMOVAL_ORDER, [wrong] if wrong else [], holds)
