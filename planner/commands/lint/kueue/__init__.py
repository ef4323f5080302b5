"""What Kueue's configuration makes possible, impossible or pointless.

world.py       what the rules look at, and small dumps made of some ClusterQueues
search.py      the search for a smallest example, in which decisions and cycles are replayed
ping_pong.py   KL-01 and KL-02
impossible.py  KL-03 to KL-10
useless.py     KL-11 to KL-18
starvation.py  KL-19, of the workloads that wait
nodes.py       KL-20 to KL-22, of flavors with a topology

Source: docs/semantics/kueue.md; kueue ff69552e pkg/webhooks/clusterqueue_webhook.go
(``validatePreemption``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.commands.lint.kueue import impossible, nodes, ping_pong, starvation, useless
from planner.commands.lint.kueue.world import Facts
from planner.commands.lint.lint import Finding
from planner.stage import begin
from planner.state import State

RULES: Final = (
    ping_pong.borrower_and_lender,
    ping_pong.fair_queues,
    impossible.never_reclaims,
    impossible.refused,
    impossible.threshold_below_all,
    impossible.one_priority,
    impossible.nothing_to_reclaim,
    impossible.inactive_borrower,
    impossible.weight_zero,
    impossible.no_quota,
    useless.alone_in_cohort,
    useless.fair_sharing_ignores_borrow,
    useless.cannot_borrow,
    useless.nobody_borrows,
    useless.threshold_above_all,
    useless.weights_without_fair_sharing,
    useless.nobody_reclaims,
    useless.boosts_without_gate,
    starvation.never_reached_at_all,
    nodes.never_any_room,
    nodes.without_labels,
    nodes.without_topology,
)
"""One function a kind of finding, in the order of the codes."""


def findings_in(state: State) -> Iterator[Finding]:
    """Yield everything that is found in a state of Kueue, in the order of the codes."""
    facts = Facts(state)
    for number, rule in enumerate(RULES, start=1):
        begin(f"rule {number} of {len(RULES)}")
        yield from rule(facts)
