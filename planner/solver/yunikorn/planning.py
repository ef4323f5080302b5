"""One ask being planned: what the core decides, and what the laws permit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from planner.case.yunikorn import Case
from planner.case.yunikorn_words import postponed
from planner.errors import InputError, SchemaError
from planner.laws import unkept
from planner.laws.yunikorn import YK_MAY_PREEMPT, YK_OVER_GUARANTEED, Spared
from planner.models.yunikorn.candidates import adjusted_priorities, eligible
from planner.models.yunikorn.formulation import Formulation
from planner.models.yunikorn.laws import assemble
from planner.objective.applied import apply_profile, own_priorities, spelled_out
from planner.objective.profiles import Measure, Profile
from planner.objective.terms import TermTable
from planner.objective.yunikorn import (
    chosen_node,
    known_yunikorn_groups,
    refuse_annotated,
    yunikorn_term_table,
)
from planner.plan import Conclusion, Turn, Verdict, Verification
from planner.plan.yunikorn import RuleSet, YuniKornPlan
from planner.problem.array import IntArray
from planner.problem.yunikorn import YuniKornProblem
from planner.proof.claims import Claims
from planner.proof.yunikorn import Setting, yunikorn_rules
from planner.quantity import plural
from planner.quota.classes import Classes
from planner.quota.yunikorn.lowered import LOWERED
from planner.quota.yunikorn.queue import Snapshot
from planner.solver.answer import Planned
from planner.solver.search import Rules
from planner.solver.yunikorn.describe import explain_infeasible, plan_of
from planner.verifier.wording import broken
from planner.verifier.yunikorn import match_yunikorn, verify_yunikorn_plan
from planner.verifier.yunikorn.facts import check_yunikorn_certificate
from planner.wing import rule_sets


class YuniKornRules(Rules, Struct, frozen=True):
    """The laws for one problem.

    ``rules`` names the rule set; ``spare`` says whom YK-01 spares.
    """

    problem: YuniKornProblem
    table: TermTable
    rules: str
    spare: Spared

    @property
    def order(self) -> IntArray:  # type: ignore[override] # of a frozen record, that of its problem
        """(A,) the rank of each allocation in the core's candidate order."""
        return self.problem.order

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        return assemble(self.problem, classes, self.rules, spare=self.spare)


Laws = Literal["design", "written", "code"]
"""Which laws hold: as designed, as written, or as the code of the core has them."""


class YuniKornPlanning(Planned[YuniKornPlan]):
    """The decision, the problem and its terms, for one ask or one queue in one partition."""

    scheduler = "yunikorn"

    def __init__(self, case: Case, laws: Laws) -> None:
        self.case, self.state, self.problem = case, case.state, case.problem
        self.order = case.problem.order
        asking = case.asking
        self.preemptor_key = asking.ask.allocation_key
        self.eligible = eligible(self.problem)
        self.adjusted = adjusted_priorities(self.problem)
        """(A,) priorities after offsets."""
        self._plain_table = yunikorn_term_table(
            self.problem, case.cluster.now, self.eligible, self.adjusted, case.costs
        )
        self.table = self._plain_table
        required = asking.ask.required_node
        self.rules: RuleSet = "yunikorn-required-node" if required else _RULE_SETS[laws]
        if asking.shares is not None:
            self.rules = LOWERED
        places = enumerate(self.in_candidate_order(self._listed()), start=1)
        self.place = {position: place for place, position in places}
        """The place of each candidate in the core's order, from 1, by position."""
        delayed = postponed(case.cluster, asking, case.decision.conditions)
        self.notes = (*case.state.notes, *delayed)

    def _listed(self) -> list[int]:
        """Return the positions of those whom the core itself would list as candidates.

        Of a leaf it lists all or none, and tests the guaranteed again at the turn of each. Whether
        the ask may preempt at all is tested by its caller, which a record may leave out.
        """
        problem, asking = self.problem, self.case.asking
        unasked = unkept(self.rules) | {YK_OVER_GUARANTEED.id, YK_MAY_PREEMPT.id}
        found: list[int] = eligible(problem, without=unasked).nonzero()[0].tolist()
        if not asking.is_generic:
            return found
        snapshot, queues = (
            Snapshot(asking.leaf, asking.ask.resource),
            self.case.cluster.tree.by_path,
        )
        leaves = {int(problem.queue[position]) for position in found}
        listed = {leaf for leaf in leaves if snapshot.lists(queues[problem.queues[leaf].path])}
        return [position for position in found if int(problem.queue[position]) in listed]

    def set_objective(self, profile: Profile) -> Profile:
        """Let the terms count what an objective asks for; return it spelled out for the state.

        Raises `InputError` if it names a group that the state does not know, or counts nothing it
        protects.
        """
        refuse_annotated(profile)
        self.table = apply_profile(
            profile,
            self._plain_table,
            lambda: known_yunikorn_groups(self.state),
            lambda: own_priorities(self._plain_table, self.greedy_positions()),
        )
        return spelled_out(profile, self.table)

    @property
    def keys(self) -> list[str]:
        """The allocation keys of the problem, by their positions: (W,)."""
        return [allocation.allocation_key for allocation in self.problem.allocations]

    @property
    def turn(self) -> Turn:
        """When the core does what it decides, by its cycles where the state is small."""
        outlook = self.case.outlook
        if outlook.unknown:
            return "unknown"
        return "held" if outlook.course else "chance" if outlook.chance else "next"

    def greedy_positions(self) -> list[int]:
        """Return the core's own victims as positions of the problem's allocations."""
        return self.positions(self.case.decision.victim_keys)

    def greedy_plan(self) -> YuniKornPlan:
        """Return what the core itself would do, with the laws it breaks."""
        decision, positions = self.case.decision, self.greedy_positions()
        if decision.replaces is not None:
            said = f"YuniKorn gives it the place of placeholder {decision.replaces.allocation_key}"
        elif decision.fits_at_once:
            said = "YuniKorn allocates it without preemption"
        elif positions:
            on = f" on {decision.node}" if decision.node else ""
            said = f"YuniKorn preempts {plural(len(positions), 'allocation')}{on}"
        elif decision.kind == "panic":
            said = "YuniKorn ends with a nil dereference, preempts nobody"
        elif decision.kind == "hangs":
            said = "YuniKorn locks itself, and schedules nothing any more"
        elif decision.triggered:
            said = f"YuniKorn reserves {decision.node} and preempts nobody"
        else:
            said = "YuniKorn preempts nobody"
        if self.problem.excess and not positions:
            said += f", and {self.case.asking.leaf.path} stays above its max"
        serves = decision.triggered or decision.fits_at_once
        terms = self.table.evaluate(positions)
        found: Conclusion[YuniKornPlan] = Conclusion(
            "feasible" if serves else "unknown", said, "yunikorn", terms, own=True
        )
        plan = self.plan(found, positions, decision.node)
        outside = broken(self._verify(plan).verdicts)
        return plan.model_copy(update={"outside_rules": outside})

    def plan(
        self,
        found: Conclusion[YuniKornPlan],
        victims: Sequence[int] = (),
        node: str | None = None,
    ) -> YuniKornPlan:
        """Return a plan of the ask; victims are positions in the problem's allocations."""
        return plan_of(self, found, victims, node)

    def broken_by(self, positions: Sequence[int]) -> tuple[str, ...]:
        """Return the laws that victims break, whoever chose them, in words."""
        node = chosen_node(self.problem, positions)
        host = None if node is None else self.problem.nodes[node]
        found: Conclusion[YuniKornPlan] = Conclusion("feasible", own=True)
        plan = self.plan(found, self.in_candidate_order(positions), host)
        return broken(self._verify(plan).verdicts)

    def why_infeasible(self) -> str:
        """Say in words why no legal victim set exists."""
        return explain_infeasible(self.problem, self.eligible, self.rules)

    def claims(
        self, profile: Profile, caps: Sequence[tuple[Measure, int]], *, spare: Spared
    ) -> Claims:
        """Return what a plan under a profile claims, as questions for proof trees."""
        setting = Setting(
            self.case.cluster, self.case.asking, self.rules, self.problem.order, spare
        )
        return Claims(self.table, yunikorn_rules(setting), caps, profile.wishes)

    def _check_claims(self, plan: YuniKornPlan, terms: Mapping[str, int]) -> Sequence[Verdict]:
        case = match_yunikorn(self.state, plan, self.case.cluster)
        return check_yunikorn_certificate(case, plan, terms)

    def _verify(self, plan: YuniKornPlan) -> Verification:
        return verify_yunikorn_plan(self.state, plan, cluster=self.case.cluster)


_RULE_SETS: Final[Mapping[Laws, RuleSet]] = {
    "design": "yunikorn-design",
    "written": "yunikorn-written",
    "code": "yunikorn-code",
}


def side_of(rules: object) -> Laws:
    """Return the laws that are asked for, by default those as designed.

    Raises `InputError` if they are rules for Kueue, or none.
    """
    asked = "design" if rules is None else rules
    for side in _RULE_SETS:
        if side == asked:
            return side
    if str(asked).partition(":")[0] in {one.name for one in rule_sets()}:
        hint = '"written" keeps to YuniKorn\'s own written laws'
        raise InputError("rules", f'"{asked}" means nothing for YuniKorn', hint=hint)
    raise SchemaError("rules", f'"{asked}" cannot be used', ", ".join(_RULE_SETS))
