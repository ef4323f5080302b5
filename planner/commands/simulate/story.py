"""A round of a loop, told in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.commands.simulate.record import Event


def story(events: Sequence[Event], start_s: int, period_s: int) -> tuple[str, ...]:
    """Tell what happens in a round; seconds count from when it begins.

    A round ends with the evictions of its last cycle, and so did the one before: they are told
    first, at 0 s.
    """
    end_s = start_s + period_s
    last = [event for event in events if event.at_s == end_s and event.kind == "preempted"]
    rest = [event for event in events if event not in last]
    told = (*_sentences(last, end_s), *_sentences(rest, start_s))
    return (*told, f"after {period_s} s everything is as it was at the beginning of the round")


def _sentences(events: Sequence[Event], start_s: int) -> Iterator[str]:
    for event in events:
        after = f"at {event.at_s - start_s} s"
        match event.kind:
            case "admitted":
                where = f" on node {event.node}" if event.node else ""
                yield f"{after} {event.workload} is admitted by {event.queue}{where}"
            case "preempted":
                why = f" ({event.reason})" if event.reason else ""
                lost = f" and loses {event.lost_s} s of its run" if event.lost_s else ""
                yield (
                    f"{after} {event.by} of {event.by_queue} preempts {event.workload} of "
                    f"{event.queue}{why}, which goes{lost}"
                )
            case "requeued":
                yield f"{after} {event.workload} waits again in {event.queue}"
            case _:
                yield f"{after} {event.workload} has {event.kind}"
