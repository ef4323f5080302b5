"""What YuniKorn's queues.yaml makes impossible or pointless.

Ping-pong by generic preemption is not possible: an ask must fit into what is left of its queue's
guaranteed, and a victim leaves a queue that was over its guaranteed, so that it never fits there
again at once (docs/semantics/yunikorn.md §6 and §13).

world.py  the facts that the rules look at; small clusters made of some queues of a partition
rules.py  YL-01 to YL-13
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from planner.operations.lint.lint import Finding, Looked
from planner.operations.lint.yunikorn import rules
from planner.operations.lint.yunikorn.world import Facts
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
    rules.never_preempts,
    rules.waits_for_ever,
    rules.restart_changes,
    rules.cpu_for_vcore,
)
"""One function for each kind of finding, in the order of the codes."""


ONCE: Final = frozenset(
    (
        rules.nothing_guaranteed,
        rules.switched_off,
        rules.opted_out,
        rules.quota_delay_alone,
        rules.cpu_for_vcore,
    )
)
"""Those that find the same in every resource type; the first type that has an example will do."""


def look(state: YuniKornState) -> Looked:
    """Look at a state of YuniKorn by all rules."""
    return Looked(_findings_in(state))


def _findings_in(state: YuniKornState) -> Iterator[Finding]:
    """Yield everything that is found, in the order of the codes."""
    partitions = [Facts(state, partition).of_types() for partition in state.partitions]
    for rule in RULES:
        for of_types in partitions:
            found = chain.from_iterable(map(rule, of_types))
            said = set[object]()
            for one in islice(found, 1) if rule in ONCE else found:
                if (one.objects, one.reason) not in said:  # not in another type already
                    said.add((one.objects, one.reason))
                    yield one if len(partitions) == 1 else _of_partition(one, of_types[0])


def _of_partition(one: Finding, facts: Facts) -> Finding:
    """Return a finding that names the partition that it was found in."""
    name = facts.partition.name
    objects = tuple(dict.fromkeys((*one.objects, f"partition/{name}")))
    is_named = f"partition {name}" in one.reason
    reason = one.reason if is_named else f"In partition {name}: {one.reason}"
    return one.model_copy(update={"objects": objects, "reason": reason})
