"""What Kueue's configuration makes possible, impossible or pointless.

world.py     the facts that the rules look at; small dumps made of some ClusterQueues
search.py    the search for a smallest example, in which decisions and cycles are replayed
cycles.py    KL-01 and KL-02, ping-pong; KL-19, workloads that are never reached
settings.py  KL-03 to KL-10, impossible; KL-11 to KL-18, useless
nodes.py     KL-20 to KL-22, flavors with a topology

Source: docs/semantics/kueue.md; kueue ff69552e pkg/webhooks/clusterqueue_webhook.go
(``validatePreemption``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.commands.lint.kueue import cycles, nodes, settings
from planner.commands.lint.kueue.world import Facts
from planner.commands.lint.lint import Finding
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
)
"""One function for each kind of finding, in the order of the codes."""


def findings_in(state: State) -> Iterator[Finding]:
    """Yield everything that is found in a state of Kueue, in the order of the codes."""
    facts = Facts(state)
    for number, rule in enumerate(RULES, start=1):
        begin(f"rule {number} of {len(RULES)}")
        yield from rule(facts)
