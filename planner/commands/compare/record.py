"""What a comparison says: a row for each state, pending workload and algorithm, and totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, Final, Literal, Self

from pydantic import ValidationInfo, model_validator

from planner.commands.study.record import Answered, Failure, Rules
from planner.plan.base import Published, Record, Status
from planner.plan.label import Label
from planner.plan.record import Level, SchedulerId

Measure = Literal["victims", "lost_work", "ratio", "seconds"]
"""What is compared. victims: those that are not being evicted already, the term ``workloads``.
lost_work: the work that they lose, restarts included (``lost_work`` + ``restart_cost``), in
accelerator-seconds. ratio: their usage of the scarcest resource, divided by the request for it.
seconds: how long the answer took."""

SCORED: Final[tuple[Measure, ...]] = ("victims", "lost_work", "ratio")
MEASURES: Final[tuple[Measure, ...]] = (*SCORED, "seconds")
"""All measures, after those that algorithms are scored by."""

RowStatus = Status | Literal["skipped", "failed"]
"""The status of a plan, or of a row without one. skipped: the algorithm means nothing for the
state, or needs what the state does not tell. failed: it cannot be used for another reason."""


class Row(Record):
    """The answer of one algorithm for one pending workload or ask of one state.

    ``rules`` are those that the algorithm kept to, ``detail`` its answer in words. ``victims`` are
    its victims, those that are being evicted already among them. ``terms`` are the disruption terms
    of the victims, where it has a plan. Whatever the algorithm, they are those of the state as it
    is: ranks (``highest_priority``, ``priority_weight``) are counted among the priorities of the
    candidates under the state's own rules, where a workload that is none has the rank it would
    have, and places (``candidate_order``) likewise; over-freeing (``excess_freed``) is that beyond
    the need under the flavors that the scheduler itself assigns. ``cut_short`` counts what
    workloads ask for themselves only, and ``rated`` is not there; a level says what the objective
    itself counted.

    ``outside_rules`` says which of the state's own laws the victims do not keep, under the
    flavors of the algorithm; ``own_flavors`` whether these are the ones that Kueue assigns in
    the state as it is (``None`` without a plan, and for YuniKorn, which has none).

    ``ratio`` is the largest, over the contested resources, of what the victims that are not
    being evicted already hold by what is requested; ``ratio_of`` names the resource, in Kueue
    as flavor/resource. Contested are flavor-resources of assigned mode Preempt, in YuniKorn all
    that the ask wants. It is 0 where nobody goes, ``None`` without a plan.

    ``uncovered`` are the features, by their ids, that decide in the state and are not modelled, or
    of which the cluster says another thing. The status is then ``conditional``, whatever the
    answer: it is measured, and counted nowhere.

    ``levels`` are the values of the objective with their proven bounds, in order, and ``proved``
    says whether all were proved: ``None`` for what is no optimum, or conditional. ``running``
    counts the workloads that hold quota in the preemptor's tree, or the allocations of the
    partition; ``candidates`` those that the state's own rules permit.

    ``names`` are the pods of the ask and the victims, by their keys, where the state tells;
    ``resources`` what is asked for and what the victims hold.

    ``seconds`` is the wall-clock time from the state, read already, to the verified answer. It
    is the only field in which two runs differ, as long as no time limit is met; there is none
    where nothing was measured.
    """

    state: Annotated[str, Label(role="key")]
    pending: Annotated[str, Label(role="key")]
    names: Annotated[dict[str, str], Label(plain="name")] = {}
    resources: tuple[str, ...] = ()
    scheduler: SchedulerId
    algorithm: Annotated[str, Label(role="key")]
    rules: Rules | None = None
    status: Annotated[RowStatus, Label()]
    detail: Annotated[str, Label(role="text")] = ""
    victims: Annotated[tuple[str, ...], Label(role="count")] = ()
    terms: Annotated[dict[str, int], Label(role="list")] = {}
    outside_rules: Annotated[tuple[str, ...], Label(role="text", plain="outside_rules")] = ()
    own_flavors: Annotated[bool | None, Label()] = None
    ratio: Annotated[float | None, Label()] = None
    ratio_of: str | None = None
    uncovered: Annotated[tuple[str, ...], Label(role="list")] = ()
    levels: tuple[Level, ...] = ()
    proved: Annotated[bool | None, Label()] = None
    running: int
    candidates: int
    seconds: Annotated[float | None, Label()] = None

    @property
    def has_plan(self) -> bool:
        """Whether it makes room for the pending workload, evicting somebody or nobody."""
        return self.status in {"optimal", "feasible"}

    def measured(self, measure: Measure) -> float | None:
        """Return a measure of the row, ``None`` if it has none."""
        if measure == "seconds":
            return self.seconds
        if not self.has_plan:
            return None
        if measure == "ratio":
            return self.ratio
        return (
            self.terms["workloads"]
            if measure == "victims"
            else self.terms["lost_work"] + self.terms["restart_cost"]
        )


def cases(rows: Iterable[Row]) -> Iterator[Sequence[Row]]:
    """Yield the rows of each pending workload together: they stand beside each other."""
    for _, group in groupby(rows, lambda row: (row.state, row.pending)):
        yield tuple(group)


class StateComparison(Answered[Row]):
    """Everything about one state."""

    @model_validator(mode="after")
    def _every_algorithm_answers(self, info: ValidationInfo) -> Self:
        """A results file has a row of each algorithm of the run for whoever waits, with terms."""
        asked = (info.context or {}).get("algorithms", ())
        message = ""
        for case in cases(self.rows) if asked else ():
            names = [row.algorithm for row in case]
            if names != [*asked]:
                message = f"rows of {', '.join(names)} for the algorithms {', '.join(asked)}"
            elif any(
                row.has_plan and not {"workloads", "lost_work", "restart_cost"} <= row.terms.keys()
                for row in case
            ):
                message = "a plan without the terms workloads, lost_work and restart_cost"
        if message:
            raise ValueError(message)
        return self


class Standing(Record):
    """How often an algorithm had what kind of answer.

    ``rows`` are its ``plans``, ``conditional``, ``infeasible``, ``unknown``, ``skipped`` and
    ``failed`` together.
    ``plans`` counts rows with a plan, of which ``outside_rules`` break the state's own rules.
    ``infeasible`` and ``unknown`` are statuses; ``proved`` counts optima that are proved, that
    there is none included.
    """

    algorithm: Annotated[str, Label("Algorithm", "key")]
    rows: Annotated[int, Label()]
    plans: Annotated[int, Label("Plans", unit="times")]
    conditional: Annotated[int, Label("Conditional", unit="times")]
    infeasible: Annotated[int, Label("Infeasible", unit="times")]
    unknown: Annotated[int, Label("Unknown", unit="times")]
    skipped: Annotated[int, Label("Skipped", unit="times")]
    failed: Annotated[int, Label("Failed", unit="times")]
    proved: Annotated[int, Label("Proved", unit="times")]
    outside_rules: Annotated[int, Label("Outside the rules", unit="times")]


class Distribution(Record):
    """How one measure of one algorithm is distributed over ``count`` cases.

    Counted are the cases in which every algorithm that is not skipped has a plan, and one of
    them evicts somebody: all algorithms of one scheduler are measured on the same cases. Of
    ``seconds`` all cases count. ``p90`` is the smallest value that at least nine tenths of the
    cases do not exceed.
    """

    algorithm: Annotated[str, Label(role="key")]
    measure: Annotated[Measure, Label(role="key")]
    count: Annotated[int, Label()]
    mean: Annotated[float, Label()]
    median: Annotated[float, Label()]
    p90: Annotated[float, Label()]
    max: Annotated[float, Label()]


class Score(Record):
    """How often an algorithm has less of a measure than the first one, as much, and more.

    ``mean_gap`` is how much more the first has in the mean, 0 if nothing was scored.
    """

    measure: Annotated[Measure, Label(role="key")]
    wins: Annotated[int, Label()]
    ties: Annotated[int, Label()]
    losses: Annotated[int, Label()]
    mean_gap: Annotated[float, Label()]


class Duel(Record):
    """An algorithm against the first one.

    ``both`` counts the cases in which both have a plan and one of them evicts somebody: these
    are scored. ``only_this`` and ``only_first`` count those in which one alone has a plan.
    """

    algorithm: Annotated[str, Label(role="key")]
    first: Annotated[str, Label(role="key")]
    both: Annotated[int, Label()]
    only_this: Annotated[int, Label()]
    only_first: Annotated[int, Label()]
    scores: Annotated[tuple[Score, ...], Label()]


class Summary(Record):
    """Totals: of states, of cases (pending workloads), of failures, and of each algorithm."""

    states: Annotated[int, Label()]
    cases: Annotated[int, Label()]
    failures: Annotated[int, Label()]
    standings: Annotated[tuple[Standing, ...], Label(plain="algorithm")]
    distributions: Annotated[tuple[Distribution, ...], Label()]
    duels: Annotated[tuple[Duel, ...], Label()]


class Comparison(Published):
    """Algorithms beside each other on one or many states."""

    algorithms: tuple[str, ...]
    summary: Annotated[Summary, Label(plain="total", role="totals")]
    rows: tuple[Row, ...]
    failures: Annotated[tuple[Failure, ...], Label()] = ()
