"""What Kueue's configuration makes possible, impossible or pointless.

world.py     the facts that the rules look at; small dumps made of some ClusterQueues
absent.py    what the input names and lacks, and the state as if it were there
search.py    the search for a smallest example, in which decisions and cycles are replayed
alone.py     examples of one ClusterQueue and one workload that waits
cycles.py    KL-01 and KL-02, ping-pong; KL-19, workloads that are never reached
settings.py  KL-03 to KL-10, impossible; KL-11 to KL-18, useless
nodes.py     KL-20 to KL-22, flavors with a topology; KL-26, quota that no nodes have
mistakes.py  KL-23 to KL-25, KL-27 and KL-28, what cannot be meant: names, limits, amounts

Source: docs/semantics/kueue.md; kueue ff69552e pkg/webhooks/clusterqueue_webhook.go
(``validatePreemption``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.coverage.kueue_features import TOPOLOGY
from planner.errors import did_you_mean
from planner.operations.lint.kueue import cycles, mistakes, nodes, settings
from planner.operations.lint.kueue.world import Facts
from planner.operations.lint.lint import IGNORE, Finding, Looked
from planner.stage import begin
from planner.state.kueue import State

RULES: Final = (
    cycles.borrower_and_lender,
    cycles.fair_queues,
    settings.never_reclaims,
    settings.refused,
    settings.threshold_below_all,
    settings.one_priority,
    settings.nothing_to_reclaim,
    settings.inactive_borrower,
    settings.weight_zero,
    settings.no_quota,
    settings.alone_in_cohort,
    settings.fair_sharing_ignores_borrow,
    settings.cannot_borrow,
    settings.nobody_borrows,
    settings.threshold_above_all,
    settings.weights_without_fair_sharing,
    settings.nobody_reclaims,
    settings.boosts_without_gate,
    cycles.never_reached_at_all,
    nodes.never_any_room,
    nodes.without_labels,
    nodes.without_topology,
    mistakes.misspelt,
    mistakes.not_in_the_input,
    mistakes.refused_limits,
    nodes.more_than_the_nodes,
    mistakes.different_units,
    mistakes.for_no_namespace,
)
"""One function for each kind of finding, in the order of the codes."""


def look(state: State) -> Looked:
    """Look at a state of Kueue by all rules."""
    facts = Facts(state)
    sees_to = (TOPOLOGY.id,) if facts.placed and state.nodes else ()
    annotated = dict(_annotated(state))
    return Looked(_findings_in(facts), tuple(_left_out(facts)), sees_to, annotated)


def _annotated(state: State) -> Iterator[tuple[str, str]]:
    """Yield the objects that say what to ignore of them, as findings name them, and their words."""
    for kind, objects in (
        ("clusterqueue", state.cluster_queues),
        ("cohort", state.cohorts),
        ("localqueue", state.local_queues),
        ("resourceflavor", state.resource_flavors),
        ("topology", state.topologies),
    ):
        for one in objects:
            if IGNORE in one.metadata.annotations:
                name = one.key if one.metadata.namespace else one.name
                yield f"{kind}/{name}", one.metadata.annotations[IGNORE]
    for remarks in filter(None, state.workloads.columns.remarks):
        if IGNORE in remarks.annotations:
            yield f"workload/{remarks.key}", remarks.annotations[IGNORE]


def _findings_in(facts: Facts) -> Iterator[Finding]:
    """Yield everything that is found, in the order of the codes."""
    for number, rule in enumerate(RULES, start=1):
        begin(f"rule {number} of {len(RULES)}")
        yield from rule(facts)


def _left_out(facts: Facts) -> Iterator[str]:
    """Yield what the rules did not look at, and what they took for granted."""
    tree = facts.snapshot.tree
    if not facts.state.cluster_queues:
        yield "the input has no ClusterQueue: there was nothing to examine"
    for name, why in facts.snapshot.inactive.items():
        yield f"ClusterQueue {name} is inactive: {why}; its policies were not examined"
    for queue in facts.queues:
        if not tree.nodes[queue].quotas:
            name = facts.snapshot.queue_name(queue)
            yield f"ClusterQueue {name} has no quota: there was nothing to examine"
    above = {node for queue in facts.snapshot.queues for node in tree.ancestors(queue)}
    for at, cohort in enumerate(tree.nodes):
        if cohort.quotas and not cohort.is_queue and at not in above:
            hint = did_you_mean(cohort.name, [tree.nodes[node].name for node in above])
            said = "no ClusterQueue is below it, so its quota was not examined"
            yield f"Cohort {cohort.name}: {said}{hint and f'; {hint}'}"
    if facts.queues and not facts.is_configured:
        shares = "on, as shares are published" if facts.fair else "off"
        yield (
            "the input has no Configuration of Kueue: the defaults were assumed, and fair sharing "
            f"to be {shares}"
        )
    if not facts.priorities and any(map(facts.goes_by_priority, facts.queues)):
        yield (
            "the input has no workloads and no priority classes: whom LowerPriority and "
            "maxPriorityThreshold would spare was not examined (KL-05, KL-06, KL-15)"
        )
    yield from _not_placed(facts)


def _not_placed(facts: Facts) -> Iterator[str]:
    """Yield why placement on nodes was not looked at, where a flavor of a queue has a topology."""
    state = facts.state
    used = {name for queue in state.cluster_queues for name in queue.flavor_names}
    named = [name for name in state.topology_of if name in used]
    if not named or not state.configuration.gate("TopologyAwareScheduling"):
        return
    parts = {"nodes": state.nodes, "topologies": state.topologies}
    lacking = [f"no {name}" for name, there in parts.items() if not there]
    why = f"the input has {' and '.join(lacking)}" if lacking else ""
    if facts.placed is None:
        why = f"placement by Kueue {state.release.name} is not modelled"
    if why:
        yield f"ResourceFlavor {named[0]} has a topology, and {why}: placement was not examined"
