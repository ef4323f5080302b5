"""The plan for several pending workloads of Kueue at once."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from planner.plan.base import Assume, Evicting, Proved, Record, Status, Uncovered
from planner.plan.kueue import KueueRelease, Victim
from planner.plan.record import SCHEMA_VERSION, Certificate, Verdict
from planner.quota.kueue.assignment import Assignment
from planner.state.kueue_configuration import RequestsFrom


class JointPending(Record):
    """A pending workload that was to be admitted together with others.

    ``greedy`` says whether it is admitted, and stays so, when all are served one by one.
    """

    workload: str
    cluster_queue: str
    priority: int
    admitted: bool
    greedy: bool
    explanation: str


class JointSkipped(Record):
    """A pending workload that cannot be planned for, and why: nothing here is about it."""

    workload: str
    explanation: str


class JointStep(Record):
    """One preemptor of a joint plan, served when those before it in the plan are.

    ``victims`` go in this step, ``borrowing`` is the attempt it belongs to. ``assignment`` is
    what Kueue assigns then. ``verdicts`` and ``removal_order`` are the verifier's, in the state
    that the steps before leave. The ``costs`` of victims are on the scale of the whole plan, their
    ``position`` is that in the candidate order of the step.
    """

    preemptor: str
    cluster_queue: str
    priority: int
    assignment: Assignment
    borrowing: bool | None
    victims: tuple[Victim, ...]
    verdicts: tuple[Verdict, ...]
    removal_order: tuple[str, ...] = ()


class GreedyTurn(Record):
    """One pending workload served by Kueue's own decision; ``victims`` may be former preemptors."""

    preemptor: str
    admitted: bool
    victims: tuple[str, ...]


class OneByOneAnswer(Record):
    """The reference: each pending workload served by itself, in order of precedence.

    ``victims`` are all that were evicted, each once, without preemptors; ``preemptors_evicted``
    are those that were admitted and then evicted for another. ``fit_again`` are victims that
    would fit again in the end, where they were: evicted for nothing. ``terms`` are those of
    ``victims`` on the scale of the joint plan.
    """

    turns: tuple[GreedyTurn, ...]
    victims: tuple[str, ...]
    preemptors_evicted: tuple[str, ...]
    fit_again: tuple[str, ...]
    terms: dict[str, int] = {}


class JointPlan(Evicting):
    """The answer for several pending workloads: as many as possible, and one set of victims.

    ``pending`` are in order of precedence: higher priority, then earlier in the queue. Of two
    plans the one is better that admits the first of them in which they differ; then the one with
    less disruption. ``steps`` are in the order in which they are served; every step is legal in
    the state that those before it leave. ``terms`` are those of all victims together, as is
    ``certificate``. The status is ``optimal`` if it is proved over all orders and sets that
    nothing is better, and ``infeasible`` if it is proved that none of them can be admitted.
    ``skipped`` are workloads that were left out because they cannot be planned for. ``kueue`` and
    ``requests`` are as in a plan for one.
    """

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    scheduler: Literal["kueue"] = "kueue"
    rules: Literal["kueue-classical", "kueue-fair"]
    objective: str
    status: Status
    proved: Proved | None = None
    coverage: tuple[Uncovered, ...] = ()
    assume: Assume | None = None
    explanation: str
    now: datetime
    pending: tuple[JointPending, ...]
    skipped: tuple[JointSkipped, ...] = ()
    steps: tuple[JointStep, ...] = ()
    fit_again: tuple[str, ...] = ()
    terms: dict[str, int] = {}
    greedy: OneByOneAnswer
    certificate: Certificate
    kueue: KueueRelease | None = None
    requests: RequestsFrom = "template"
    notes: tuple[str, ...] = ()

    @property
    def admitted(self) -> tuple[str, ...]:
        """Who is admitted, in the order in which they are served."""
        return tuple(step.preemptor for step in self.steps)

    @property
    def victims(self) -> tuple[Victim, ...]:
        """All victims, step by step."""
        return tuple(victim for step in self.steps for victim in step.victims)
