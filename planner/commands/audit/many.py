"""The scheduler's own answers on one state in memory, or on many in files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

import msgspec

from planner.commands.audit.instance import Instance
from planner.commands.audit.judge import Question, audit_instance
from planner.commands.audit.record import (
    Audit,
    Case,
    FindingCode,
    Gap,
    Judgement,
    PrecedenceCount,
    StateAudit,
    Summary,
    Verdicts,
)
from planner.commands.audit.sweep import HERE, Settings, sweep
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.plan import Assume, Shown
from planner.reader import MAX_BYTES
from planner.solver.start import clock_of, pending_workloads
from planner.state import AnyState
from planner.term import EACH, find_term, in_order, priority_of


@dataclass(slots=True)
class _Difference:
    """The running totals of one term under one objective."""

    compared: int = 0
    more: int = 0
    less: int = 0
    total: int = 0
    greedy_total: int = 0
    worst: int = 0
    worst_case: str = ""

    def add(self, gap: int, greedy: int, case: str) -> None:
        self.compared += 1
        self.more += gap > 0
        self.less += gap < 0
        self.total += gap
        self.greedy_total += greedy
        if gap > self.worst:
            self.worst, self.worst_case = gap, case


@dataclass(slots=True)
class Tally:
    """What was counted so far, for objectives in the order in which they were asked."""

    objectives: tuple[Profile, ...]
    states: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _findings: Counter[FindingCode] = field(default_factory=Counter)
    _precedence: Counter[str] = field(default_factory=Counter)
    _verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _shown: dict[str, Shown] = field(default_factory=dict)
    _gaps: dict[tuple[str, str], _Difference] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Count a case."""
        self._counts["cases"] += 1
        if case.is_conditional:
            self._counts["conditional"] += 1
            return
        self._counts["with_victims"] += bool(case.victims)
        self._counts["clean"] += not case.findings
        self._counts["unproved"] += not case.proved
        self._counts["infeasible"] += case.judgements[0].status == "infeasible"
        self._findings.update(case.findings)
        if (kept := case.precedence) is not None:
            self._precedence["judged"] += 1
            self._precedence["fewer"] += kept.fewer is True
            self._precedence["smallest"] += kept.smallest is True
            self._precedence["undecided"] += kept.fewer is None
        for judgement in case.judgements:
            self._judge(case, judgement)

    def fail(self) -> None:
        """Count a state, or a pending workload, that could not be audited."""
        self._counts["failures"] += 1

    def _judge(self, case: Case, judgement: Judgement) -> None:
        name = judgement.objective
        self._shown[name] = self._shown.get(name, Shown()).plus(judgement.shown)
        self._verdicts[name, "proved"] += judgement.status in {"optimal", "infeasible"}
        if judgement.best is not None:
            self._verdicts[name, "best" if judgement.best else "not_best"] += 1
        if not case.victims or case.outside_rules:  # outside its rules it may well be cheaper
            return
        where = f"{case.state}: {case.pending}"
        for term, gap in judgement.gaps.items():
            known = self._gaps.setdefault((name, term), _Difference())
            known.add(gap, judgement.terms[term] + gap, where)

    def summary(self) -> Summary:
        """Return the totals."""
        other = {"states", "findings", "precedence", "verdicts", "gaps"}
        counted = Summary.model_fields.keys() - other
        return Summary(
            states=self.states,
            **{name: self._counts[name] for name in counted},
            findings=dict(sorted(self._findings.items())),
            precedence=PrecedenceCount(
                **{name: self._precedence[name] for name in PrecedenceCount.model_fields}
            ),
            verdicts=tuple(self._verdict(profile.name) for profile in self.objectives),
            gaps=tuple(
                Gap(
                    objective=profile.name,
                    term=term,
                    title=find_term(term).title,
                    unit=find_term(term).unit,
                    **asdict(found),
                )
                for profile in self.objectives
                for term in self._terms(profile)
                if (found := self._gaps.get((profile.name, term))) is not None
            ),
        )

    def _terms(self, profile: Profile) -> Iterator[str]:
        """Yield the terms of an objective; for the victims of each priority all that were seen."""
        counted = [term for name, term in self._gaps if name == profile.name]
        seen = {term: 0 for term in counted if priority_of(term) is not None}
        for term in profile.terms:
            yield from in_order(seen) if term == EACH else (term,)

    def _verdict(self, name: str) -> Verdicts:
        count = {what: self._verdicts[name, what] for what in ("proved", "best", "not_best")}
        judged, shown = count["best"] + count["not_best"], self._shown.get(name, Shown())
        return Verdicts(objective=name, judged=judged, shown=shown, **count)


def audit(  # noqa: PLR0913 - the public signature
    state: AnyState,
    pending: str | None = None,
    objectives: Sequence[str | Profile] = (DEFAULT_PROFILE,),
    *,
    now: datetime | str | None = None,
    time_limit: float | None = None,
    rules: str | None = None,
    assume: Assume | None = None,
) -> Audit:
    """Judge the scheduler's own answer for every pending workload of a state.

    Parameters
    ----------
    pending
        The only one to judge; every one when left out.
    objectives
        What the optimum minimises: names, TOML files or profiles. ``min-count`` is always added.
    now, rules, assume
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
    question = Question(
        profiles, time_limit, now=clock_of(now), rules=rules, pending=pending, assume=assume
    )
    instance = Instance(state.source, state, pending_workloads(state))
    return summarise(question, [audit_instance(instance, question)])


def audit_states(
    paths: Sequence[str], question: Question, settings: Settings = HERE, max_bytes: int = MAX_BYTES
) -> Audit:
    """Audit every state of some files and folders; see `sweep` for what is raised.

    A state that cannot be read or audited is a failure; it does not stop the others.
    """
    answers = sweep(
        paths,
        audit_instance,
        StateAudit,
        question,
        settings,
        max_bytes,
        "audit",
        objectives=[repr(profile) for profile in question.asked],
        time_limit=question.time_limit,
        limits=msgspec.structs.asdict(settings.limits),
    )
    return summarise(question, answers)


def summarise(question: Question, audits: Iterable[StateAudit]) -> Audit:
    """Return the audits of single states as one."""
    states = list(audits)
    cases = tuple(case for one in states for case in one.cases)
    failures = tuple(failure for one in states for failure in one.failures)
    tally = Tally(question.asked, len(states))
    for case in cases:
        tally.add(case)
    for _ in failures:
        tally.fail()
    objectives = tuple(profile.name for profile in question.asked)
    return Audit(objectives=objectives, summary=tally.summary(), cases=cases, failures=failures)
