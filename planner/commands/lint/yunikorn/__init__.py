"""What YuniKorn's queues.yaml makes impossible or pointless.

Ping-pong by generic preemption is not possible: an ask must fit into what is left of its queue's
guaranteed, and a victim leaves a queue that was over its guaranteed, so that it never fits there
again at once (docs/semantics/yunikorn.md §6 and §13).

world.py  the facts that the rules look at; small clusters made of some queues of a partition
rules.py  YL-01 to YL-09
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.commands.lint.lint import Finding
from planner.commands.lint.yunikorn import rules
from planner.commands.lint.yunikorn.world import Facts
from planner.state.yunikorn import YuniKornState

RULES: Final = (
    rules.nothing_guaranteed,
    rules.switched_off,
    rules.fenced_in,
    rules.guaranteed_beyond_max,
    rules.beyond_nodes,
    rules.prefix_of_another,
    rules.unreadable,
    rules.opted_out,
    rules.quota_delay_alone,
)
"""One function for each kind of finding, in the order of the codes."""


def findings_in(state: YuniKornState) -> Iterator[Finding]:
    """Yield everything that is found in a state of YuniKorn, in the order of the codes."""
    partitions = [Facts(state, partition) for partition in state.partitions]
    for rule in RULES:
        for facts in partitions:
            yield from rule(facts)
