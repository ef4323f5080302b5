"""Plans of Kueue, checked from the state alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.assignment import flavor_resources
from planner.checking.record import Check, CheckedClaim
from planner.checking.trees import check_infeasible, check_levels
from planner.errors import UnsupportedError
from planner.objective.adoption import adopt
from planner.objective.annotation import read_disruption
from planner.objective.kueue import known_groups, term_table
from planner.objective.profiles import Profile, measure_id, with_names
from planner.objective.terms import TermTable
from planner.plan import Cap, Certificate, Plan, Verdict
from planner.problem.kep83 import build_kep83
from planner.problem.kueue import Problem, build_problem
from planner.proof.claims import Claims
from planner.proof.kueue import kueue_claims, lawful
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import Snapshot, take_snapshot
from planner.state import State
from planner.verifier import match_plan, setting_for, verify_plan
from planner.verifier.certificate import CAPS, check_certificate
from planner.verifier.setting import Setting
from planner.verifier.wording import compare, judge


def check_kueue(
    state: State, plan: Plan, profile: Profile, costs: Mapping[str, int] | None
) -> Check:
    """Check a plan of Kueue.

    Raises
    ------
    InputError
        If the plan is not for this state, or its objective cannot be counted there.
    UnsupportedError
        If its flavors were chosen for least disruption: ranks depend on all that were examined.
    """
    if plan.flavors is not None:
        raise UnsupportedError(
            "plan.flavors",
            "the flavors were chosen for least disruption, which no tree shows",
            hint="check a plan under Kueue's own flavors, or under an assignment",
        )
    return _Checking(state, plan, profile, costs).check()


@dataclass
class _Checking:
    state: State
    plan: Plan
    profile: Profile
    costs: Mapping[str, int] | None

    @cached_property
    def snapshot(self) -> Snapshot:
        return take_snapshot(self.state, self.plan.now, flavor_resources(self.plan.assignment))

    @cached_property
    def setting(self) -> Setting:
        plan = self.plan
        return setting_for(self.state, self.snapshot, plan.preemptor, plan.assignment, plan.kep83)

    @cached_property
    def problem(self) -> Problem:
        plan, snapshot = self.plan, self.snapshot
        preemptor = find_preemptor(self.state, snapshot, plan.preemptor)
        if plan.kep83 is None:
            return build_problem(snapshot, preemptor, plan.assignment)
        held = (one for group in snapshot.admitted.values() for one in group if one.remarked)
        milestones = {w.key: read_disruption(w.workload, snapshot.now).milestone_cost for w in held}
        by_cost = "ByLowestDisruptionCost" in plan.kep83.criteria
        cost = milestones if by_cost else {}
        return build_kep83(snapshot, preemptor, plan.assignment, plan.kep83, cost).base

    @cached_property
    def position(self) -> Mapping[str, int]:
        return {workload.key: i for i, workload in enumerate(self.problem.workloads)}

    @cached_property
    def table(self) -> TermTable:
        going = np.zeros(len(self.problem.workloads), dtype=np.bool_)
        going[[self.position[one.key] for one in lawful(self.setting)]] = True
        table = term_table(self.problem, self.snapshot, going, self.costs)
        return adopt(self.profile, table, lambda: known_groups(self.state))

    def check(self) -> Check:
        """Judge laws, values and trees."""
        plan = self.plan
        verification = verify_plan(self.state, plan, snapshot=self.snapshot, setting=self.setting)
        verdicts = [*verification.verdicts, *self._claims_about_itself()]
        claims = tuple(self._claims())
        return Check(
            preemptor=plan.preemptor,
            objective=plan.objective,
            status=plan.status,
            accepted=verification.accepted
            and all(verdict.holds for verdict in verdicts)
            and all(claim.certified for claim in claims),
            verdicts=tuple(verdicts),
            claims=claims,
        )

    def _claims_about_itself(self) -> Iterator[Verdict]:
        """Judge values, bounds, order and facts, and the caps by the plan that stands beside."""
        plan, certificate = self.plan, self.plan.certificate
        if certificate is None or not plan.victims:
            return
        costs = {bound.term: self._costs_of(bound.term) for bound in certificate.bounds}
        case = match_plan(self.state, plan, snapshot=self.snapshot, setting=self.setting)
        asked = [measure_id(measure) for measure in with_names(self.profile.levels)]
        named = [level.term for level in certificate.levels]
        levels = ["D11", *asked] if named[:1] == ["D11"] and asked[:1] != ["D11"] else asked
        terms = self.table.evaluate(self._positions(plan))
        yield from check_certificate(case, plan, terms, costs, levels)
        yield judge(CAPS, list(self._cap_faults(certificate)), "those of the greedy plan")

    def _costs_of(self, term: str) -> dict[str, int]:
        costs = np.sum([self.table.separable[each] for each in term.split("+")], axis=0).tolist()
        return {key: costs[position] for key, position in self.position.items()}

    def _positions(self, plan: Plan) -> list[int]:
        found = [self.position[key] for key in plan.keys if key in self.position]
        return sorted(found, key=self.problem.order.tolist().__getitem__)

    def _cap_faults(self, certificate: Certificate) -> Iterator[str]:
        """Compare caps with the profile's, and with the scheduler's own plan."""
        greedy = self.plan.greedy
        expected = {}
        if greedy is not None and greedy.victims:
            terms = self.table.evaluate(self._positions(greedy))
            expected = {measure_id(m): sum(terms[t] for t in m) for m in self.profile.caps}
        for cap in certificate.caps:
            yield from compare(f"cap of {cap.term}", cap.most, expected.get(cap.term))
        missing = expected.keys() - {cap.term for cap in certificate.caps}
        if greedy is not None and not greedy.outside_rules and not self.profile.wishes:
            yield from (f"the cap of {term} was dropped" for term in sorted(missing))

    def _claims(self) -> Iterator[CheckedClaim]:
        certificate = self.plan.certificate
        if certificate is None:
            return
        if self.plan.status == "infeasible":
            yield check_infeasible(self._questions(()), certificate.trees)
        elif self.plan.status == "optimal" and self.plan.victims:
            claims = self._questions(certificate.caps)
            yield from check_levels(claims, certificate, self._positions(self.plan))

    def _questions(self, caps: Sequence[Cap]) -> Claims:
        return kueue_claims(
            self.setting,
            self.table,
            self.position,
            self.problem.order.tolist(),
            caps=[(tuple(cap.term.split("+")), cap.most) for cap in caps],
            wishes=self.profile.wishes,
        )
