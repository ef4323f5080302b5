"""From a search to a plan: its caps, its certificate, and the verifier's verdict.

No plan goes out that a law refuses, whose certificate is not true, or that is worse than the
scheduler's own.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress, count
from typing import Final, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from planner.errors import InternalError
from planner.objective.profiles import (
    Measure,
    Profile,
    measure_name,
    measure_title,
    value_in,
)
from planner.plan import (
    TREES,
    AnyPlan,
    Cap,
    Certificate,
    Conclusion,
    Status,
    Tree,
    Verdict,
    Verification,
)
from planner.problem.array import IntArray
from planner.proof.claims import Claims, Limits, cap_claim
from planner.solver.deadline import Trees
from planner.solver.finder import find_any, find_within
from planner.solver.levels import Proved, prove_absence
from planner.solver.search import SEED, Outcome, Search
from planner.solver.start import AnyPlanning
from planner.verifier.wording import broken

PlanT = TypeVar("PlanT", bound=AnyPlan)


def refuse_illegal(plan: AnyPlan, verification: Verification) -> None:
    """Refuse a plan that the verifier does not accept.

    Raises `InternalError` if a law is broken.
    """
    if not verification.accepted:
        said = "; ".join(broken(verification.verdicts))
        message = f"the {plan.algorithm} plan for {plan.preemptor} is not legal: {said}"
        raise InternalError(message)


class Capped(Struct, frozen=True):
    """The caps that a search keeps, and those that it drops: in words, and with their trees.

    Of ``undecided`` caps it was not known in time whether an answer can keep them.
    """

    kept: tuple[tuple[Measure, int], ...] = ()
    words: str = ""
    dropped: tuple[Cap, ...] = ()
    trees: tuple[Tree, ...] = ()
    undecided: bool = False


NO_CAPS: Final = Capped()

Claiming = Callable[[Limits], Claims]
"""Makes the claims about sets that keep some caps."""


def cap(
    search: Search,
    profile: Profile,
    greedy: AnyPlan,
    claiming: Claiming | None = None,
    certify: Trees = None,
) -> Capped:
    """Bound the capped measures by the scheduler's values, each that an answer can keep.

    No cap is dropped where the search starts from the scheduler's own answer, which meets all caps.
    Elsewhere each cap is kept if an answer is found that meets it and the caps kept before. That
    there is none takes a tree if ``claiming`` is given, and else the solver's word. Where no tree
    is found, or time runs out before that is known, no answer of the search is proved best.
    """
    if not greedy.victims:
        return NO_CAPS
    trees: list[Tree] = []

    def find(trial: Search, kept: Limits, measure: Measure, most: int) -> Outcome:
        outcome = find_within(trial, measure, most)
        if outcome != "infeasible" or claiming is None:
            return outcome
        asked = dataclasses.replace(trial, deadline=search.deadline.half())
        claims = claiming([*kept, (measure, most)])
        found = prove_absence(asked, claims, certify, cap_claim(measure))
        if found.victims is not None:
            trial.incumbent = trial.classes.counts(found.victims)
            return "unknown" if trial.incumbent is None else "optimal"
        if found.tree is None:
            return "unknown"
        trees.append(found.tree)
        return "infeasible"

    capped = keep_caps(profile, greedy.terms, narrowing(search, find))
    return replace(capped, trees=tuple(trees))


def narrowing(
    search: Search, find: Callable[[Search, Limits, Measure, int], Outcome]
) -> Callable[[Limits, Measure, int], Outcome]:
    """Look for answers within bounds by ``find``, and keep the search to bounds that have any."""

    def narrow(kept: Limits, measure: Measure, most: int) -> Outcome:
        # In a fork: a cap that no answer keeps must not narrow the search for the next cap.
        trial = search.fork()
        outcome = find(trial, kept, measure, most)
        if outcome == "optimal":
            search.limit(measure, most)
            search.incumbent = trial.incumbent
        return outcome

    return narrow


def keep_caps(
    profile: Profile, terms: Mapping[str, int], find: Callable[[Limits, Measure, int], Outcome]
) -> Capped:
    """Bound each capped measure by its value in ``terms`` if that and the caps before can be kept.

    ``find`` looks, given the caps kept so far, for an answer within a bound.
    """
    kept: list[tuple[Measure, int]] = []
    impossible: list[Cap] = []
    undecided: list[str] = []
    for measure in profile.caps:
        value, name = value_in(terms, measure), measure_name(measure)
        outcome = find(kept, measure, value)
        if outcome == "optimal":
            kept.append((measure, value))
        elif outcome == "infeasible":
            impossible.append(Cap(term=name, most=value))
        else:
            undecided.append(name)

    def titles(caps: Sequence[str]) -> str:
        return ", ".join(measure_title(tuple(cap.split("+"))) for cap in caps)

    words = f"; caps not decided in time: {titles(undecided)}" if undecided else ""
    if impossible:
        outside = "wishes of the objective" if profile.wishes else "rules"
        words += (
            f"; the scheduler's own answer is outside the {outside}, and no legal one within the "
            f"caps before matches its {titles([one.term for one in impossible])}"
        )
    return Capped(tuple(kept), words, tuple(impossible), undecided=bool(undecided))


def blame_wishes(search: Search, profile: Profile) -> str:
    """Say that the wishes leave a search no answer; empty if the rules alone leave none."""
    if not profile.wishes:
        return ""
    # All classes again, and no limits: is it the rules that leave nothing, or the wishes?
    free = Search(search.rules, search.classes, search.deadline, list(range(len(search.classes))))
    outcome = find_any(free)
    if outcome == "infeasible":
        return ""
    permitted = "the rules permit a plan, but none" if outcome == "optimal" else "no plan"
    return f"{permitted} keeps the wishes of {profile.name}: {profile.wishes.in_words()}"


def refuse_worse(
    profile: Profile, terms: Mapping[str, int], greedy_terms: Mapping[str, int]
) -> None:
    """Cross-check: lexicographically, the optimum is never worse than the scheduler's own plan.

    Where the profile has wishes it may be worse, as these do not bind the scheduler.

    Raises `InternalError` if the optimum is worse.
    """
    if profile.wishes:
        return

    own = [value_in(greedy_terms, level) for level in profile.levels]
    worse = [value_in(terms, level) for level in profile.levels] > own
    over = [
        measure_name(cap)
        for cap in profile.caps
        if value_in(terms, cap) > value_in(greedy_terms, cap)
    ]
    if worse or over:
        where = over or "its levels"
        message = f"the {profile.name} plan is worse than the scheduler's own in {where}"
        raise InternalError(message)


def certify(
    digest: str,
    proved: Proved,
    started: float,
    capped: Capped = NO_CAPS,
) -> Certificate:
    """Return the certificate of what is proved; verdicts come with the verification.

    ``started`` is the monotonic time at which the work began.
    """
    solver = TREES
    if proved.searched:
        from planner.solver.engine import SOLVER  # noqa: PLC0415 - loaded by now

        solver = SOLVER
    if proved.victims is None:  # that there is no plan does not rest on caps that are dropped
        capped = Capped(capped.kept)
    return Certificate(
        digest=digest,
        levels=proved.levels,
        caps=tuple(Cap(term=measure_name(measure), most=most) for measure, most in capped.kept),
        dropped=capped.dropped,
        trees=(*proved.trees, *capped.trees),
        ties=proved.ties,
        claimed=proved.claimed,
        corrected=proved.corrected,
        cut_off=proved.cut_off,
        solver=solver,
        seed=SEED,
        wall_time_s=round(time.monotonic() - started, 6),
    )


class Planned(AnyPlanning, Protocol[PlanT]):
    """A preemptor being planned, with the verifier of its plans: what all schedulers share."""

    certify: Trees = None
    """Whether to wait for proof trees."""
    order: IntArray
    """(W,) the rank of each workload in the scheduler's candidate order."""

    def plan(self, found: Conclusion[PlanT]) -> PlanT:
        """Return a plan without victims."""
        ...

    def positions(self, keys: Iterable[str]) -> list[int]:
        """Return the positions of workloads in the problem by their keys, which are few."""
        asked, known = [*keys], self._known
        if missing := {*asked} - known.keys():
            # All keys of a large state are never put into a dictionary: that takes memory.
            places = compress(count(), map(missing.__contains__, self.keys))
            known |= {self.keys[at]: at for at in places}
        return [known[key] for key in asked]

    @cached_property
    def _known(self) -> dict[str, int]:
        """The positions that were asked for, by key."""
        return {}

    def in_candidate_order(self, positions: Sequence[int]) -> list[int]:
        """Sort positions of the problem by the scheduler's candidate order."""
        return sorted(positions, key=self.order.item)

    def by_its_rules(self, plan: PlanT) -> PlanT:
        """Return a plan marked with any rules that it was made by beyond its rule set."""
        return plan

    def accepted(self, plan: PlanT) -> PlanT:
        """Verify a plan and the claims of its certificate, which gets the verdicts.

        Raises `InternalError` if a law refuses the plan, or a claim is not true: such a plan is
        never returned.
        """
        plan = self.by_its_rules(plan)
        verification = self._verify(plan)
        refuse_illegal(plan, verification)
        if plan.certificate is None:
            return plan
        found = {"verdicts": verification.verdicts, "removal_order": verification.removal_order}
        certificate = plan.certificate.model_copy(update=found)
        # Claims are checked on the certificate with the verdicts in it, as it is handed out.
        certified = plan.model_copy(update={"certificate": certificate})
        terms = self.table.evaluate(self.positions(plan.keys))
        untrue = broken(self._check_claims(certified, terms))
        if untrue:
            message = f"the certificate for {plan.preemptor} is not true: {'; '.join(untrue)}"
            raise InternalError(message)
        return certified

    def why_infeasible(self) -> str:
        """Say in words why no legal victim set exists."""
        ...

    def _verify(self, plan: PlanT) -> Verification: ...

    def _check_claims(self, plan: PlanT, terms: Mapping[str, int]) -> Iterable[Verdict]:
        """Check values, bounds and facts of a plan; ``terms`` are its terms, computed anew."""
        ...


def without_solver(
    planning: Planned[PlanT], profile: Profile, greedy: PlanT, status: Status, explanation: str
) -> PlanT:
    """Return the plan where no search is needed: it takes no victims, or none can be legal.

    Raises `InternalError` if the verifier does not accept the plan.
    """
    terms = planning.table.evaluate(())
    certificate = Certificate(digest=planning.state.digest, levels=())
    found = Conclusion(status, explanation, profile.name, terms, certificate, greedy)
    plan = planning.plan(found)
    # An infeasible plan names no victims: no law could refuse it.
    return planning.accepted(plan) if status == "optimal" else planning.by_its_rules(plan)


def why_no_plan(
    planning: Planned[PlanT], profile: Profile, search: Search, proved: Proved
) -> tuple[Status, str]:
    """Return the status and the words of a search that found no plan: why, if that is proved."""
    if proved.outcome == "infeasible":
        return "infeasible", blame_wishes(search, profile) or planning.why_infeasible()
    in_time = " within the time limit" if search.deadline.passed else ""
    word = "; the solver finds none, which is its word alone" if proved.claimed else ""
    return "unknown", f"nothing found{in_time}, and nothing proved{word}"
