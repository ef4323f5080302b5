"""One pending workload: the scheduler's own answer beside the optimum, and what is wrong with it.

Source: docs/design/theory.md §1 (auditors: was the greedy set minimal); docs/design/needs.md §1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from planner.commands.audit.instance import Instance
from planner.commands.audit.record import (
    AtWill,
    Case,
    Failure,
    FindingCode,
    Judgement,
    Precedence,
    Ratio,
    StateAudit,
)
from planner.commands.audit.sweep import Asked
from planner.coverage.answer import Covering, covering, uncovered
from planner.objective.profiles import DEFAULT_PROFILE, PROFILES, Profile
from planner.plan import AnyPlan, Shown
from planner.plan.record import names_of, resources_of
from planner.scheduler import Part
from planner.solver.deadline import Deadline, Trees
from planner.solver.start import AnyPlanning, Given, solve, start
from planner.term import value_of

WITHIN: Final = Profile(
    "within",
    "the fewest of the scheduler's own victims that would do",
    levels=(("cost",), ("count",)),
)
"""Everybody else costs 1, so that a plan of cost 0 is a subset of the scheduler's own."""

SIZE: Final = PROFILES["min-count"]
"""The objective that says how few victims there can be; it is always asked."""
PRECEDENCE: Final = Part[
    Callable[[AnyPlanning, Instance, Given, float | None, AnyPlan], Precedence | None]
]("precedence")
"""What says what documented precedence leaves of fewer victims, where precedence is documented."""
AT_WILL: Final = Part[Callable[[AnyPlanning, Instance, Given], AnyPlanning | None]]("at-will")
"""What prepares the same with pods put wherever there is room, where that can make a difference."""


class Question(Asked, frozen=True):
    """What is asked of every state: objectives, and seconds for each optimum.

    ``certify`` says whether to wait for proof trees.
    """

    objectives: tuple[Profile, ...] = (PROFILES[DEFAULT_PROFILE],)
    time_limit: float | None = None
    certify: Trees = None

    @property
    def asked(self) -> tuple[Profile, ...]:
        """All objectives, that of the size among them."""
        return self.objectives if SIZE in self.objectives else (*self.objectives, SIZE)


def audit_instance(instance: Instance, question: Question) -> StateAudit:
    """Judge the scheduler's own answer for every pending workload; see `Asked.of_each`."""
    failures: list[Failure] = []
    known = covering(instance.state)
    given = Given(None, instance.assignment, question.now, question.rules, question.certify)
    cases = question.of_each(
        instance, given, lambda one: _case(instance, one, question, known), failures
    )
    return StateAudit(state=instance.name, cases=tuple(cases), failures=tuple(failures))


def _case(instance: Instance, given: Given, question: Question, known: Covering) -> Case:
    planning = start(instance.state, given)
    optima = {
        profile.name: solve(planning, profile, Deadline.after(question.time_limit))
        for profile in question.asked
    }
    at_will = _at_will(planning, instance, given, question, optima)
    smallest = optima[SIZE.name]
    greedy = smallest.greedy or planning.greedy_plan()
    lawful = bool(greedy.victims) and not greedy.outside_rules
    fewest = _is_smallest(greedy, smallest) if lawful else None
    # Where no set is smaller, no subset is.
    spared = () if fewest else _needless(instance, given, question, greedy) if lawful else None
    judgements = tuple(
        _judgement(planning, profile, optima[profile.name], greedy, at_will.get(profile.name))
        for profile in question.asked
    )
    judge = PRECEDENCE.find(planning) if fewest is False else None
    case = Case(
        state=instance.name,
        pending=greedy.preemptor,
        names=names_of(greedy, *optima.values()),
        resources=resources_of(greedy, *optima.values()),
        rules=greedy.rules,
        status=greedy.status,
        victims=greedy.keys,
        terms=greedy.terms,
        outside_rules=greedy.outside_rules,
        irredundant=None if spared is None else not spared,
        needless=spared or (),
        smallest=fewest,
        precedence=judge and judge(planning, instance, given, question.time_limit, smallest),
        judgements=judgements,
        ratios=tuple(_ratios(greedy, optima[question.asked[0].name])),
        proved=all(plan.status in {"optimal", "infeasible"} for plan in optima.values()),
        coverage=uncovered(known, optima[question.asked[0].name]),
        assume=question.assume,
    )
    if case.is_conditional:
        return case
    return case.model_copy(update={"findings": _findings(case)})


def _needless(
    instance: Instance, given: Given, question: Question, greedy: AnyPlan
) -> tuple[str, ...] | None:
    """Return the victims that a smallest legal subset of them spares.

    None of them if every one is needed; ``None`` if that was not settled in time.
    """
    planning = start(instance.state, given, dict.fromkeys(greedy.keys, 0))
    plan = solve(planning, WITHIN, Deadline.after(question.time_limit))
    if plan.status != "optimal" or plan.terms["cost"]:
        return None
    kept = set(plan.keys)
    return tuple(key for key in greedy.keys if key not in kept)


def _at_will(
    planning: AnyPlanning,
    instance: Instance,
    given: Given,
    question: Question,
    optima: Mapping[str, AnyPlan],
) -> dict[str, AtWill]:
    """Return the optima with pods put wherever there is room, by objective."""
    prepare = AT_WILL.find(planning)
    nobody_goes = all(one.status == "optimal" and not one.victims for one in optima.values())
    free = None if prepare is None or nobody_goes else prepare(planning, instance, given)
    if free is None:
        return {}
    found = {}
    for profile in question.asked:
        own = optima[profile.name]
        best = solve(free, profile, Deadline.after(question.time_limit))
        has_own, has_best = (one.status in {"optimal", "feasible"} for one in (own, best))
        both, levels = has_own and has_best, free.set_objective(profile)
        # Whether it is better than all that are legal, of which ``own`` is the best known.
        compared = _compared(levels, best.terms, own.terms) if both else -int(has_best)
        is_better = compared is not None and compared < 0
        proof = own if is_better else best
        known = compared is not None and proof.status in {"optimal", "infeasible"}
        found[profile.name] = AtWill(
            status=best.status,
            victims=best.keys,
            spared=_gaps(own.terms, best.terms) if both else {},
            better=is_better if known else None,
        )
    return found


def _is_smallest(greedy: AnyPlan, smallest: AnyPlan) -> bool | None:
    """Say whether no legal set has fewer victims; ``None`` if that is not settled."""
    if smallest.status in {"optimal", "feasible"} and len(smallest.keys) < len(greedy.keys):
        return False
    return True if smallest.status == "optimal" else None


def _judgement(
    planning: AnyPlanning, profile: Profile, plan: AnyPlan, greedy: AnyPlan, at_will: AtWill | None
) -> Judgement:
    has_plan = plan.status in {"optimal", "feasible"}
    both = has_plan and bool(greedy.victims)
    theirs = greedy.terms if plan.greedy is None else plan.greedy.terms
    return Judgement(
        objective=profile.name,
        status=plan.status,
        victims=plan.keys,
        terms=plan.terms if has_plan else {},
        gaps=_gaps(theirs, plan.terms) if both else {},
        best=_is_best(planning, profile, plan, theirs)
        if both and not greedy.outside_rules
        else None,
        shown=Shown() if plan.certificate is None else plan.certificate.shown,
        at_will=at_will,
    )


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
    """Return the sign of the first difference in levels; ``None`` where time told too little."""
    for measure in profile.levels:
        ours, theirs = value_of(measure, left), value_of(measure, right)
        if ours is None or theirs is None:
            return None
        if ours != theirs:
            return -1 if ours < theirs else 1
    return 0


def _gaps(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    """Return how much more each term is on the left, for those that are known of both."""
    return {term: left[term] - value for term, value in right.items() if term in left}


def _findings(case: Case) -> tuple[FindingCode, ...]:
    judgements = case.judgements
    plans = [one for one in judgements if one.status in {"optimal", "feasible"}]
    worse = (one.best is False for one in judgements if one.objective != SIZE.name)
    found: dict[FindingCode, bool] = {
        "redundant": case.irredundant is False,
        "count": case.smallest is False,
        "disruption": any(worse),
        "rules": bool(case.outside_rules),
        "missed": case.status == "unknown" and bool(plans),
        "pointless": bool(case.victims) and any(not one.victims for one in plans),
        "fragmentation": any(one.at_will and one.at_will.better for one in judgements),
    }
    return tuple(code for code, holds in found.items() if holds)


def _ratios(greedy: AnyPlan, plan: AnyPlan) -> Iterator[Ratio]:
    """Yield what the plans evict of every resource that is requested."""
    if not greedy.victims:
        return
    has_plan = plan.status in {"optimal", "feasible"}
    theirs, ours = evicted(greedy), evicted(plan)
    for place, asked in greedy.requested.items():
        yield Ratio(
            flavor=place[0],
            resource=place[1],
            requested=asked,
            greedy=theirs.get(place, 0),
            optimum=ours.get(place, 0) if has_plan else None,
        )


def evicted(plan: AnyPlan) -> dict[tuple[str, str], int]:
    """Return how much the victims hold that are not being evicted already."""
    total = Counter[tuple[str, str]]()
    for place, units in plan.freed:
        total[place] += units
    return total
