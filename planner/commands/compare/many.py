"""Many states: in memory, or in files as a batch, in this process, in others, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from planner.batch import Row as BatchRow
from planner.commands.audit.instance import Instance
from planner.commands.audit.record import Failure
from planner.commands.audit.sweep import HERE, Settings, heading, read_row, sweep
from planner.commands.compare.algorithm import DEFAULT_ALGORITHMS, find_algorithms
from planner.commands.compare.measure import Question, compare_instance
from planner.commands.compare.record import Comparison, Row, StateComparison
from planner.commands.compare.summary import Tally
from planner.reader import MAX_BYTES
from planner.solver.start import clock_of, pending_workloads
from planner.state import AnyState, State, YuniKornState


def compare(  # noqa: PLR0913 - what a user may say
    states: AnyState | Mapping[str, AnyState],
    algorithms: Sequence[str] = DEFAULT_ALGORITHMS,
    *,
    pending: str | None = None,
    time_limit: float | None = None,
    now: datetime | str | None = None,
    rules: str | None = None,
) -> Comparison:
    """Compare algorithms on states in memory, for everybody who waits there.

    Parameters
    ----------
    states
        What ``planner.read`` returned, or several of it by names of your own.
    algorithms
        Names, see ``planner.commands.compare.algorithm``; the others are compared with the first.
    pending
        The only pending workload or ask to answer for.
    time_limit
        Seconds for each answer of an optimum.
    now
        The clock, for all states; each state's own when left out.
    rules
        YuniKorn: ``design`` or ``code``, as for ``planner.solve``.

    Raises
    ------
    InputError
        If an algorithm or the clock cannot be used.
    InternalError
        If a plan fails its own verification.
    """
    question = Question(find_algorithms(algorithms), time_limit, clock_of(now), rules, pending)
    if isinstance(states, State | YuniKornState):
        states = {states.source: states}
    return summarise(
        question,
        (
            compare_instance(Instance(name, state, pending_workloads(state)), question)
            for name, state in states.items()
        ),
    )


def compare_states(
    paths: Sequence[str],
    question: Question,
    settings: Settings = HERE,
    max_bytes: int = MAX_BYTES,
) -> Comparison:
    """Compare algorithms on every state of some files and folders.

    A state that cannot be read or compared is a failure; it does not stop the others. The rows
    of the results file hold times: two runs give the same file but for each row's ``seconds``.

    Raises
    ------
    InputError
        If a file cannot be read, the results file cannot be used, or there is no state at all.
    """
    work = partial(compare_instance, question=question)
    results = sweep(paths, work, _header(paths, question), settings, max_bytes)
    where = str(settings.file or "")
    return summarise(question, (_read_row(row, where) for row in results))


def summarise(question: Question, compared: Iterable[StateComparison]) -> Comparison:
    """Return the comparisons of single states as one."""
    names = tuple(algorithm.name for algorithm in question.algorithms)
    tally = Tally(names)
    rows: list[Row] = []
    failures: list[Failure] = []
    for one in compared:
        tally.add(one)
        rows += one.rows
        failures += one.failures
    return Comparison(
        algorithms=names, summary=tally.summary(), rows=tuple(rows), failures=tuple(failures)
    )


def _read_row(row: BatchRow, where: str) -> StateComparison:
    if row.outcome == "done":
        return read_row(row, StateComparison, where)
    failure = Failure(state=row.key, outcome=row.outcome, detail=row.detail)
    return StateComparison(state=row.key, failures=(failure,))


def _header(paths: Sequence[str], question: Question) -> dict[str, Any]:
    return heading(
        "comparison",
        paths,
        question.now,
        algorithms=[repr(algorithm) for algorithm in question.algorithms],
        time_limit=question.time_limit,
        rules=question.rules,
        pending=question.pending,
    )
