"""What a plan says of its victims, and of the scheduler's own choice beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.laws import Law
from planner.objective.profiles import Profile, measure_id
from planner.objective.terms import TermTable
from planner.plan import AnyPlan, Cap, Verdict
from planner.verifier.kueue.certificate import CAPS
from planner.verifier.wording import compare, judge

VICTIMS: Final = Law(
    "CT-07",
    "check_victims",
    "what the plan says of each victim is what the state says",
    "Costs of its own victims and of the scheduler's; of Kueue's their age and place as well.",
    "docs/design/objectives.md §3",
)
GREEDY: Final = Law(
    "CT-08",
    "check_greedy",
    "the scheduler's own plan is what its algorithm finds",
    "Victims, their order and reasons, attempt and terms are those of the algorithm, replayed.",
    "docs/semantics/kueue.md §5 and §6; docs/semantics/yunikorn.md §3 to §11",
)


@dataclass
class Facts:
    """The numbers of one decision.

    ``position`` is where each candidate stands in the table of terms, ``order`` its rank in the
    scheduler's order, by position. ``own`` are the victims that the scheduler's algorithm takes,
    in its order; ``outside`` says whether they break the laws that a plan keeps.
    """

    table: TermTable
    position: Mapping[str, int]
    order: Sequence[int]
    own: Sequence[str]
    outside: bool

    def positions(self, keys: Iterable[str]) -> list[int]:
        """Return known positions, in the scheduler's order."""
        found = [self.position[key] for key in keys if key in self.position]
        return sorted(found, key=self.order.__getitem__)

    @cached_property
    def terms(self) -> Mapping[str, int]:
        """What the scheduler's own victims cost."""
        return self.table.evaluate(self.positions(self.own))

    def cost_faults(self, key: str, stated: Mapping[str, int]) -> Iterator[str]:
        """Compare what a plan says that a victim costs."""
        at = self.position.get(key)
        if at is None:
            yield f"nothing is known of {key}"
            return
        for term, cost in stated.items():
            costs = self.table.separable.get(term)
            yield from compare(f"{term} of {key}", cost, None if costs is None else int(costs[at]))

    def check_caps(self, caps: Sequence[Cap], profile: Profile) -> Verdict:
        """CT-06: compare caps with the profile's measures of the scheduler's own plan."""
        measures = profile.caps if self.own else ()
        expected = {measure_id(m): sum(self.terms[term] for term in m) for m in measures}
        findings = []
        for cap in caps:
            findings += compare(f"cap of {cap.term}", cap.most, expected.get(cap.term))
        if not self.outside and not profile.wishes:
            missing = expected.keys() - {cap.term for cap in caps}
            findings += [f"the cap of {term} was dropped" for term in sorted(missing)]
        return judge(CAPS, findings, "those of the scheduler's own plan")

    def check_greedy(self, greedy: AnyPlan, others: Iterable[str]) -> Verdict:
        """CT-08: compare with what the scheduler's algorithm does; ``others`` are more faults."""
        findings = list(others)
        if list(greedy.keys) != list(self.own):
            findings.append(f"it takes {list(greedy.keys)}, the algorithm {list(self.own)}")
        for term, value in greedy.terms.items():
            if term in self.terms:
                findings += compare(f"term {term}", value, self.terms[term])
        return judge(GREEDY, findings, f"{len(self.own)} victims, replayed")
