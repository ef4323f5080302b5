"""Plans of Kueue, checked from the state alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from msgspec.structs import replace

from planner.commands.check.facts import VICTIMS, Facts, check_infeasible, check_levels
from planner.commands.check.plan import Check, CheckedClaim, conclude
from planner.errors import UnsupportedError
from planner.objective.annotation import read_disruption
from planner.objective.applied import apply_profile, own_priorities, spelled_out
from planner.objective.kueue import known_groups, term_table
from planner.objective.profiles import Profile, measure_id, with_names
from planner.objective.terms import TermTable
from planner.plan import Cap, Verdict
from planner.plan.kueue import Plan
from planner.problem.kep83 import build_kep83
from planner.problem.kueue import Problem, build_problem
from planner.proof.claims import Claims
from planner.proof.kueue import kueue_claims
from planner.quota.kueue.assignment import Assignment, flavor_resources
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.slices import without_slices
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.reference.kep83 import decide_kep83
from planner.reference.kueue.cycle.nomination import in_the_way, why_held_back
from planner.reference.kueue.decision import Decision, decide
from planner.state.kueue import State
from planner.verifier.kueue.certificate import Costs, check_certificate, check_facts
from planner.verifier.kueue.fair_sharing import FairSetting
from planner.verifier.kueue.plan import match_plan, setting_for, verify_plan
from planner.verifier.kueue.setting import Setting
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
    early = plan.kep83 is not None  # slices came later
    return _Checking(without_slices(state) if early else state, plan, profile, costs).check()


@dataclass
class _Checking:
    state: State
    plan: Plan
    profile: Profile
    costs: Mapping[str, int] | None

    @cached_property
    def snapshot(self) -> Snapshot:
        wanted = flavor_resources(self.plan.assignment)
        placing = self.plan.placement is not None
        snapshot = take_snapshot(self.state, self.plan.now, wanted, placing=placing)
        return snapshot.at_will() if self.plan.placement == "any" else snapshot

    @cached_property
    def preemptor(self) -> Preemptor:
        return find_preemptor(self.state, self.snapshot, self.plan.preemptor)

    @cached_property
    def setting(self) -> Setting:
        plan = self.plan
        return setting_for(self.state, self.snapshot, plan.preemptor, plan.assignment, plan.kep83)

    @cached_property
    def problem(self) -> Problem:
        plan, options = self.plan, self.plan.kep83
        given = self.snapshot, self.preemptor, plan.assignment
        if options is None:
            return build_problem(*given)
        base = build_kep83(*given, options, self._milestones).base
        return replace(base, fair=None)  # fair sharing came later

    @cached_property
    def position(self) -> Mapping[str, int]:
        return {workload.key: i for i, workload in enumerate(self.problem.workloads)}

    @cached_property
    def table(self) -> TermTable:
        going = np.zeros(len(self.problem.workloads), dtype=np.bool_)
        # The verifier's candidates, and not those of the program that made the plan: nothing of
        # that is trusted.
        going[self.problem.workloads.places_of(self.setting.candidates)] = True
        table = term_table(self.problem, self.snapshot, going, self.costs)
        own = [self.position[key] for key in self._own if key in self.position]
        return apply_profile(
            self.profile,
            table,
            lambda: known_groups(self.state),
            lambda: own_priorities(table, own),
        )

    def check(self) -> Check:
        laws = verify_plan(self.state, self.plan, snapshot=self.snapshot, setting=self.setting)
        return conclude(self.plan, laws, self._claims_about_itself(), self._claims)

    def _claims_about_itself(self) -> Iterator[Verdict]:
        """Judge values, bounds, order and facts, and the scheduler's own plan beside it."""
        plan, certificate = self.plan, self.plan.certificate
        # Terms that are no sum of costs of workloads are left out: CT-03 refuses their bounds.
        of_term = {
            bound.term: self.table.in_sum(summed)
            for bound in (certificate.bounds if certificate else ())
            if self.table.is_separable(summed := bound.term.split("+"))
        }
        costs = Costs(self.problem.workloads.places_of, of_term)
        match = partial(match_plan, self.state, snapshot=self.snapshot, setting=self.setting)
        case = match(plan)
        terms = self.table.evaluate(self.facts.positions(plan.keys))
        profile = spelled_out(self.profile, self.table)
        asked = None
        if certificate is not None and plan.victims:
            asked = [measure_id(measure) for measure in with_names(profile.levels)]
            stated = [level.term for level in certificate.levels]
            # A plan that was demanded to be stable has D11 as a level before its objective's own.
            if stated[:1] == ["D11"] and asked[:1] != ["D11"]:
                asked = ["D11", *asked]
        yield from check_certificate(case, plan, terms, costs, asked)
        victims = (*plan.victims, *(plan.greedy.victims if plan.greedy else ()))
        findings: list[str] = []
        for victim in victims:
            key = victim.workload
            findings += self.facts.cost_faults(key, victim.costs)
            if key in self.position:
                at = self.position[key]
                place = self._place.get(at, len(self._place) + 1)
                findings += compare(f"place of {key}", victim.position, place)
                age_s = self.table.disruptions[at].running_s
                findings += compare(f"age of {key}", victim.age_s, age_s)
        yield judge(VICTIMS, findings, f"{len(victims)} victims compared")
        if plan.greedy is not None:
            yield self.facts.check_greedy(plan.greedy, self._greedy_faults(plan.greedy))
            yield check_facts(match(plan.greedy), plan.greedy)
        if certificate is not None and plan.victims:
            yield self.facts.check_caps(certificate.caps, profile)

    def _greedy_faults(self, greedy: Plan) -> Iterator[str]:
        """Compare flavors, reasons and attempt with the replayed algorithm's."""
        search, preemptor = self._decision.search, self.preemptor
        if greedy.strict != self.plan.strict:
            yield "documented precedence is a law for one of the two only"
        said = self.plan.held_back
        if said is not None and said != greedy.held_back:
            yield "it is held back otherwise than the plan"
        held_back = greedy.held_back
        if held_back is not None:
            found = why_held_back(self.state, self.snapshot, preemptor, self._decision)
            facts = (found.why, found.message, found.text, found.head or None) if found else ()
            claim = held_back.why, held_back.message, held_back.text, held_back.head
            yield from compare("what holds it back", claim, facts)
        if greedy.in_the_way:
            key, queue = preemptor.key, preemptor.queue
            turn = in_the_way(self.state, self.snapshot, key, queue, lambda: False)
            others = () if turn is None else tuple(turn.workloads)
            yield from compare("who is in the way", greedy.in_the_way, others)
        if greedy.assignment != self.plan.assignment or greedy.rules != self.plan.rules:
            yield "it has other flavors, or rules, than the plan"
        for victim, target in zip(greedy.victims, search.targets, strict=False):
            yield from compare(f"reason of {victim.workload}", victim.reason, target.reason)
        yield from compare("its attempt", greedy.borrowing, search.borrowing)

    @cached_property
    def facts(self) -> Facts:
        greedy, own, setting, outside = self.plan.greedy, self._own, self.setting, False
        # Kueue itself can break laws only by fair sharing, or where its search leaves out quota for
        # pods. Elsewhere a plan of its own that breaks laws is false, and no excuse for caps.
        keeps = not isinstance(setting, FairSetting) and setting.request == setting.searched
        if own and greedy is not None and not keeps:
            judged = verify_plan(self.state, greedy, snapshot=self.snapshot, setting=setting)
            outside = not judged.accepted
        return Facts(self.table, self.position, self.problem.order.tolist(), own, outside)

    @cached_property
    def _own(self) -> Sequence[str]:
        """The victims of the scheduler's own algorithm, in its order."""
        return [target.workload.key for target in self._decision.search.targets]

    @cached_property
    def _place(self) -> Mapping[int, int]:
        """The place of each candidate in the scheduler's list, from 1, by position."""
        listed = self.facts.positions(one.key for one in self.setting.candidates)
        return {position: place for place, position in enumerate(listed, start=1)}

    @cached_property
    def _decision(self) -> Decision:
        """What the scheduler's own algorithm does under the flavors of the plan."""
        return self._decide(self.plan.assignment)

    def _decide(self, assignment: Assignment | None) -> Decision:
        options, given = self.plan.kep83, (self.snapshot, self.preemptor)
        if options is None:
            return decide(*given, assignment)
        return decide_kep83(*given, options, assignment, self._milestones)

    def _never_looks(self) -> bool:
        """Say whether the scheduler looks for no victims with the flavors that it assigns.

        So it is where no flavors fit, podsets are left out, or what does not fit counts as fitting.
        """
        assignment, setting = self.plan.assignment, self.setting
        left_out = len(assignment.pod_sets) < len(setting.preemptor.pod_sets)
        if assignment.mode == "Preempt" and not left_out:
            return False
        free = self.snapshot.usage.available
        asked = setting.request.items()
        fits = all(amount <= max(0, free(setting.queue, fr)) for fr, amount in asked)
        if assignment.mode == "Fit" and fits and not left_out:
            return False
        return self._decide(None).assignment == assignment

    @cached_property
    def _milestones(self) -> Mapping[str, int]:
        """The milestone costs by key that an order of KEP-83's compares; empty for other orders."""
        if self.plan.kep83 is None or "ByLowestDisruptionCost" not in self.plan.kep83.criteria:
            return {}
        now = self.snapshot.now
        return {
            one.key: read_disruption(one.remarks, now, one.running_s).milestone_cost
            for group in self.snapshot.admitted.values()
            for one in group
            if one.remarks
        }

    def _claims(self) -> Iterator[CheckedClaim]:
        certificate = self.plan.certificate
        if self.plan.claim == "infeasible":
            trees = certificate.trees if certificate else ()
            never = "the scheduler, replayed, never looks for victims"
            known = never if self._never_looks() else ""
            yield check_infeasible(self._questions(()), trees, known)
        elif certificate and self.plan.claim == "optimal" and self.plan.victims:
            claims = self._questions(certificate.caps)
            yield from check_levels(claims, certificate, self.facts.positions(self.plan.keys))

    def _questions(self, caps: Sequence[Cap]) -> Claims:
        return kueue_claims(
            self.setting,
            self.table,
            self.problem.workloads,
            self.problem.order.tolist(),
            caps=[(tuple(cap.term.split("+")), cap.most) for cap in caps],
            wishes=self.profile.wishes,
        )
