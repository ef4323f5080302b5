"""What can be set about the states made of a trace, with the defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from planner.dump import Policies
from planner.trace.job import Sampling

GANGS: Final = (8, 16, 32, 64, 128, 512)
PREEMPTOR_PRIORITIES: Final = (100, 200, 1000)


@dataclass(frozen=True)
class Knobs:
    """Everything about a state but the trace itself and the instant.

    Attributes
    ----------
    seed
        Of every draw.
    workloads
        How many workloads hold quota, at most.
    sampling
        ``running`` or ``drawn``, see `planner.trace.sample.sampled`; by default what is usual
        for the trace.
    factor
        Bounds of the factor that is drawn for each ClusterQueue: so many times what it uses is
        its nominal quota, before the rest of the cluster is shared out.
    utilisation
        What is used of the GPUs, more than 0 and at most 1.
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
        GPUs and priority of a preemptor: one of each is drawn.
    preemptors
        How many pending workloads there are.
    """

    seed: int = 0
    workloads: int = 1000
    sampling: Sampling | None = None
    factor: tuple[float, float] = (0.55, 1.15)
    utilisation: float = 1.0
    borrowing_limited: float = 0.5
    lending_limited: float = 0.2
    levels: int = 1
    policies: Policies = field(default_factory=Policies)
    fair: bool = False
    checkpointing: float = 0.4
    gangs: tuple[int, ...] = GANGS
    preemptor_priorities: tuple[int, ...] = PREEMPTOR_PRIORITIES
    preemptors: int = 1
