"""What the plan says of preemptor, victims and shares, compared with the state (CT-05)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from planner.laws import Law
from planner.plan import Amount, Plan, QuotaUse, Verdict
from planner.quantity import format_units
from planner.quota.kueue.share import Shares
from planner.quota.kueue.tree import NO_PARENT, FlavorResource, Quota, Usage
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.setting import Setting
from planner.verifier.wording import compare, judge

NO_QUOTA: Final = Quota(0)
FACTS: Final = Law(
    "CT-05",
    "check_facts",
    "what the plan says of preemptor and victims is what the state says",
    "Queues, priorities, usage, evictions under way, requests, what is available now, shares, and "
    "the usage and quotas of the tree.",
    "docs/semantics/kueue.md §2, §3 and §6.1",
)


def check_facts(case: Case, plan: Plan) -> Verdict:
    """CT-05: what the plan says of preemptor, demand and victims is what the state says.

    The shares of the nodes it names are calculated anew and compared exactly, as doubles.
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
    ]
    holders = {victim.key: victim for victim in case.victims}
    for claim in plan.victims:
        holder = holders.get(claim.workload)
        if holder is None:
            findings.append(f"nothing is known of {claim.workload}")
            continue
        findings += compare(f"priority of {holder.key}", claim.priority, holder.priority)
        findings += compare(f"eviction of {holder.key}", claim.evicted, holder.evicted)
        findings += _usage_faults(setting, holder.key, claim.usage, holder.usage)
    return judge(FACTS, findings, f"{preemptor.key} and {len(plan.victims)} victims compared")


def _demand_faults(setting: Setting, plan: Plan) -> Iterator[str]:
    snapshot = setting.snapshot
    stated = {FlavorResource(demand.flavor, demand.resource) for demand in plan.demand}
    # A plan need not state its demand, but what it states has to be all of it.
    for fr in setting.request if plan.demand else ():
        if snapshot.tree.frs[fr] not in stated:
            yield f"the demand leaves out {snapshot.tree.frs[fr]}"
    for demand in plan.demand:
        name = FlavorResource(demand.flavor, demand.resource)
        known = snapshot.fr_index.get(name)
        if known is None:
            yield f"nothing is known of {name}"
            continue
        available = snapshot.usage.available(setting.queue, known)
        asked = setting.request.get(known, 0)
        yield from compare(f"request of {name}", demand.requested, asked)
        yield from compare(f"available {name}", demand.available, max(0, available))
        # Before the clamp: where the tree is over-admitted, that has to be freed as well.
        short = max(0, asked - available) if asked else 0
        yield from compare(f"shortfall of {name}", demand.shortfall, short)
        yield from compare(f"contest of {name}", demand.contested, known in setting.contested)


def _usage_faults(
    setting: Setting, key: str, stated: Iterable[Amount], held: Mapping[int, int]
) -> Iterator[str]:
    for amount in stated:
        name = FlavorResource(amount.flavor, amount.resource)
        fr = setting.snapshot.fr_index.get(name)
        units = 0 if fr is None else held.get(fr, 0)
        yield from compare(f"usage of {name} by {key}", amount.units, units)
        yield from compare(
            f"quantity of {name} by {key}", amount.quantity, format_units(units, amount.resource)
        )


def _share_faults(case: Case, plan: Plan) -> Iterator[str]:
    """Compare shares: today, with REQ counted, and with REQ counted and the victims gone."""
    snapshot = case.snapshot
    tree, shares = snapshot.tree, Shares(snapshot.tree)
    nodes = _nodes(case)
    before = snapshot.usage
    # Shares count what the search for victims counts; the tree, below, counts `pods` as well.
    searched = case.setting.searched
    counted = _with_request(case, before, searched)
    after = _with_request(case, case.removal.usage, searched)
    for stated in plan.shares:
        name = f"{stated.kind} {stated.name}"
        node = nodes.get((stated.name, stated.kind == "ClusterQueue"))
        if node is None:
            yield f"nothing is known of {name}"
            continue
        yield from compare(f"weight of {name}", stated.weight, tree.nodes[node].weight)
        for when, claim, usage in (
            ("", stated.before, before),
            (" with the preemptor", stated.with_preemptor, counted),
            (" with the preemptor and without victims", stated.after, after),
        ):
            share = shares.of(usage, node).weighted
            yield from compare(f"share of {name}{when}", claim, share)


def _tree_faults(case: Case, plan: Plan) -> Iterator[str]:
    """Compare the tree: quotas, limits, and usage today and with REQ counted, the victims gone."""
    nodes, before = _nodes(case), case.snapshot.usage
    after = _with_request(case, case.removal.usage, case.setting.request)
    for stated in plan.tree:
        name = f"{stated.kind} {stated.name}"
        node = nodes.get((stated.name, stated.kind == "ClusterQueue"))
        if node is None:
            yield f"nothing is known of {name}"
            continue
        above = case.snapshot.tree.nodes[node].parent
        parent = None if above == NO_PARENT else case.snapshot.queue_name(above)
        yield from compare(f"parent of {name}", stated.parent, parent)
        for use in stated.uses:
            yield from _use_faults(case, name, node, use, before, after)


def _use_faults(  # noqa: PLR0913, PLR0917 - a claim, and what it is about
    case: Case, name: str, node: int, use: QuotaUse, before: Usage, after: Usage
) -> Iterator[str]:
    tree = case.snapshot.tree
    fr = case.snapshot.fr_or_none(use.flavor, use.resource)
    where = f"{FlavorResource(use.flavor, use.resource)} of {name}"
    if fr is None:
        yield f"nothing is known of {where}"
        return
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


def _with_request(case: Case, usage: Usage, request: Mapping[int, int]) -> Usage:
    counted = usage.copy()
    counted.add(case.setting.queue, request)
    return counted
