"""The knobs of states that are made from a trace."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from planner.dump.kueue import Policies
from planner.errors import InputError
from planner.research.import_.sample import SampleKnobs

MOST_FOLLOWED_S: Final = 366 * 86_400


@dataclass(frozen=True)
class Knobs(SampleKnobs):
    """Everything about a state but the trace itself and the instant, beside what is drawn of it.

    Attributes
    ----------
    factor
        Bounds of the factor that is drawn for each ClusterQueue: its usage times the factor is
        its nominal quota, before the rest of the cluster is shared out.
    utilisation
        The part of the GPUs that is in use, more than 0 and at most 1.
    borrowing_limited, lending_limited
        How likely a ClusterQueue has a borrowing limit, and a lending limit.
    levels
        1: all ClusterQueues in one cohort. 2: in three cohorts by size, below one.
    policies
        The preemption policies of all ClusterQueues.
    fair
        Whether fair sharing is on.
    checkpointing
        How likely a training job with a GPU writes checkpoints.
    gangs, preemptor_priorities
        The GPUs and the priorities that a preemptor may have: one of each is drawn.
    preemptors
        How many pending workloads there are.
    """

    factor: tuple[float, float] = (0.55, 1.15)
    utilisation: float = 1.0
    borrowing_limited: float = 0.5
    lending_limited: float = 0.2
    levels: int = 1
    policies: Policies = field(default_factory=Policies)
    fair: bool = False
    checkpointing: float = 0.4
    gangs: tuple[int, ...] = (8, 16, 32, 64, 128, 512)
    preemptor_priorities: tuple[int, ...] = (100, 200, 1000)
    preemptors: int = 1

    def __post_init__(self) -> None:
        """Refuse values with which no state can be made, with an InputError."""
        low, high = self.factor
        shares = (self.borrowing_limited, self.lending_limited, self.checkpointing)
        are_shares = all(0 <= share <= 1 for share in shares)
        wishes = (
            ("workloads", self.workloads >= 1, "1 or more"),
            ("factor", 0 <= low <= high < math.inf, "two numbers from 0 on, the lower one first"),
            ("utilisation", 0 < self.utilisation <= 1, "more than 0 and at most 1"),
            ("borrowing_limited, lending_limited, checkpointing", are_shares, "0 to 1"),
            ("levels", self.levels in {1, 2}, "1 or 2"),
            ("gangs", bool(self.gangs) and min(self.gangs) >= 1, "one size or more, in GPUs"),
            ("preemptor_priorities", bool(self.preemptor_priorities), "one priority or more"),
            ("preemptors", self.preemptors >= 1, "1 or more"),
            ("follow_s", 0 <= self.follow_s <= MOST_FOLLOWED_S, f"0 to {MOST_FOLLOWED_S}"),
        )
        for name, is_kept, expected in wishes:
            if not is_kept:
                values = ", ".join(repr(getattr(self, each)) for each in name.split(", "))
                raise InputError(name, f"{values} cannot be used", expected)
