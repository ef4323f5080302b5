"""Plans of YuniKorn, checked from the state alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np
from msgspec.structs import replace

from planner.case.yunikorn import Case
from planner.commands.check.facts import Facts, check_infeasible
from planner.commands.check.plan import Check, CheckedClaim, Named, another_question, conclude
from planner.errors import InputError, SchemaError
from planner.laws.yunikorn import YK_MAY_PREEMPT, YK_OVER_GUARANTEED, Spared
from planner.objective.applied import apply_profile, own_priorities, spelled_out
from planner.objective.profiles import Profile, measure_name, with_names
from planner.objective.terms import TermTable
from planner.objective.wishes import NO_WISHES, Wishes
from planner.objective.yunikorn import known_yunikorn_groups, refuse_annotated, yunikorn_term_table
from planner.plan import Status, Verdict
from planner.plan.asked import Asked
from planner.plan.yunikorn import YuniKornPlan
from planner.proof.claims import LAST_RESORT, Claims, Limits
from planner.proof.yunikorn import Setting, yunikorn_rules
from planner.proof.yunikorn.frame import candidates
from planner.quota.yunikorn.cluster import prepare
from planner.quota.yunikorn.lowered import LOWERED, find_asking
from planner.quota.yunikorn.queue import Snapshot
from planner.state.clock import from_nanoseconds, to_nanoseconds
from planner.state.yunikorn import YuniKornState
from planner.verifier.wording import broken, compare
from planner.verifier.yunikorn import (
    match_yunikorn,
    verify_yunikorn_case,
    verify_yunikorn_plan,
)
from planner.verifier.yunikorn.case import LAST_TIER, Victim, YuniKornCase
from planner.verifier.yunikorn.facts import check_yunikorn_certificate, check_yunikorn_facts
from planner.verifier.yunikorn.laws import adjusted_priority

SIDES: Final = ("design", "written", "code")
"""The sides to take where YuniKorn's written laws and its code differ."""


def check_yunikorn(
    state: YuniKornState,
    plan: YuniKornPlan,
    profile: Profile,
    costs: Mapping[str, int] | None,
    named: Named,
) -> Check:
    """Check a plan of YuniKorn.

    Raises ``InputError`` if the plan is not for this state, its objective cannot be counted there,
    or what the caller names means nothing to YuniKorn.
    """
    refuse_annotated(profile)
    if named.rules is not None and named.rules not in SIDES:
        raise SchemaError("rules", f'"{named.rules}" cannot be used', ", ".join(SIDES))
    for name in ("assignment", "stable"):
        if getattr(named, name) not in (None, False):
            raise InputError(name, "means nothing to YuniKorn", hint="leave it out")
    if named.now is not None and named.now != from_nanoseconds(state.now):
        state = state.model_copy(update={"now": to_nanoseconds(named.now)})
    found = find_asking(prepare(state, plan.partition), plan.preemptor, plan.rules)
    return _Checking(Case(state, *found, costs), plan, profile, named).check()


@dataclass
class _Checking:
    case: Case
    plan: YuniKornPlan
    profile: Profile
    named: Named

    @property
    def asked(self) -> Asked:
        """The question that is asked."""
        side = (
            "required-node" if self.case.asking.ask.required_node else self.named.rules or SIDES[0]
        )
        return Asked(
            objective=self.profile.name,
            rules=f"yunikorn-{side}" if self.case.asking.shares is None else LOWERED,
            now=from_nanoseconds(self.case.cluster.now),
            assume=self.named.assume,
        )

    @property
    def keys(self) -> Sequence[str]:
        return [one.allocation_key for one in self.case.problem.allocations]

    @cached_property
    def table(self) -> TermTable:
        going = np.zeros(len(self.case.problem.allocations), dtype=np.bool_)
        worth = self.case.problem.priority.tolist()
        # By the verifier's laws, and not by the problem that the plan was made from.
        for position, victim in candidates(self.case.cluster, self.case.asking, self.plan.rules):
            going[position] = True
            if self.case.asking.is_generic:
                worth[position] = adjusted_priority(self.case.asking, victim.queue, worth[position])
        table = yunikorn_term_table(
            self.case.problem, self.case.cluster.now, going, worth, self.case.costs
        )
        own = self.case.decision.victim_keys
        return apply_profile(
            self.profile,
            table,
            lambda: known_yunikorn_groups(self.case.state),
            lambda: own_priorities(table, [i for i, key in enumerate(self.keys) if key in own]),
        )

    def check(self) -> Check:
        differs = another_question(self.plan, self.asked, _option)
        if differs is not None:
            return differs
        laws = verify_yunikorn_plan(self.case.state, self.plan, cluster=self.case.cluster)
        return conclude(self.plan, self.asked, laws, self._claims_about_itself(), self._claims)

    def _claims_about_itself(self) -> Iterator[Verdict]:
        """Judge values, bounds, order and facts, and the core's own plan beside it."""
        plan, greedy, certificate = self.plan, self.plan.greedy, self.plan.certificate
        matched = match_yunikorn(self.case.state, plan, self.case.cluster)
        terms = self.table.evaluate(self.facts.positions(plan.keys))
        profile = spelled_out(self.profile, self.table)
        levels = [measure_name(measure) for measure in with_names(profile.levels)]
        asked = levels if certificate is not None and plan.victims else None
        yield from check_yunikorn_certificate(matched, plan, terms, asked)
        yield self.facts.check_victims(plan)
        if greedy is not None:
            outside, others = broken(self._own_verdicts), self._greedy_faults(greedy)
            yield self.facts.check_greedy(greedy, self._own_status, outside, others)
            theirs = match_yunikorn(self.case.state, greedy, self.case.cluster)
            yield check_yunikorn_facts(theirs, greedy)
        if certificate is not None and (plan.victims or certificate.caps or certificate.dropped):
            yield self.facts.check_caps(plan, certificate, profile)

    def _greedy_faults(self, greedy: YuniKornPlan) -> Iterator[str]:
        """Compare node and rules, and what a plan says of the core's cycles with what they are."""
        plan, case = self.plan, self.case
        yield from compare("its node", greedy.node, case.decision.node)
        yield from compare("its rules", greedy.rules, plan.rules)
        for name in ("held_back", "may_also"):
            if getattr(plan, name) != getattr(greedy, name):
                yield f"{name} of the plan is not that of greedy"
        if (said := plan.held_back) is not None:
            found = case.held_back
            facts = (found.why, found.asks) if found else ()
            yield from compare("what holds it back", (said.why, said.asks), facts)
        if plan.may_also is not None:
            yield from compare("what the core may also do", plan.may_also, case.may_also)

    @property
    def _own_status(self) -> Status:
        """The status of the core's own plan: whether it does something for the ask."""
        own = self.case.decision
        return "feasible" if own.fits_at_once or own.triggered else "unknown"

    def _listed(self) -> Iterator[str]:
        """Yield the keys of those whom the core would list as candidates.

        Of a leaf it lists all or none, and tests again at the turn of each; whether the ask may
        preempt is tested before (docs/semantics/yunikorn.md §3 to §7).
        """
        asking, rules = self.case.asking, self.plan.rules
        apart = {YK_OVER_GUARANTEED.id, YK_MAY_PREEMPT.id}
        snapshot = Snapshot(asking.leaf, asking.ask.resource)
        listed: dict[str, bool] = {}
        for _, victim in candidates(self.case.cluster, asking, rules, without=apart):
            path = victim.queue.path
            if path not in listed:
                listed[path] = not asking.is_generic or snapshot.lists(victim.queue)
            if listed[path]:
                yield victim.key

    @cached_property
    def _own_case(self) -> YuniKornCase:
        """The core's victims as they are replayed, whatever the plan says of them."""
        own = self.case.decision
        chosen = (Victim(one.allocation, one.queue, one.application_id) for one in own.victims)
        return replace(
            match_yunikorn(self.case.state, self.plan, self.case.cluster),
            node=None if own.node is None else self.case.cluster.node(own.node),
            victims=tuple(chosen),
            faults={},
            plan=None,
        )

    @cached_property
    def _own_verdicts(self) -> Sequence[Verdict]:
        """What the laws say of the core's own answer, where it gives one."""
        if self._own_status == "unknown":
            return ()
        return verify_yunikorn_case(self._own_case).verdicts

    @cached_property
    def facts(self) -> Facts:
        own, outside = self.case.decision.victim_keys, False
        if own:
            spared = any(victim.is_spared(self._spare) for victim in self._own_case.victims)
            outside = spared or bool(broken(self._own_verdicts))
        order, listed = self.case.problem.order.tolist(), tuple(self._listed())
        return Facts(self.table, self.keys, order, listed, own, outside)

    def _claims(self) -> Iterator[CheckedClaim]:
        plan, certificate = self.plan, self.plan.certificate
        if plan.claim == "infeasible":
            trees = certificate.trees if certificate else ()
            # YK-11 then refuses every set, so that no tree is needed.
            known = "" if self.case.problem.may_preempt else "the ask may not preempt at all"
            yield check_infeasible(self._questions((), "nobody"), trees, known)
        elif certificate is not None:
            profile = spelled_out(self.profile, self.table)
            asking = partial(self._questions, spare=self._spare)
            yield from self.facts.check_proofs(plan, certificate, profile, asking)
            resort = self.case.asking.shares is None and not plan.spares("opted-out")
            if resort and (plan.claim == "optimal" or certificate.last_resort):
                # Without caps or wishes: law 1 is not up for trade against what a user asks for.
                others = self._questions((), "opted-out", NO_WISHES)
                title = "no legal victim set spares who opted out"
                yield check_infeasible(others, certificate.trees, "", LAST_RESORT, title)

    @property
    def _spare(self) -> Spared:
        """Whom law 1 spares: the most that the plan spares; nobody where a quota was lowered."""
        if self.case.asking.shares is not None:
            return "nobody"
        if (LAST_TIER,) in self.profile.levels and not self.plan.last_tier:
            return "last-tier"
        return "opted-out" if self.plan.spares("opted-out") else "nobody"

    def _questions(self, caps: Limits, spare: Spared, wishes: Wishes | None = None) -> Claims:
        case, order = self.case, self.case.problem.order
        setting = Setting(case.cluster, case.asking, self.plan.rules, order, spare)
        wishes = self.profile.wishes if wishes is None else wishes
        return Claims(self.table, yunikorn_rules(setting), caps, wishes)


def _option(name: str, said: str) -> str:
    """Return the option that takes a part of the question; empty if there is none."""
    side = said.removeprefix("yunikorn-")
    return f"--laws {side}" if name == "rules" and side in SIDES else ""
