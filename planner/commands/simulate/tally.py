"""What became of everybody, added up event by event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner.commands.simulate.record import Event, Fate, Standing, Totals
from planner.errors import InternalError


@dataclass(slots=True)
class _Account:
    """One workload; ``since_s`` is since when it stands as it does."""

    queue: str
    priority: int
    standing: Standing
    arrived_s: int
    since_s: int
    leaving: bool = False
    admitted_s: int | None = None
    finished_s: int | None = None
    admissions: int = 0
    evictions: int = 0
    waiting_s: int = 0
    running_s: int = 0
    lost_s: int = 0
    lost_work: int = 0

    def pass_time(self, at_s: int) -> None:
        """Count the time until now; whoever is evicted runs no more."""
        if self.standing == "pending":
            self.waiting_s += at_s - self.since_s
        elif self.standing == "running" and not self.leaving:
            self.running_s += at_s - self.since_s
        self.since_s = at_s


class Tally:
    """The accounts of all workloads."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}

    def enter(self, key: str, queue: str, priority: int, standing: Standing, at_s: int = 0) -> None:
        """Open the account of one that is there at the start, or arrives at a time."""
        self._accounts[key] = _Account(queue, priority, standing, at_s, 0)

    def add(self, event: Event) -> None:
        """Count what happened.

        Raises
        ------
        InternalError
            If it happened to nobody.
        """
        account = self._accounts.get(event.workload)
        if account is None:
            raise InternalError(f"{event.workload} is unknown, and yet it {event.kind}")
        account.pass_time(event.at_s)
        match event.kind:
            case "arrived":
                account.standing, account.arrived_s = "pending", event.at_s
            case "requeued":
                account.standing, account.leaving = "pending", False
            case "finished":
                account.standing, account.leaving = "finished", False
                account.finished_s = event.at_s
            case "admitted":
                account.standing, account.leaving = "running", False
                account.queue = event.queue
                account.admissions += 1
                if account.admitted_s is None:
                    account.admitted_s = event.at_s
            case "preempted":
                account.leaving = True
                account.evictions += 1
                account.lost_s += event.lost_s or 0
                account.lost_work += event.lost_work or 0

    def fates(self, at_s: int) -> tuple[Fate, ...]:
        """Return what became of everybody by the end, in the order of entering."""
        for account in self._accounts.values():
            account.pass_time(at_s)
        return tuple(
            Fate(
                workload=key,
                queue=account.queue,
                priority=account.priority,
                standing=account.standing,
                arrived_s=account.arrived_s,
                admitted_s=account.admitted_s,
                finished_s=account.finished_s,
                admissions=account.admissions,
                evictions=account.evictions,
                waiting_s=account.waiting_s,
                running_s=account.running_s,
                lost_s=account.lost_s,
                lost_work=account.lost_work,
            )
            for key, account in self._accounts.items()
        )


def totals_of(fates: Iterable[Fate]) -> Totals:
    """Return the sums over everybody."""
    some = list(fates)
    return Totals(
        workloads=len(some),
        finished=sum(one.standing == "finished" for one in some),
        admissions=sum(one.admissions for one in some),
        evictions=sum(one.evictions for one in some),
        evicted=sum(one.evictions > 0 for one in some),
        waiting_s=sum(one.waiting_s for one in some),
        running_s=sum(one.running_s for one in some),
        lost_s=sum(one.lost_s for one in some),
        lost_work=sum(one.lost_work for one in some),
    )
