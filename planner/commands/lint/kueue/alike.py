"""One finding for ClusterQueues that are alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from planner.commands.lint.kueue.facts import Facts
from planner.commands.lint.record import Example


def shown(
    facts: Facts,
    queues: Iterable[int],
    show: Callable[[Sequence[int]], Example | None],
) -> Iterator[tuple[Sequence[int], str, Example]]:
    """Yield the groups of alike ClusterQueues for which there is an example, and what it is.

    ``show`` looks for the example of a group. Each comes with what the group is called.
    """
    for group in facts.alike(queues):
        example = show(group)
        if example is not None:
            yield group, facts.called(group), example
