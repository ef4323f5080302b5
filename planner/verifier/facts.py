"""What the plan says of preemptor, victims and shares, compared with the state (CT-05)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from planner.laws import Law
from planner.plan import Amount, Plan, Verdict
from planner.quantity import format_units
from planner.quota.share import Shares
from planner.quota.tree import FlavorResource
from planner.verifier.case import Case
from planner.verifier.setting import Setting
from planner.verifier.wording import compare, judge

FACTS: Final = Law(
    "CT-05",
    "check_facts",
    "what the plan says of preemptor and victims is what the state says",
    "Queues, priorities, usage, evictions under way, requests, what is available now, and shares.",
    "kueue-semantics.md 2 and 6.1",
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
    snapshot, request = case.snapshot, case.setting.request
    tree, shares = snapshot.tree, Shares(snapshot.tree)
    nodes = {(node.name, node.is_queue): index for index, node in enumerate(tree.nodes)}
    before, after = snapshot.usage, case.removal.usage.copy()
    counted = before.copy()
    for usage in (counted, after):
        usage.add(case.setting.queue, request)
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
