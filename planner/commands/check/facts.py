"""What a plan says of its victims, and of the scheduler's own choice beside it.

An optimal plan has a claim for each level and one for its ties, an infeasible plan one in all. Of
another plan every level is a claim that says more than that nothing is below 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

from msgspec.structs import replace

from planner.commands.check.plan import CheckedClaim, OutOfTime, in_time
from planner.errors import UnsupportedError
from planner.laws import Law
from planner.objective.profiles import Measure, Profile, measure_name, measure_title, value_in
from planner.objective.terms import TermTable
from planner.plan import AnyPlan, Certificate, Tree, Verdict
from planner.proof.claims import (
    INFEASIBLE,
    TIES,
    Claims,
    Limits,
    Stated,
    cap_claim,
    level_claim,
)
from planner.proof.question import Open, Question, in_words
from planner.quantity import plural
from planner.verifier.wording import compare, judge, once_each

NONE_LEGAL: Final = "no legal victim set exists"


def check_levels(
    claims: Claims,
    certificate: Certificate,
    victims: Sequence[int],
    *,
    ties: bool = True,
    replayed: bool = False,
) -> Iterator[CheckedClaim]:
    """Judge the bound of every level, then ``ties``; ``victims`` are in candidate order.

    Of a level whose bound is 0, and its value not, nothing is claimed. ``replayed`` says that the
    values of levels which ask the scheduler were recomputed, too.
    """
    trees = {tree.claim: tree for tree in certificate.trees}
    stated: list[Stated] = []
    for level in certificate.levels:
        measure: Measure = tuple(level.term.split("+"))
        # The recomputed value, not the stated one; without a tree it bounds later levels from above
        # only. So it does where the bound that a tree shows is below it.
        value, bound = claims.value(measure, victims), level.bound
        unknown, claim = claims.is_unknown(measure), level_claim(measure)
        ask = partial(Claims.level, earlier=stated, measure=measure, value=bound)
        if bound <= 0 and (replayed or not unknown):
            found, detail = True, "no term is below 0"
        elif not unknown:
            found, detail = _judge(claims, ask, claim, trees)
        elif claims.asking is None:
            found, detail = False, "it asks the scheduler what victims do next: no tree tells"
        else:
            found, detail = _judge(claims.asking, ask, claims.replaying(claim), trees)
        fault, tree = "", trees.get(level.term) if bound > 0 else None
        if found and level.says:
            told = "" if tree is None else in_words(ask(claims), tree.steps, measure, bound)
            fault = "" if told == level.says else "what it says is not what its tree shows"
        stated.append(Stated(measure, value, found and bound == value))
        if bound == level.value or bound > 0 or level.says:
            less = "" if bound == level.value else f"below the plan's {level.value:,}: "
            yield CheckedClaim(
                claim=level.term,
                title=measure_title(measure),
                value=bound,
                certified=found and not fault,
                detail=fault or f"{less}{detail}",
            )
    if not ties:
        return

    def ask_ties(asked: Claims) -> Question:
        # A tree knows classes, not their members: that the first are taken is checked here.
        if sorted(asked.canonical(stated, victims)) != sorted(victims):
            raise Open("of workloads that nothing tells apart it does not take the first")
        return asked.ties(stated, victims)

    certified, detail = _judge(claims, ask_ties, TIES, trees)
    title = "first among equals in the scheduler's candidate order"
    yield CheckedClaim(claim=TIES, title=title, certified=certified, detail=detail)


def check_infeasible(
    claims: Claims,
    trees: Sequence[Tree],
    known: str = "",
    claim: str = INFEASIBLE,
    title: str = NONE_LEGAL,
) -> CheckedClaim:
    """Judge the claim that no legal set exists of which claims are.

    ``known`` says why the claim needs no tree; empty if it needs one.
    """
    by_claim = {tree.claim: tree for tree in trees}
    found, detail = (True, known) if known else _judge(claims, Claims.infeasible, claim, by_claim)
    return CheckedClaim(claim=claim, title=title, certified=found, detail=detail)


def _judge(
    claims: Claims, ask: Callable[[Claims], Question], claim: str, trees: Mapping[str, Tree]
) -> tuple[bool, str]:
    """Walk the tree of a claim, or the one that asks the scheduler, which is about fewer sets."""
    tree, asked = trees.get(claim), claims
    if tree is None and claims.asking is not None:
        tree, asked = trees.get(claims.replaying(claim)), claims.asking
    if tree is None:
        return False, "there is no tree"
    try:
        ask(asked).check(in_time(tree.steps))
    except Open as gap:
        return False, f"the tree does not show it: {gap}"
    except OutOfTime:
        return False, "its tree was not walked to the end: the time limit"
    except UnsupportedError as error:
        return False, str(error)
    count = len(tree.steps)
    return True, plural(count, "step")


CAPS: Final = Law(
    "CT-06",
    "check_caps",
    "the caps are those of the scheduler's own plan, and kept",
    "Every cap is the value of its measure in the scheduler's own plan that stands beside, and "
    "none that its objective names is missing where that plan keeps the laws, and the wishes of "
    "the objective. The plan keeps its caps, and these wishes.",
    "docs/design/objectives.md §4 and §5; planner.objective.profiles",
)
VICTIMS: Final = Law(
    "CT-07",
    "check_victims",
    "what the plan says of each victim is what the state says",
    "Costs, ages and places of its own victims and of the scheduler's, and that its own are in "
    "candidate order.",
    "docs/design/objectives.md §3",
)
GREEDY: Final = Law(
    "CT-08",
    "check_greedy",
    "the scheduler's own plan is what its algorithm finds",
    "Victims, their order and reasons, attempt and terms are those of the algorithm, replayed; "
    "its status follows from them, and the laws that it does not keep are named.",
    "the page of the scheduler in docs/semantics",
)


NEVER_SAID: Final = ("certificate", "coverage", "assume", "flavors", "commands", "places", "nodes")
"""What no scheduler's own plan says that stands beside another."""


@dataclass
class Facts:
    """The numbers of one decision.

    ``keys`` are those of all that run, in the order of the table of terms; ``order`` is the rank of
    each in the scheduler's order. ``listed`` are the keys of those whom the scheduler would list
    as candidates. ``own`` are the victims that the scheduler's algorithm takes, in its order;
    ``outside`` says whether they break the laws that a plan keeps.
    """

    table: TermTable
    keys: Sequence[str]
    order: Sequence[int]
    listed: Iterable[str]
    own: Sequence[str]
    outside: bool

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The position of each in the table of terms, by its key."""
        return dict(zip(self.keys, range(len(self.keys)), strict=True))

    def positions(self, keys: Iterable[str]) -> list[int]:
        """Return the positions of the known keys, in the scheduler's order."""
        found = [self.position[key] for key in keys if key in self.position]
        return sorted(found, key=self.order.__getitem__)

    @cached_property
    def places(self) -> Mapping[int, int]:
        """The places of the listed candidates in the scheduler's order, from 1, by position."""
        listed = self.positions(self.listed)
        return {position: place for place, position in enumerate(listed, start=1)}

    @cached_property
    def terms(self) -> Mapping[str, int]:
        """The terms of the scheduler's own victims."""
        return self.table.evaluate(self.positions(self.own))

    def check_victims(self, plan: AnyPlan) -> Verdict:
        """CT-07: compare costs, ages, places and order."""
        victims = [(f"victims[{i}]", one) for i, one in enumerate(plan.victims)]
        theirs = plan.greedy.victims if plan.greedy else ()
        victims += [(f"greedy.victims[{i}]", one) for i, one in enumerate(theirs)]
        findings = list[str]()
        for where, one in victims:
            at = self.position.get(one.key)
            if at is None:
                findings.append(f"nothing is known of {one.key}")
                continue
            for term, stated in one.costs.items():
                costs = self.table.separable.get(term)
                fact = None if costs is None else int(costs[at])
                findings += compare(f"{term} of {one.key}", stated, fact)
            # Who is listed nowhere has its place after all that are.
            place = self.places.get(at, len(self.places) + 1)
            findings += compare(f"{where}.position of {one.key}", one.position, place)
            age_s = self.table.disruptions[at].running_s
            findings += compare(f"{where}.age_s of {one.key}", one.age_s, age_s)
        known = [self.position[key] for key in plan.keys if key in self.position]
        if plan.algorithm == "optimum" and known != self.positions(plan.keys):
            findings.append("the victims are not in candidate order")
        return judge(VICTIMS, findings, f"{plural(len(victims), 'victim')} compared")

    def check_caps(self, plan: AnyPlan, certificate: Certificate, profile: Profile) -> Verdict:
        """CT-06: compare caps with the profile's measures of the scheduler's own plan.

        Trees are about sets that keep caps and wishes: of a plan that does not they show nothing.
        """
        expected, victims = self._caps(profile), self.positions(plan.keys)
        terms = self.table.evaluate(victims)
        caps = certificate.caps
        told = (*caps, *certificate.dropped)  # none is both kept and dropped
        findings = once_each("certificate.caps with dropped", [cap.term for cap in told], ())
        for cap in told:
            findings += compare(f"cap of {cap.term}", cap.most, expected.get(cap.term))
        for cap in caps:
            value = sum(terms.get(term, 0) for term in cap.term.split("+"))
            if value > cap.most:
                findings.append(f"the plan exceeds its cap of {cap.term}: {value:,}")
        wishes = profile.wishes
        # Where a measure is not recomputed, a level of it is never certified.
        known = {m: most for m, most in wishes.most.items() if terms.keys() >= {*m}}
        if not replace(wishes, most=known).are_kept(self.table, victims):
            findings.append(f"the plan does not keep the wishes: {wishes.in_words()}")
        # Where the scheduler's own plan breaks laws or wishes, caps may be beyond reach, and be
        # dropped; the claims then say what that costs.
        asked = {term for measure in wishes.most for term in measure}
        is_known = not self.outside and asked <= self.terms.keys()
        if is_known and wishes.are_kept(self.table, self.positions(self.own)):
            missing = expected.keys() - {cap.term for cap in caps}
            findings += [f"the cap of {term} was dropped" for term in sorted(missing)]
        return judge(CAPS, findings, "those of the scheduler's own plan")

    def check_proofs(
        self,
        plan: AnyPlan,
        certificate: Certificate,
        profile: Profile,
        asking: Callable[[Limits], Claims],
        *,
        replayed: bool = False,
    ) -> Iterator[CheckedClaim]:
        """Judge levels and ties, as `check_levels` does, then the caps that were dropped.

        A plan claims of ties only what it says: its levels make it optimal. So it does of caps, if
        it is not called that. ``asking`` makes the claims about sets that keep to bounds. Of a cap
        that the plan dropped and exceeds it claims that no legal set keeps it, and the caps before
        it, by the order of the profile.
        Which these are does not depend on what the plan says of them, nor what they bound.
        """
        best, victims = plan.claim == "optimal" and bool(plan.victims), self.positions(plan.keys)
        kept = {cap.term: (tuple(cap.term.split("+")), cap.most) for cap in certificate.caps}
        ties, claims = certificate.ties is not None, asking([*kept.values()])
        yield from check_levels(claims, certificate, victims, ties=ties, replayed=replayed)
        told = {cap.term for cap in certificate.dropped}
        terms = self.table.evaluate(victims)
        before: list[tuple[Measure, int]] = []
        for name, most in self._caps(profile).items():
            measure = tuple(name.split("+"))
            bounds = [*before, (measure, most)]
            if name in kept:
                before = bounds
            elif value_in(terms, measure) > most and (best or name in told):
                claim, title = cap_claim(measure), f"at most {most:,} {measure_title(measure)}"
                judged = check_infeasible(
                    asking(bounds), certificate.trees, "", claim, f"no legal set: {title}"
                )
                if told and name not in told:  # without any the plan says nothing of them
                    silent = {"certified": False, "detail": "the plan names others as dropped only"}
                    judged = judged.model_copy(update=silent)
                yield judged

    def _caps(self, profile: Profile) -> dict[str, int]:
        """Return the value of each capped measure in the scheduler's own plan, by its name."""
        measures = profile.caps if self.own else ()
        return {measure_name(m): value_in(self.terms, m) for m in measures}

    def check_greedy(
        self,
        greedy: AnyPlan,
        status: str,
        outside: Sequence[str] | None,
        others: Iterable[str],
        left_out: Collection[str] = (),
    ) -> Verdict:
        """CT-08: compare the scheduler's own plan with its algorithm; ``others`` add faults.

        ``status`` is the one that follows from the algorithm, ``outside`` are the laws that its
        victims do not keep, in words; ``None`` if that is not known. Terms ``left_out`` are not
        judged.
        """
        findings = list(others)
        for name, stated in (("algorithm", greedy.algorithm), ("objective", greedy.objective)):
            findings += compare(f"greedy.{name}", stated, greedy.scheduler)
        findings += compare("greedy.status", greedy.status, status)
        for name in NEVER_SAID:
            if getattr(greedy, name, None):
                findings.append(f"greedy.{name}: the scheduler's own plan has none")
        if outside is not None:
            said, own = (
                [law.partition(" ")[0] for law in laws] for laws in (greedy.outside_rules, outside)
            )
            findings += compare("greedy.outside_rules", said, own)
        if list(greedy.keys) != list(self.own):
            findings.append(f"it takes {list(greedy.keys)}, the algorithm {list(self.own)}")
        for term, value in greedy.terms.items():
            if term not in left_out:
                findings += compare(f"term {term}", value, self.terms.get(term))
        return judge(GREEDY, findings, f"{plural(len(self.own), 'victim')}, replayed")
