"""The scheduler's own answer beside the optimum: what is wrong with it, and how often.

One pending workload first; then all of one state in memory, or of many in files, and the totals.

Source: docs/design/theory.md §1 (auditors: was the greedy set minimal); docs/design/needs.md §1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import Any, Final

from msgspec.structs import replace

from planner.batch import Settings
from planner.commands.audit.record import (
    Audit,
    Case,
    FindingCode,
    Gap,
    Judgement,
    Ratio,
    StateAudit,
    Summary,
    Verdicts,
)
from planner.commands.study.instance import Instance
from planner.commands.study.run import HERE, Asked, each_once, sweep
from planner.coverage.answer import Covering, covering, uncovered
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, PROFILES, Profile
from planner.plan import AnyPlan, Assume, Shown
from planner.plan.record import names_of, resources_of
from planner.reader import MAX_BYTES
from planner.scheduler import scheduler_of
from planner.solver.deadline import Deadline, Trees
from planner.solver.start import AnyPlanning, Given, deadline_after, solve, start
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
_FOUND: Final = frozenset({"optimal", "feasible"})
"""The statuses of what has a plan."""


class Question(Asked[Case], frozen=True):
    """What is asked of every state: objectives, and seconds for each optimum.

    ``certify`` says whether to wait for proof trees.
    """

    kind = "audit"
    model = StateAudit
    objectives: tuple[Profile, ...] = (PROFILES[DEFAULT_PROFILE],)
    time_limit: float | None = None
    certify: Trees = None

    @property
    def more(self) -> Mapping[str, object]:
        """The objectives, and seconds for each."""
        return {"objectives": list(map(repr, self.objectives)), "time_limit": self.time_limit}

    def answer(self, instance: Instance) -> StateAudit:
        """Judge the scheduler's own answer for every pending workload, and every lowered quota."""
        known = covering(instance.state)
        given = Given(None, instance.assignment, self.now, self.rules, self.certify, recorded=True)
        queues = scheduler_of(instance.state).planning.lowered_quotas(instance.state)

        def judge(one: Given) -> list[Case]:
            return [_case(instance, one, self, known)]

        return self.of_each(instance, given, judge, queues)


def _case(instance: Instance, given: Given, question: Question, known: Covering[Any]) -> Case:
    planning = start(instance.state, given)

    def best(profile: Profile) -> AnyPlan:
        return solve(planning, profile, Deadline.after(question.time_limit))

    optima = [(profile, best(profile)) for profile in question.objectives]
    plans = [plan for _, plan in optima]
    smallest = next((plan for profile, plan in optima if profile == SIZE), None) or best(SIZE)
    greedy = smallest.greedy or planning.greedy_plan()
    lawful = bool(greedy.victims) and not greedy.outside_rules
    known_smaller = smallest.status in _FOUND and len(smallest.keys) < len(greedy.keys)
    fewest = None
    if lawful and (known_smaller or smallest.status == "optimal"):
        fewest = not known_smaller
    # Where no legal set is smaller, no proper subset is legal.
    spared = () if fewest else _needless(instance, given, question, greedy) if lawful else None
    case = Case(
        state=instance.name,
        pending=greedy.preemptor,
        names=names_of(greedy, smallest, *plans),
        resources=resources_of(greedy, smallest, *plans),
        now=greedy.now,
        rules=greedy.rules,
        status=greedy.status,
        turn=planning.turn,
        victims=greedy.keys,
        terms=greedy.terms,
        lost=_lost(greedy),
        outside_rules=greedy.outside_rules,
        irredundant=None if spared is None else not spared,
        needless=spared or (),
        smallest=fewest,
        fewest=len(smallest.keys) if smallest.status == "optimal" else None,
        judgements=tuple(_judgement(planning, *one, greedy) for one in optima),
        ratios=tuple(_ratios(greedy, plans[0])),
        proved=all(plan.status in {"optimal", "infeasible"} for plan in plans),
        coverage=uncovered(known, plans[0]),
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
    planning = start(instance.state, replace(given, costs=dict.fromkeys(greedy.keys, 0)))
    plan = solve(planning, WITHIN, Deadline.after(question.time_limit))
    if plan.status != "optimal" or plan.terms["cost"]:
        return None
    kept = set(plan.keys)
    return tuple(
        one.key for one in greedy.victims if one.key not in kept and one.costs["workloads"]
    )


def _judgement(
    planning: AnyPlanning, profile: Profile, plan: AnyPlan, greedy: AnyPlan
) -> Judgement:
    has_plan = plan.status in _FOUND
    both = has_plan and bool(greedy.victims)
    lawful = both and not greedy.outside_rules
    theirs = greedy.terms if plan.greedy is None else plan.greedy.terms
    gaps = {term: theirs[term] - value for term, value in plan.terms.items() if term in theirs}
    return Judgement(
        objective=profile.name,
        status=plan.status,
        victims=plan.keys,
        terms=plan.terms if has_plan else {},
        gaps=gaps if both else {},
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
    """Say whether the scheduler's own plan keeps to the wishes and is as good in every level.

    ``None`` where a term is not known, or nothing better was found but nothing proved either.
    """
    profile = planning.set_objective(profile)
    if not profile.wishes.are_kept(planning.table, planning.greedy_positions()):
        return False
    for measure in profile.levels:
        theirs, ours = value_of(measure, of_greedy), value_of(measure, plan.terms)
        if theirs is None or ours is None:
            return None
        if theirs > ours:
            return False
        if theirs < ours:
            break
    return True if plan.status == "optimal" else None


def _findings(case: Case) -> tuple[FindingCode, ...]:
    judgements = case.judgements
    plans = [one for one in judgements if one.status in _FOUND]
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
    theirs, ours = greedy.about, plan.about.freed
    for place, asked in theirs.requested.items() if greedy.victims else ():
        yield Ratio(
            flavor=place[0],
            resource=place[1],
            requested=asked,
            greedy=theirs.freed.get(place, 0),
            optimum=ours.get(place, 0) if plan.status in _FOUND else None,
        )


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

    Of YuniKorn also for every queue above its maximum in which the core preempts for that.

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
    profiles = each_once(map(find_profile, objectives), "objective")
    question = Question(
        profiles, time_limit, now=clock_of(now), rules=rules, pending=pending, assume=assume
    )
    instance = Instance(state.source, state, state.pending)
    return summarise(question, [question.answer(instance)])


def audit_states(
    paths: Sequence[str], question: Question, settings: Settings = HERE, max_bytes: int = MAX_BYTES
) -> Audit:
    """Audit every state of files and folders; see `sweep` for what is raised."""
    return summarise(question, sweep(paths, question, settings, max_bytes))


def summarise(question: Question, audits: Iterable[StateAudit]) -> Audit:
    """Return the audits of single states as one."""
    states = list(audits)
    cases = tuple(case for one in states for case in one.rows)
    failures = tuple(failure for one in states for failure in one.failures)
    counted = [case for case in cases if not case.is_conditional]
    found: Counter[FindingCode] = Counter(code for case in counted for code in case.findings)
    summary = Summary(
        states=len(states),
        cases=len(cases),
        conditional=len(cases) - len(counted),
        with_victims=sum(bool(case.victims) for case in counted),
        fewer=sum(case.smallest is False for case in counted),
        infeasible=sum(case.judgements[0].status == "infeasible" for case in counted),
        clean=sum(not case.findings for case in counted),
        unproved=sum(not case.proved for case in cases),
        failures=len(failures),
        findings=dict(sorted(found.items())),
        verdicts=tuple(_verdicts(profile.name, counted) for profile in question.objectives),
        gaps=tuple(gap for profile in question.objectives for gap in _gaps(profile, counted)),
    )
    objectives = tuple(profile.name for profile in question.objectives)
    return Audit(objectives=objectives, summary=summary, cases=cases, failures=failures)


def _verdicts(objective: str, cases: Sequence[Case]) -> Verdicts:
    judgements = [one for case in cases for one in case.judgements if one.objective == objective]
    best = Counter(one.best for one in judgements)
    return Verdicts(
        objective=objective,
        proved=sum(one.status in {"optimal", "infeasible"} for one in judgements),
        judged=best[True] + best[False],
        best=best[True],
        not_best=best[False],
        shown=reduce(Shown.plus, (one.shown for one in judgements), Shown()),
    )


def _gaps(profile: Profile, cases: Sequence[Case]) -> Iterator[Gap]:
    """Yield the gaps of an objective by its terms; for `EACH`, by those of all priorities seen."""
    found: dict[str, list[tuple[int, int, Case]]] = {}
    for case in cases:
        if not case.victims or case.outside_rules:  # a plan outside the rules may be cheaper
            continue
        for one in case.judgements:
            if one.objective == profile.name:
                for term, gap in one.gaps.items():
                    found.setdefault(term, []).append((gap, one.terms[term] + gap, case))
    each = in_order({term: 0 for term in found if priority_of(term) is not None})
    for term in (one for name in profile.terms for one in (each if name == EACH else (name,))):
        if term in found:
            gaps, greedy, where = zip(*found[term], strict=True)
            worst = max(gaps)
            case = where[gaps.index(worst)]
            yield Gap(
                objective=profile.name,
                term=term,
                title=find_term(term).title,
                unit=find_term(term).unit,
                compared=len(gaps),
                more=sum(gap > 0 for gap in gaps),
                less=sum(gap < 0 for gap in gaps),
                total=sum(gaps),
                greedy_total=sum(greedy),
                worst=max(0, worst),
                worst_case=f"{case.state}: {case.pending}" if worst > 0 else "",
            )
