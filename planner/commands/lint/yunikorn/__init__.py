"""What YuniKorn's queues.yaml makes impossible or pointless.

Ping-pong by generic preemption is none of it: an ask must fit into what is left of its queue's
guaranteed, and a victim leaves a queue that was over its own, so that it never fits there again
at once (docs/semantics/yunikorn.md §6 and §13).

facts.py       what the rules look at
world.py       small clusters made of some queues of a partition
impossible.py  YL-01 to YL-05
useless.py     YL-06 to YL-09
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.commands.lint.record import Finding
from planner.commands.lint.yunikorn import impossible, useless
from planner.commands.lint.yunikorn.facts import Facts
from planner.state.yunikorn import YuniKornState

RULES: Final = (
    impossible.nothing_guaranteed,
    impossible.switched_off,
    impossible.fenced_in,
    impossible.guaranteed_beyond_max,
    impossible.beyond_nodes,
    useless.prefix_of_another,
    useless.unreadable,
    useless.opted_out,
    useless.quota_delay_alone,
)
"""One function a kind of finding, in the order of the codes."""


def findings_in(state: YuniKornState) -> Iterator[Finding]:
    """Yield everything that is found in a state of YuniKorn, in the order of the codes."""
    partitions = [Facts(state, partition) for partition in state.partitions]
    for rule in RULES:
        for facts in partitions:
            yield from rule(facts)
