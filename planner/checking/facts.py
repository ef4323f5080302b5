"""What a plan of Kueue says of its victims, and of the scheduler's own choice beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.laws import Law
from planner.objective.profiles import Profile, measure_id
from planner.objective.terms import TermTable
from planner.plan import Cap, Plan, Verdict, Victim
from planner.reference.target import Search
from planner.verifier.certificate import CAPS
from planner.verifier.wording import compare, judge

VICTIMS: Final = Law(
    "CT-07",
    "check_victims",
    "what the plan says of each victim is what the state says",
    "Age, costs, and place in the candidate order, of its own victims and of the scheduler's.",
    "objectives.md",
)
GREEDY: Final = Law(
    "CT-08",
    "check_greedy",
    "the scheduler's own plan is what its algorithm finds",
    "Victims, their order and reasons, attempt and terms are those of the algorithm, replayed.",
    "kueue-semantics.md 5 and 6",
)


@dataclass
class Facts:
    """The numbers of one decision.

    ``position`` is where each workload stands in the table of terms, ``order`` (W,) its rank in
    the candidate order, ``candidates`` the positions that the scheduler lists. ``search`` is
    what its algorithm finds; ``outside`` says whether that breaks its own laws.
    """

    table: TermTable
    position: Mapping[str, int]
    order: Sequence[int]
    candidates: Iterable[int]
    search: Search
    outside: bool

    @property
    def targets(self) -> list[str]:
        """Whom the scheduler takes, in its order."""
        return [target.workload.key for target in self.search.targets]

    @cached_property
    def _place(self) -> Mapping[int, int]:
        listed = sorted(self.candidates, key=self.order.__getitem__)
        return {position: place for place, position in enumerate(listed, start=1)}

    def terms_of(self, keys: Iterable[str]) -> Mapping[str, int]:
        """Return the terms of some workloads."""
        found = [self.position[key] for key in keys if key in self.position]
        return self.table.evaluate(sorted(found, key=self.order.__getitem__))

    def check_victims(self, plan: Plan) -> Verdict:
        """CT-07: compare age, costs and place of victims."""
        of_greedy = () if plan.greedy is None else plan.greedy.victims
        findings = [said for victim in (*plan.victims, *of_greedy) for said in self._faults(victim)]
        return judge(VICTIMS, findings, f"{len(plan.victims) + len(of_greedy)} victims compared")

    def _faults(self, victim: Victim) -> Iterator[str]:
        key, at = victim.workload, self.position.get(victim.workload)
        if at is None:
            yield f"nothing is known of {key}"
            return
        place = self._place.get(at, len(self._place) + 1)
        yield from compare(f"place of {key}", victim.position, place)
        yield from compare(f"age of {key}", victim.age_s, self.table.disruptions[at].running_s)
        for term, cost in victim.costs.items():
            costs = self.table.separable.get(term)
            known = None if costs is None else int(costs[at])
            yield from compare(f"{term} of {key}", cost, known)

    def check_greedy(self, plan: Plan, greedy: Plan) -> Verdict:
        """CT-08: compare with what the scheduler's algorithm does under the flavors of the plan."""
        findings = []
        if greedy.assignment != plan.assignment or greedy.rules != plan.rules:
            findings.append("it has other flavors, or rules, than the plan")
        if list(greedy.keys) != self.targets:
            findings.append(f"it takes {list(greedy.keys)}, the algorithm {self.targets}")
        for victim, target in zip(greedy.victims, self.search.targets, strict=False):
            findings += compare(f"reason of {victim.workload}", victim.reason, target.reason)
        findings += compare("its attempt", greedy.borrowing, self.search.borrowing)
        terms = self.terms_of(self.targets)
        for term, value in greedy.terms.items():
            if term in terms:
                findings += compare(f"term {term}", value, terms[term])
        return judge(GREEDY, findings, f"{len(self.targets)} victims, replayed")

    def check_caps(self, caps: Sequence[Cap], profile: Profile) -> Verdict:
        """CT-06: compare caps with the profile's measures of the scheduler's own plan."""
        terms = self.terms_of(self.targets)
        measures = profile.caps if self.targets else ()
        expected = {measure_id(m): sum(terms[term] for term in m) for m in measures}
        findings = []
        for cap in caps:
            findings += compare(f"cap of {cap.term}", cap.most, expected.get(cap.term))
        if not self.outside and not profile.wishes:
            missing = expected.keys() - {cap.term for cap in caps}
            findings += [f"the cap of {term} was dropped" for term in sorted(missing)]
        return judge(CAPS, findings, "those of the scheduler's own plan")
