"""The scheduler's own answers on one state in memory, or on many in files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

from planner.batch import Limits, Row
from planner.commands.audit.instance import Instance
from planner.commands.audit.judge import Question, audit_instance
from planner.commands.audit.record import Audit, Case, Failure, StateAudit
from planner.commands.audit.sweep import HERE, Settings, heading, read_row, sweep
from planner.commands.audit.tally import Tally
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.reader import MAX_BYTES
from planner.solver.start import clock_of, pending_workloads
from planner.state import AnyState


def audit(  # noqa: PLR0913 - the public signature
    state: AnyState,
    pending: str | None = None,
    objectives: Sequence[str | Profile] = (DEFAULT_PROFILE,),
    *,
    now: datetime | str | None = None,
    time_limit: float | None = None,
    rules: str | None = None,
) -> Audit:
    """Judge the scheduler's own answer for every pending workload of a state.

    Parameters
    ----------
    pending
        The only one to judge; every one when left out.
    objectives
        What the optimum minimises: names, TOML files or profiles. ``min-count`` is always added.
    now, rules
        As for ``planner.solve``.
    time_limit
        Seconds for each optimum.

    Raises
    ------
    InputError
        If an objective or the clock cannot be used. A workload that cannot be planned for is a
        failure in the answer.
    InternalError
        If a plan fails its own verification.
    """
    profiles = tuple(one if isinstance(one, Profile) else find_profile(one) for one in objectives)
    question = Question(profiles, time_limit, clock_of(now), rules, pending)
    instance = Instance(state.source, state, pending_workloads(state))
    return summarise(question, [audit_instance(instance, question)])


def audit_states(
    paths: Sequence[str],
    question: Question,
    settings: Settings = HERE,
    max_bytes: int = MAX_BYTES,
) -> Audit:
    """Audit every state of some files and folders.

    A state that cannot be read or audited is a failure; it does not stop the others.

    Raises
    ------
    InputError
        If a file cannot be read, the results file cannot be used, or there is no state at all.
    """
    work = partial(audit_instance, question=question)
    header = _header(paths, question, settings.limits)
    results = sweep(paths, work, header, settings, max_bytes)
    where = str(settings.file or "")
    return summarise(question, (_read_row(row, where) for row in results))


def summarise(question: Question, audits: Iterable[StateAudit]) -> Audit:
    """Return the audits of single states as one."""
    tally = Tally(question.asked)
    cases: list[Case] = []
    failures: list[Failure] = []
    for audit in audits:
        tally.states += 1
        for case in audit.cases:
            tally.add(case)
        for _ in audit.failures:
            tally.fail()
        cases += audit.cases
        failures += audit.failures
    return Audit(
        objectives=tuple(profile.name for profile in question.asked),
        summary=tally.summary(),
        cases=tuple(cases),
        failures=tuple(failures),
    )


def _read_row(row: Row, where: str) -> StateAudit:
    if row.outcome == "done":
        return read_row(row, StateAudit, where)
    failure = Failure(state=row.key, outcome=row.outcome, detail=row.detail)
    return StateAudit(state=row.key, failures=(failure,))


def _header(paths: Sequence[str], question: Question, limits: Limits) -> dict[str, Any]:
    return heading(
        "audit",
        paths,
        question.now,
        objectives=[repr(profile) for profile in question.asked],
        time_limit=question.time_limit,
        limits=asdict(limits),
        rules=question.rules,
        pending=question.pending,
    )
