"""The scheduler's own answer beside the optimum: what is wrong with it, and how often.

One pending workload first; then all of one state in memory, or of many in files, and the totals.

Source: docs/design/theory.md §1 (auditors: was the greedy set minimal); docs/design/needs.md §1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Final

from planner.commands.audit.instance import HERE, Asked, Instance, Settings, each_once, sweep
from planner.commands.audit.record import (
    Audit,
    Case,
    Failure,
    FindingCode,
    Gap,
    Judgement,
    Precedence,
    PrecedenceCount,
    Ratio,
    StateAudit,
    Summary,
    Verdicts,
)
from planner.coverage.answer import Covering, covering, uncovered
from planner.errors import SchemaError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, PROFILES, Profile
from planner.plan import AnyPlan, Assume, Shown
from planner.plan.record import names_of, resources_of
from planner.reader import MAX_BYTES
from planner.scheduler import Part
from planner.solver.deadline import Deadline, Trees
from planner.solver.start import (
    AnyPlanning,
    Given,
    deadline_after,
    solve,
    start,
)
from planner.state import AnyState
from planner.state.clock import clock_of
from planner.term import EACH, find_term, in_order, lost_by, priority_of, value_of
from planner.verb import verb

WITHIN: Final = Profile(
    "within",
    "the fewest of the scheduler's own victims that would do",
    levels=(("cost",), ("workloads",), ("victims",)),
)
"""All but the scheduler's own victims cost 1, so that a plan of cost 0 is a subset of these.

Those that are being evicted already come last: who goes anyway is not needless.
"""

SIZE: Final = PROFILES["min-count"]
"""The objective that says how few victims there can be, which is told beside every judgement."""
PRECEDENCE: Final = Part[
    Callable[[AnyPlanning, Instance, Given, float | None, AnyPlan], Precedence | None]
]("precedence")
"""Judges a finding of fewer victims by documented precedence, where a scheduler documents any."""


class Question(Asked, frozen=True):
    """What is asked of every state: objectives, and seconds for each optimum.

    ``certify`` says whether to wait for proof trees.
    """

    objectives: tuple[Profile, ...] = (PROFILES[DEFAULT_PROFILE],)
    time_limit: float | None = None
    certify: Trees = None


def distinct(objectives: Iterable[Profile]) -> tuple[Profile, ...]:
    """Return objectives, each once, in order.

    Raises ``SchemaError`` if there is none, or two have the same name.
    """
    if not (found := each_once(objectives, "objective")):
        raise SchemaError("objectives", "there is none", "at least one objective")
    return found


def audit_instance(instance: Instance, question: Question) -> StateAudit:
    """Judge the scheduler's own answer for every pending workload; see `Asked.of_each`."""
    failures: list[Failure] = []
    known = covering(instance.state)
    given = Given(
        None,
        instance.assignment,
        question.now,
        question.rules,
        question.certify,
        recorded=True,
    )
    cases = question.of_each(
        instance, given, lambda one: _case(instance, one, question, known), failures
    )
    return StateAudit(state=instance.name, cases=tuple(cases), failures=tuple(failures))


def _case(instance: Instance, given: Given, question: Question, known: Covering) -> Case:
    planning = start(instance.state, given)
    optima = {
        profile.name: solve(planning, profile, Deadline.after(question.time_limit))
        for profile in question.objectives
    }
    first = optima[question.objectives[0].name]
    if SIZE in question.objectives:
        smallest = optima[SIZE.name]
    else:
        smallest = solve(planning, SIZE, Deadline.after(question.time_limit))
    greedy = smallest.greedy or planning.greedy_plan()
    lawful = bool(greedy.victims) and not greedy.outside_rules
    fewest = _is_smallest(greedy, smallest) if lawful else None
    # Where no legal set is smaller, no proper subset is legal.
    spared = () if fewest else _needless(instance, given, question, greedy) if lawful else None
    judgements = tuple(
        _judgement(planning, profile, optima[profile.name], greedy)
        for profile in question.objectives
    )
    judge = PRECEDENCE.find(planning) if fewest is False else None
    case = Case(
        state=instance.name,
        pending=greedy.preemptor,
        names=names_of(greedy, smallest, *optima.values()),
        resources=resources_of(greedy, smallest, *optima.values()),
        now=greedy.now,
        rules=greedy.rules,
        status=greedy.status,
        victims=greedy.keys,
        terms=greedy.terms,
        lost=_lost(greedy),
        outside_rules=greedy.outside_rules,
        irredundant=None if spared is None else not spared,
        needless=spared or (),
        smallest=fewest,
        fewest=len(smallest.keys) if smallest.status == "optimal" else None,
        precedence=judge and judge(planning, instance, given, question.time_limit, smallest),
        judgements=judgements,
        ratios=tuple(_ratios(greedy, first)),
        proved=all(plan.status in {"optimal", "infeasible"} for plan in optima.values()),
        coverage=uncovered(known, first),
        assume=question.assume,
    )
    if case.is_conditional:
        return case
    return case.model_copy(update={"findings": _findings(case)})


def _needless(
    instance: Instance, given: Given, question: Question, greedy: AnyPlan
) -> tuple[str, ...] | None:
    """Return the scheduler's own victims that a smallest legal subset of them spares.

    They are empty if every victim is needed, or goes anyway; ``None`` if that was not settled in
    time.
    """
    planning = start(instance.state, given, dict.fromkeys(greedy.keys, 0))
    plan = solve(planning, WITHIN, Deadline.after(question.time_limit))
    if plan.status != "optimal" or plan.terms["cost"]:
        return None
    kept = set(plan.keys)
    return tuple(
        one.key for one in greedy.victims if one.key not in kept and one.costs["workloads"]
    )


def _is_smallest(greedy: AnyPlan, smallest: AnyPlan) -> bool | None:
    """Say whether no legal set has fewer victims; ``None`` if that is not settled."""
    if smallest.status in {"optimal", "feasible"} and len(smallest.keys) < len(greedy.keys):
        return False
    return True if smallest.status == "optimal" else None


def _judgement(
    planning: AnyPlanning, profile: Profile, plan: AnyPlan, greedy: AnyPlan
) -> Judgement:
    has_plan = plan.status in {"optimal", "feasible"}
    both = has_plan and bool(greedy.victims)
    lawful = both and not greedy.outside_rules
    theirs = greedy.terms if plan.greedy is None else plan.greedy.terms
    return Judgement(
        objective=profile.name,
        status=plan.status,
        victims=plan.keys,
        terms=plan.terms if has_plan else {},
        gaps=_gaps(theirs, plan.terms) if both else {},
        best=_is_best(planning, profile, plan, theirs) if lawful else None,
        shown=Shown() if plan.certificate is None else plan.certificate.shown,
        lost=_lost(plan),
    )


def _lost(plan: AnyPlan) -> dict[str, int]:
    """Return the work that victims lose, restarts included, by the queue that they run in."""
    found: Counter[str] = Counter()
    for one in plan.victims:
        found[one.runs_in] += lost_by(one.costs)
    return dict(sorted(found.items()))


def _is_best(
    planning: AnyPlanning, profile: Profile, plan: AnyPlan, of_greedy: Mapping[str, int]
) -> bool | None:
    """Say whether the scheduler's own plan keeps to the wishes and is as good in every level."""
    profile = planning.set_objective(profile)
    if not profile.wishes.are_kept(planning.table, planning.greedy_positions()):
        return False
    if (compared := _compared(profile, of_greedy, plan.terms)) is None:
        return None
    if compared > 0:
        return False
    return True if plan.status == "optimal" else None


def _compared(profile: Profile, left: Mapping[str, int], right: Mapping[str, int]) -> int | None:
    """Return the sign of the first difference in levels; ``None`` where a term is not known."""
    for measure in profile.levels:
        ours, theirs = value_of(measure, left), value_of(measure, right)
        if ours is None or theirs is None:
            return None
        if ours != theirs:
            return -1 if ours < theirs else 1
    return 0


def _gaps(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    """Return how much more each term is on the left, for the terms that both sides have."""
    return {term: left[term] - value for term, value in right.items() if term in left}


def _findings(case: Case) -> tuple[FindingCode, ...]:
    judgements = case.judgements
    plans = [one for one in judgements if one.status in {"optimal", "feasible"}]
    found: dict[FindingCode, bool] = {
        "redundant": case.irredundant is False,
        "disruption": any(one.best is False for one in judgements),
        "rules": bool(case.outside_rules),
        "missed": case.status == "unknown" and bool(plans),
        "pointless": bool(case.terms["workloads"]) and any(not one.victims for one in plans),
    }
    return tuple(code for code, holds in found.items() if holds)


def _ratios(greedy: AnyPlan, plan: AnyPlan) -> Iterator[Ratio]:
    """Yield what the plans evict of every resource that is requested."""
    if not greedy.victims:
        return
    has_plan = plan.status in {"optimal", "feasible"}
    about, ours = greedy.about, plan.about.freed
    for place, asked in about.requested.items():
        yield Ratio(
            flavor=place[0],
            resource=place[1],
            requested=asked,
            greedy=about.freed.get(place, 0),
            optimum=ours.get(place, 0) if has_plan else None,
        )


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
    """The counts so far, for objectives in the order in which they were asked for."""

    objectives: tuple[Profile, ...]
    states: int = 0
    failures: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _findings: Counter[FindingCode] = field(default_factory=Counter)
    _precedence: Counter[str] = field(default_factory=Counter)
    _verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _shown: dict[str, Shown] = field(default_factory=dict)
    _gaps: dict[tuple[str, str], _Difference] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Count a case."""
        self._counts["cases"] += 1
        self._counts["unproved"] += not case.proved
        if case.is_conditional:
            self._counts["conditional"] += 1
            return
        self._counts["with_victims"] += bool(case.victims)
        self._counts["fewer"] += case.smallest is False
        self._counts["clean"] += not case.findings
        self._counts["infeasible"] += case.judgements[0].status == "infeasible"
        self._findings.update(case.findings)
        if (kept := case.precedence) is not None:
            self._precedence["judged"] += 1
            self._precedence["fewer"] += kept.fewer is True
            self._precedence["smallest"] += kept.smallest is True
            self._precedence["undecided"] += kept.fewer is None
        for judgement in case.judgements:
            self._judge(case, judgement)

    def _judge(self, case: Case, judgement: Judgement) -> None:
        name = judgement.objective
        self._shown[name] = self._shown.get(name, Shown()).plus(judgement.shown)
        self._verdicts[name, "proved"] += judgement.status in {"optimal", "infeasible"}
        if judgement.best is not None:
            self._verdicts[name, "best" if judgement.best else "not_best"] += 1
        if not case.victims or case.outside_rules:  # a plan outside the rules may be cheaper
            return
        where = f"{case.state}: {case.pending}"
        for term, gap in judgement.gaps.items():
            known = self._gaps.setdefault((name, term), _Difference())
            known.add(gap, judgement.terms[term] + gap, where)

    def summary(self) -> Summary:
        """Return the totals."""
        other = {"states", "failures", "findings", "precedence", "verdicts", "gaps"}
        counted = Summary.model_fields.keys() - other
        return Summary(
            states=self.states,
            failures=self.failures,
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
        """Yield the terms of an objective; for `EACH`, the terms of all priorities seen."""
        counted = [term for name, term in self._gaps if name == profile.name]
        seen = {term: 0 for term in counted if priority_of(term) is not None}
        for term in profile.terms:
            yield from in_order(seen) if term == EACH else (term,)

    def _verdict(self, name: str) -> Verdicts:
        count = {what: self._verdicts[name, what] for what in ("proved", "best", "not_best")}
        judged, shown = count["best"] + count["not_best"], self._shown.get(name, Shown())
        return Verdicts(objective=name, judged=judged, shown=shown, **count)


@verb
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
        What the optimum minimises: names, TOML files or profiles. Each is judged by itself.
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
    deadline_after(time_limit)  # refuses what is no time limit
    profiles = distinct(map(find_profile, objectives))
    question = Question(
        profiles, time_limit, now=clock_of(now), rules=rules, pending=pending, assume=assume
    )
    instance = Instance(state.source, state, state.pending)
    return summarise(question, [audit_instance(instance, question)])


def audit_states(
    paths: Sequence[str], question: Question, settings: Settings = HERE, max_bytes: int = MAX_BYTES
) -> Audit:
    """Audit every state of files and folders; see `sweep` for what is raised.

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
        objectives=[repr(profile) for profile in question.objectives],
        time_limit=question.time_limit,
    )
    return summarise(question, answers)


def summarise(question: Question, audits: Iterable[StateAudit]) -> Audit:
    """Return the audits of single states as one."""
    states = list(audits)
    cases = tuple(case for one in states for case in one.cases)
    failures = tuple(failure for one in states for failure in one.failures)
    tally = Tally(question.objectives, len(states), len(failures))
    for case in cases:
        tally.add(case)
    objectives = tuple(profile.name for profile in question.objectives)
    return Audit(objectives=objectives, summary=tally.summary(), cases=cases, failures=failures)
