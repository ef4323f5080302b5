"""The entry point of a check, the record of its result, and what a plan says that it leaves out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from operator import itemgetter
from typing import Annotated, Final, TypeVar

from msgspec import Struct

from planner.coverage.answer import covering, uncovered
from planner.errors import InputError, SchemaError
from planner.laws import Law
from planner.objective.profile_file import checked_costs, find_profile
from planner.objective.profiles import PROFILES, Profile
from planner.plan import AnyPlan, Assume, Record, Uncovered, Verdict, Verification
from planner.plan.asked import Asked, AssignmentInput, Option
from planner.plan.base import Told, name_some
from planner.plan.label import Label
from planner.plan.proof import Step
from planner.scheduler import scheduler_of
from planner.stage import begin, going_on
from planner.state import AnyState
from planner.state.clock import clock_of
from planner.verb import verb
from planner.verifier.wording import compare, judge

OTHER_STATE: Final = (
    "the plan was made from another file, or another state: what holds of it holds for this one"
)
NOT_LOOKED_AT: Final = "its proof trees were not looked at: something else does not hold"
UNTIED: Final = "it does not claim to be the first of its equals: others may be as good"
NOT_ASKED_FOR: Final = "no claim rests on these trees, which were not looked at"
MOST_NAMED: Final = 5
NOT_JUDGED: Final = "nothing else was looked at: what holds of one question does not of another"
UNCHECKED: Final = (
    *("explanation", "notes", "more_than_greedy", "greedy.explanation", "greedy.notes"),
    *("coverage.title", "coverage.effect", "coverage.evidence", "greedy.held_back.message"),
    *("held_back.message", "held_back.text", "greedy.held_back.text"),
    *(f"certificate.{name}" for name in ("claimed", "cut_off", "corrected", "solver")),
    *(f"certificate.{name}" for name in ("levels.title", "verdicts.title", "verdicts.detail")),
    *("certificate.seed", "certificate.wall_time_s", "certificate.levels.claimed"),
    *("nodes.slot", "nodes.domains.name"),
)
"""The fields of plans that are for their reader alone, and held against nothing."""


def unchecked(plan: AnyPlan) -> tuple[str, ...]:
    """Return the fields that plans of a scheduler have and that are held against nothing."""
    known = {*type(plan).model_fields, *type(plan).model_computed_fields}
    return tuple(name for name in UNCHECKED if name.partition(".")[0] in known)


class CheckedClaim(Record):
    """One claim of a plan: nothing is better on a level, nothing equal comes first, or no plan is.

    ``value`` is the bound of a level: that of the plan, if it is called best there. ``certified``
    says that a tree shows it, ``detail`` how, or what is missing.
    """

    claim: Annotated[str, Label("Claim", "key")]
    title: Annotated[str, Label("What", "text")]
    value: Annotated[int | None, Label("Value")] = None
    certified: Annotated[bool, Label("Certified", tones={True: "good", False: "bad"})]
    detail: Annotated[str, Label("How", "text", "how")]


class Named(Struct, frozen=True):
    """What a caller names of the question that a plan is to answer, as for ``planner.solve``."""

    rules: str | None = None
    assignment: AssignmentInput | None = None
    now: datetime | None = None
    stable: bool = False
    assume: Assume | None = None


class Check(Told):
    """What holds of a plan.

    ``asked`` is the question that it is judged by: that of the state, where the caller names no
    other. ``verdicts`` judge what needs no tree: the laws, and what the plan says of itself;
    ``claims`` what is proved. ``accepted`` says that all of them hold. ``unchecked`` names the
    fields of a plan that are for its reader alone: they are held against nothing.
    """

    preemptor: Annotated[str, Label("Preemptor", "title")]
    asked: Asked
    status: Annotated[str, Label("Status of the plan", plain="status")]
    accepted: bool
    verdicts: tuple[Verdict, ...] = ()
    claims: Annotated[tuple[CheckedClaim, ...], Label("Claims")] = ()
    unchecked: tuple[str, ...] = ()
    notes: Annotated[tuple[str, ...], Label("Notes", "caution")] = ()

    @property
    def _in_a_line(self) -> str:
        """Whether the plan holds, and of how much that is said."""
        claims = sum(claim.certified for claim in self.claims)
        verdicts = sum(verdict.holds for verdict in self.verdicts)
        return (
            f"{'accepted' if self.accepted else 'refused'}: {self.preemptor}: {claims} of "
            f"{len(self.claims)} claims certified, {verdicts} of {len(self.verdicts)} verdicts hold"
        )


QUESTION: Final = Law(
    "CT-11",
    "check_question",
    "the plan answers the question that is asked",
    "Rules and their options, clock, release, requests, flavors, placement, and what is vouched "
    "for are those that the state asks for, or that the caller names.",
    "planner.plan.asked.Asked",
)


def another_question(
    plan: AnyPlan, asked: Asked, option: Option, more: Iterable[str] = ()
) -> Check | None:
    """CT-11: return the check of a plan that answers another question; ``None`` if it does not.

    ``option`` names the options of the scheduler, ``more`` is in what else it differs.
    """
    differing = [*asked.differences(plan.asked, option), *more]
    if not differing:
        return None
    said = judge(QUESTION, [f"answers another question: {'; '.join(differing)}"], "")
    return Check(
        preemptor=plan.preemptor,
        asked=asked,
        status=plan.status,
        accepted=False,
        verdicts=(said,),
        unchecked=unchecked(plan),
        notes=(NOT_JUDGED,),
    )


def conclude(
    plan: AnyPlan,
    asked: Asked,
    laws: Verification,
    own: Iterable[Verdict],
    claims: Callable[[], Iterable[CheckedClaim]],
) -> Check:
    """Judge laws and what a plan says of itself, then claims: these only where all else holds."""
    verdicts = [*laws.verdicts, *own]
    # CT-10: a plan may say nothing of laws; what it says of some it has to say of all. One that
    # breaks laws is refused for that alone.
    said = plan.certificate.verdicts if plan.certificate and laws.accepted else ()
    facts, findings = {one.law: one for one in laws.verdicts}, list[str]()
    for i, one in enumerate(said):
        where, fact = f"certificate.verdicts[{i}]", facts.pop(one.law, None)
        if fact is None:
            findings.append(f"{where}.law {one.law} is none that is judged, or stands twice")
        else:
            findings += compare(f"{where}.holds", one.holds, fact.holds)
    findings += [f"certificate.verdicts leaves out {law}" for law in facts if said]
    verdicts += [judge(CLAIMS, findings, "")] if findings else []
    sound = laws.accepted and all(verdict.holds for verdict in verdicts)
    # Trees take long, and those of a plan whose values are false would prove something else.
    judged = tuple(claims()) if sound else ()
    silent = plan.certificate is None or plan.certificate.ties is None
    untied = silent and plan.claim == "optimal" and bool(plan.victims)
    return Check(
        preemptor=plan.preemptor,
        asked=asked,
        status=plan.status,
        accepted=sound and all(claim.certified for claim in judged),
        verdicts=tuple(verdicts),
        claims=judged,
        unchecked=unchecked(plan),
        notes=(*((UNTIED,) if untied else ()), *(() if sound else (NOT_LOOKED_AT,))),
    )


def _not_asked_for(plan: AnyPlan, claims: Sequence[CheckedClaim]) -> list[str]:
    """Return the claims of trees that are about none that was judged, or about one once more."""
    left = [one.claim for one in claims]
    strange = []
    for tree in plan.certificate.trees if plan.certificate and left else ():
        claim = tree.claim.partition(", ")[0]  # what follows says that the scheduler is asked
        if claim in left:
            left.remove(claim)
        else:
            strange.append(tree.claim)
    return strange


COVERAGE: Final = Law(
    "CT-09",
    "check_coverage",
    "the plan says what it leaves out of the state",
    "Every feature of the state that may decide about the preemptor, and is not modelled, is named "
    "in the coverage of the plan.",
    "docs/explanation/limits.md",
)


def check_coverage(plan: AnyPlan, facts: Sequence[Uncovered]) -> Iterator[Verdict]:
    """CT-09: yield a verdict for each feature that a plan leaves out of a state without a word.

    Without a word about it, the status of the plan would mean too much. What a plan says of a
    feature is held against the state, too, but for its words; and so is that there is such a
    feature at all.
    """
    left = [*facts]

    def differences(i: int, said: Uncovered, fact: Uncovered) -> list[str]:
        pairs = ((n, getattr(said, n), getattr(fact, n)) for n in ("kind", "objects", "count"))
        return [text for name, *two in pairs for text in compare(f"coverage[{i}].{name}", *two)]

    for i, said in enumerate(plan.coverage):
        alike = [one for one in left if one.feature == said.feature]
        if not alike:
            yield judge(COVERAGE, [f"coverage[{i}] is not so: the state does not show it"], "")
            continue
        wrong, fact = min(((differences(i, said, one), one) for one in alike), key=itemgetter(0))
        left.remove(fact)
        if wrong:
            yield judge(COVERAGE, wrong, "")
    for one in left:
        wrong = [f"the plan does not say that it leaves out {one.title}: {one.evidence}"]
        yield judge(COVERAGE, wrong, "")


CLAIMS: Final = Law(
    "CT-10",
    "check_claims",
    "the plan claims no more than what is judged",
    "A plan names no law as broken that it keeps, and says of each law in its certificate what is "
    "judged. Without an answer it says nothing of ties, and without a last resort among its "
    "victims nothing of what that rests on. It is the planner's answer, and its commands are those "
    "that the planner prints for it.",
    "planner.plan.Certificate",
)


def check_claims(plan: AnyPlan, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """CT-10: yield a verdict if a plan claims what none of these verdicts is about."""
    broken = {one.law for one in verdicts if not one.holds}
    findings = compare("algorithm", plan.algorithm, "optimum")
    findings += [
        f"outside_rules[{i}] is a law that the plan keeps: {law}"
        for i, law in enumerate(plan.outside_rules)
        if law.partition(" ")[0] not in broken
    ]
    certificate = plan.certificate
    if certificate is not None:
        if certificate.ties is not None and plan.claim in {"infeasible", "unknown"}:
            findings.append("certificate.ties: there is no answer that others could equal")
        if certificate.last_resort is not None and not plan.about.last_resort:
            findings.append("certificate.last_resort: no victim is one")
    if findings:
        yield judge(CLAIMS, findings, "")


class OutOfTime(Exception):  # noqa: N818 - says what happened, as the others do
    """The time for the trees of a plan is up."""


_UNTIL: Final = ContextVar[float | None]("until", default=None)


@contextmanager
def walking_for(seconds: float | None) -> Iterator[None]:
    """Walk the trees of a check for so many seconds in all; ``None`` is no limit."""
    before = _UNTIL.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _UNTIL.reset(before)


def in_time(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps of a tree while there is time, and report that it goes on."""
    until = _UNTIL.get()
    for step in steps:
        if until is not None and time.monotonic() > until:
            raise OutOfTime
        going_on()
        yield step


StateT = TypeVar("StateT")
PlanT = TypeVar("PlanT")
Checker = Callable[[StateT, PlanT, Profile, Mapping[str, int] | None, Named], Check]
"""The function that checks plans of a scheduler."""


@verb
def check(  # noqa: PLR0913, PLR0917 - the public signature
    state: AnyState,
    plan: AnyPlan,
    objective: str | Profile | None = None,
    costs: Mapping[str, int] | None = None,
    assignment: AssignmentInput | None = None,
    now: datetime | str | None = None,
    rules: str | None = None,
    *,
    stable: bool = False,
    assume: Assume | None = None,
    time_limit: float | None = None,
) -> Check:
    """Check a plan, made by anybody: its laws, its values, and the proof tree of every claim.

    No solver is asked, and none is loaded. ``check.accepted`` says that everything holds. The plan
    is judged by the question that the state asks, or that the caller names, never by its own: if
    that is another one it is refused.

    Parameters
    ----------
    state
        What the plan was made for.
    plan
        The plan, with its certificate.
    objective
        The profile it was made under, as for ``planner.solve``; by default the one that the plan
        names, if it is the program's own.
    costs, assignment, now, rules, stable, assume
        What it was made under, as for ``planner.solve``.
    time_limit
        Seconds for its proof trees: a claim whose tree is not walked by then is not certified. By
        default as long as it takes.

    Raises
    ------
    InputError
        If the plan is not for this state, the objective is not the one that the plan names, or
        a parameter cannot be used.
    UnsupportedError
        If its flavors were chosen for least disruption.
    """
    if objective is None and plan.objective not in PROFILES:  # no file is opened that it names
        said, expected = f"the plan names {plan.objective}", "the objective it was made under"
        raise SchemaError("objective", said, expected, "give it: it is none of the program's own")
    profile = find_profile(plan.objective if objective is None else objective)
    if profile.name != plan.objective:
        expected = f"{plan.objective}, which the plan was made under"
        raise SchemaError("objective", f"it is {profile.name}", expected)
    if plan.scheduler != state.scheduler:
        raise InputError(state.source, f"the plan is one of {plan.scheduler}, the state is not")
    begin("checking")
    named = Named(rules, assignment, clock_of(now), stable, assume)
    with walking_for(time_limit):
        found = scheduler_of(state).checker(state, plan, profile, checked_costs(costs), named)
    if any(one.law == QUESTION.id for one in found.verdicts):
        return found
    digest = plan.certificate.digest if plan.certificate else ""
    if digest not in {"", state.digest}:
        found = found.model_copy(update={"notes": (OTHER_STATE, *found.notes)})
    if strange := _not_asked_for(plan, found.claims):
        notes = (*found.notes, f"{NOT_ASKED_FOR}: {name_some(strange, MOST_NAMED)}")
        found = found.model_copy(update={"notes": notes})
    facts = uncovered(covering(state), plan)
    false = (*check_coverage(plan, facts), *check_claims(plan, found.verdicts))
    if not false:
        return found
    return found.model_copy(update={"accepted": False, "verdicts": (*found.verdicts, *false)})
