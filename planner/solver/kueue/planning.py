"""One pending workload being planned: whom the laws permit, as a search asks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final, Self

import numpy as np
from msgspec.structs import replace

from planner.case.kueue import Case, with_topologies
from planner.case.kueue_plan import (
    explain_infeasible,
    explain_no_flavor,
    hold_in_words,
    plan_of,
    remarks,
)
from planner.laws.kueue import FS_BORROWING
from planner.models.kueue import laws
from planner.models.kueue.formulation import Columns, Formulation
from planner.objective.applied import apply_profile, own_priorities, spelled_out
from planner.objective.kueue import known_groups, term_table
from planner.objective.profiles import Measure, Profile
from planner.plan import Conclusion, Status, Turn, Verdict, Verification
from planner.plan.kueue import Amount, Plan, Victim
from planner.problem.array import BoolArray, IntArray
from planner.proof.claims import Claims
from planner.proof.kueue import kueue_rules
from planner.quantity import format_units, plural
from planner.quota.classes import Classes
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import as_preemptor, replaced_by
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.processing import usage_without
from planner.solver.answer import Planned, refuse_illegal
from planner.solver.deadline import Clock, Trees
from planner.solver.kueue.aftermath import CascadeReplay
from planner.solver.search import Rules
from planner.state.kueue import State
from planner.verifier.kueue.certificate import check_certificate
from planner.verifier.kueue.plan import match_plan, setting_for, verify_plan
from planner.verifier.kueue.setting import Setting
from planner.verifier.wording import broken


class Planning(Planned[Plan], Rules):
    """A case being planned: whom its rules permit, and the terms that count.

    ``undecided`` counts the sets that were left out without a verdict.
    """

    scheduler, undecided = "kueue", 0
    NEVER_LOOKED: ClassVar = (
        "Kueue takes it for fitting, which it does not, and so never looks for victims "
        "(flavorFungibility.preference PreemptionOverBorrowing)"
    )
    """Why no victims are looked for, for a preemptor that does not fit."""

    def __init__(self, case: Case, certify: Trees = None, ranked: BoolArray | None = None) -> None:
        """Prepare a case; ``ranked`` is (W,): who is ranked by priority, if not the candidates.

        Plans with different flavors have different candidates: their ranks compare only if the
        same workloads are ranked in each. ``certify`` says whether to grow proof trees.
        """
        self.case: Final = case
        self.state, self.problem, self.preemptor_key = case.state, case.problem, case.preemptor.key
        self.order, self.certify = case.problem.order, certify
        self.clock = Clock()
        """After it no decision is replayed to find out whether a victim would preempt again."""
        self.eligible, self.candidates = self._permitted()
        # The plain table stays as it is: each objective begins from it, and not from what the
        # last objective added.
        self.table = self._plain_table = term_table(
            self.problem, case.snapshot, self.candidates, case.costs, ranked
        )
        # Plans that are looked at on the way keep to added laws or not: only one that is returned
        # says so (`by_its_rules`).
        noted = case.preemptor.notes if case.replacing else remarks(case, self.eligible)
        self._noted = tuple(noted)

    def plan(
        self,
        found: Conclusion[Plan],
        victims: Sequence[Victim] = (),
        *,
        borrowing: bool | None = None,
    ) -> Plan:
        """Return a plan of the case."""
        return plan_of(self.case, self._noted, found, victims, borrowing=borrowing)

    def _permitted(self) -> tuple[BoolArray, BoolArray]:
        """Return whom no law excludes, and whom Kueue would list as candidates: both (W,).

        Under fair sharing the latter are more: Kueue looks at the cohorts of a candidate only at
        its turn (docs/semantics/kueue.md §6.2 and §6.4).
        """
        lawful = laws.eligible(self.problem)
        if self.problem.fair is None:
            return lawful, lawful
        return lawful, laws.eligible(self.problem, without={FS_BORROWING.id})

    @cached_property
    def _codes(self) -> list[str]:
        """The reason code that the rules give each workload as a victim: (W,)."""
        return laws.reasons(self.problem)

    @cached_property
    def attempts(self) -> Sequence[bool]:
        """The attempts that the rules permit, each as whether it may borrow, in order."""
        return laws.attempts(self.problem, self.eligible)

    @cached_property
    def restricted(self) -> BoolArray:
        """(W,) whom no attempt with borrowing may take."""
        return laws.restricted_while_borrowing(self.problem)

    @property
    def only_borrows(self) -> bool:
        """Whether the only attempt is one with borrowing."""
        return tuple(self.attempts) == (True,)

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        columns = Columns(self.problem, classes, self.restricted)
        return laws.assemble(self.problem, columns, self.attempts)

    def alike(self, classes: Classes, counts: Sequence[int]) -> Sequence[int] | None:
        """Return the group of each class: sets with as many of each group are refused, too.

        If Kueue's placement refuses the set, classes are grouped by what members give back on the
        nodes; group 0 gives nothing that matters. ``None`` where nothing is known of other sets.
        """
        places = self.problem.places
        # For one group the model's rows are exact (docs/semantics/kueue-topology.md §7).
        if places is None or len(places.rooms) <= 1:
            return None
        gone = [self.problem.workloads[position] for position in classes.take(counts)]
        if self.setting.floor.finds(gone):
            return None
        kinds: list[int] = places.kind[classes.first].tolist()
        return kinds

    def with_flavors(self, assignment: Assignment, ranked: BoolArray) -> Self:
        """Return the same preemptor under some flavors, with ``ranked`` as the scale of ranks."""
        made = self._of(replace(self.case, fixed=assignment), ranked)
        made.own_priorities = self.own_priorities  # caps are those of Kueue's own flavors
        return made

    def by_quota_alone(self, state: State | None = None) -> Self:
        """Return the same preemptor planned without topologies, in a given state that knows it."""
        case = self.case
        if state is None and not case.snapshot.topologies.looked_at:
            return self
        given = case.state if state is None else state
        snapshot = take_snapshot(given, case.snapshot.now, case.snapshot.tree.frs)
        preemptor = as_preemptor(given, snapshot, case.preemptor.workload)
        return self._of(replace(case, state=given, snapshot=snapshot, preemptor=preemptor))

    def _of(self, case: Case, ranked: BoolArray | None = None) -> Self:
        """Return another case that is planned with the clock of this one."""
        made = type(self)(case, self.certify, ranked)
        made.clock = self.clock
        return made

    def set_objective(self, profile: Profile) -> Profile:
        """Let the terms count what an objective asks for; return it spelled out for the state.

        Raises `InputError` if it names a group that the state does not know, or counts nothing it
        protects.
        """
        table = self._plain_table
        if profile.counts(CascadeReplay.TERM):
            table = replace(table, replayed={CascadeReplay.TERM: self.cascade_replay})
        self.table = apply_profile(
            profile, table, lambda: known_groups(self.state), lambda: self.own_priorities
        )
        return spelled_out(profile, self.table)

    @cached_property
    def own_priorities(self) -> Mapping[int, int] | None:
        """How many victims of each priority Kueue itself takes, under the flavors it assigns."""
        return own_priorities(self._plain_table, self.greedy_positions())

    @cached_property
    def cascade_replay(self) -> CascadeReplay:
        """The replay that says which victims would preempt again."""
        candidates = self.candidates.nonzero()[0].tolist()
        return CascadeReplay(self.case, candidates, self._codes, self.clock.is_late)

    @cached_property
    def _place(self) -> IntArray:
        """(W,) the place of candidates in the scheduler's order, from 1; others come after all."""
        candidates = self.candidates.nonzero()[0]
        ordered = candidates[np.argsort(self.problem.order[candidates], kind="stable")]
        place = np.full(self.candidates.size, ordered.size + 1, dtype=np.int64)
        place[ordered] = np.arange(1, ordered.size + 1)
        return place

    @property
    def keys(self) -> Sequence[str]:
        """The workloads of the problem as namespace/name, by their positions: (W,)."""
        return self.problem.workloads.keys

    @property
    def fits_at_once(self) -> bool:
        """Whether the request is available with nobody evicted."""
        problem = self.problem
        # All of it, `pods` too: admission asks for them, only the search for victims does not
        # (docs/semantics/kueue.md §7.4).
        within = (problem.request[fr] <= max(0, problem.available[fr]) for fr in problem.requested)
        return all(within) and self.setting.floor.finds(())

    def describe(self, positions: Sequence[int], codes: Sequence[str]) -> tuple[Victim, ...]:
        """Return the victims at some positions, in the order given, with their reason codes.

        A victim that is no candidate by these rules has its place after all candidates.
        """
        workloads, snapshot = self.problem.workloads, self.case.snapshot
        frs = snapshot.tree.frs
        self._known.update((workloads[at].key, at) for at in positions)  # they are asked for again
        return tuple(
            Victim(
                workload=workloads[at].key,
                cluster_queue=snapshot.queue_name(workloads[at].queue),
                reason=code,
                priority=workloads[at].priority,
                position=int(self._place[at]),
                age_s=self.table.disruptions[at].running_s,
                evicted=workloads[at].leaving,
                usage=tuple(
                    Amount(
                        flavor=frs[fr].flavor,
                        resource=frs[fr].resource,
                        units=amount,
                        quantity=format_units(amount, frs[fr].resource),
                    )
                    for fr, amount in sorted(workloads[at].usage.items())
                ),
                costs=self.table.costs_of(at),
            )
            for at, code in zip(positions, codes, strict=True)
        )

    def describe_in_order(self, positions: Sequence[int]) -> tuple[Victim, ...]:
        """Return victims in candidate order, with the reasons that the rules give them."""
        ordered = self.in_candidate_order(positions)
        return self.describe(ordered, [self._codes[position] for position in ordered])

    @property
    def turn(self) -> Turn:
        """When Kueue does what it decides: what is in the way after the next cycle is not asked."""
        return "held" if self.case.held_back else "next"

    def greedy_positions(self) -> list[int]:
        """Return Kueue's own targets as positions of the problem's workloads, in its order."""
        return self.positions(one.workload.key for one in self.case.decision.search.targets)

    def greedy_plan(self) -> Plan:
        """Return what Kueue itself would do, verified.

        Raises `InternalError` if the verifier refuses it.
        """
        positions, search = self.greedy_positions(), self.case.decision.search
        status, explanation = self._greedy_outcome(len(positions))
        terms = self.table.evaluate(positions)
        found: Conclusion[Plan] = Conclusion(status, explanation, "kueue", terms, own=True)
        victims = self.describe(positions, [target.reason for target in search.targets])
        plan = self.plan(found, victims, borrowing=search.borrowing)
        hold = self.case.held_back
        if hold is not None:
            said = hold_in_words(plan.preemptor, hold)
            plan = plan.model_copy(update={"held_back": hold, "explanation": said})
        if not positions:
            return plan
        verification = self._verify(plan)
        if self.problem.fair is not None or self.starves(positions):
            # Kueue's fill-back looks at no shares, and its search at no pods: its own answer can
            # be outside its own rules.
            return plan.model_copy(update={"outside_rules": broken(verification.verdicts)})
        refuse_illegal(plan, verification)
        return plan

    def _greedy_outcome(self, victims: int) -> tuple[Status, str]:
        case, name = self.case, self.case.rules.scheduler or "Kueue"
        mode = case.assignment.mode
        # Not by the mode alone: Kueue can say Fit of a request that does not fit
        # (docs/semantics/kueue.md §4.1, point 6).
        if mode == "Fit" and self.fits_at_once:
            unplaced = case.placement is None and with_topologies(case) is not None
            said = f"{name} admits it without preemption"
            return "feasible", f"by quota alone {said}" if unplaced else said
        if mode == "Fit":
            return "unknown", f"{name} takes it for fitting, which it does not, and never preempts"
        if mode == "NoFit":
            return "infeasible", self.why_no_flavor()
        if victims and self.starves(self.greedy_positions()):
            return "feasible", (
                "Kueue's own victims do not free what its larger pods take: it evicts others later"
                if replaced_by(case.snapshot, case.preemptor)
                else "Kueue's own victims do not free enough pods: it evicts nobody, and waits "
                "for ever"
            )
        if victims:
            return "feasible", f"{name} preempts {plural(victims, 'workload')}"
        return "unknown", f"{name} finds no victims that would make room"

    def starves(self, positions: Sequence[int]) -> bool:
        """Say whether victims free too little of the resources that Kueue's search does not count.

        These are pods, and what each pod of a slice asks for beyond a pod of the slice replaced.
        """
        problem, snapshot, queue = self.problem, self.case.snapshot, self.case.preemptor.queue
        gone = (problem.workloads[position] for position in positions)
        left = usage_without(snapshot.usage, gone).available
        return any(
            amount > max(0, left(queue, snapshot.fr(*problem.frs[fr])))
            for fr, amount in enumerate(problem.request)
            if amount > problem.searched[fr]
        )

    def claims(self, profile: Profile, caps: Sequence[tuple[Measure, int]]) -> Claims:
        """Return what a plan under a profile claims, as questions for proof trees."""
        order = self.problem.order.tolist()
        rules_for = kueue_rules(self.setting, self.problem.workloads, order)
        return Claims(self.table, rules_for, caps, profile.wishes)

    def by_its_rules(self, plan: Plan) -> Plan:
        """Return a plan that names the rules that it is by, where they are not Kueue's own."""
        return plan.model_copy(update={"rule_options": self.case.options})

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether the verifier accepts victims, given as positions.

        Fair sharing calculates with doubles, which may disagree with the model's integers; and for
        several podsets the model knows that there is room, not that Kueue finds it.
        """
        return self.attempt_of(positions) is not None

    def attempt_of(self, positions: Sequence[int]) -> bool | None:
        """Return the first attempt, in Kueue's order, by which victims are legal, if one is."""
        victims = self.describe_in_order(positions)
        for borrowing in self.attempts:
            if self._verify(self._naming(victims, borrowing=borrowing)).accepted:
                return borrowing
        return None

    def _naming(self, victims: Sequence[Victim], *, borrowing: bool) -> Plan:
        """Return a plan that claims nothing of its victims but that they are legal."""
        return self.plan(Conclusion("feasible"), victims, borrowing=borrowing)

    def broken_by(self, positions: Sequence[int]) -> tuple[str, ...]:
        """Return the laws that victims break, whoever chose them, in words.

        Of the attempts that Kueue could make, the one that breaks the fewest counts.
        """
        victims = self.describe_in_order(positions)
        plans = [self._naming(victims, borrowing=borrowing) for borrowing in (False, True)]
        return min((broken(self._verify(plan).verdicts) for plan in plans), key=len)

    def _check_claims(self, plan: Plan, terms: Mapping[str, int]) -> Sequence[Verdict]:
        snapshot, setting = self.case.snapshot, self.setting
        case = match_plan(self.state, plan, snapshot=snapshot, setting=setting)
        return check_certificate(case, plan, terms)

    def _verify(self, plan: Plan) -> Verification:
        snapshot, setting = self.case.snapshot, self.setting
        return verify_plan(self.state, plan, snapshot=snapshot, setting=setting)

    @cached_property
    def setting(self) -> Setting:
        """What the verifier says of the state before it looks at a plan."""
        case = self.case
        given = case.state, case.snapshot, case.preemptor.key, case.assignment
        return setting_for(*given, case.replacing)

    def why_no_flavor(self) -> str:
        """Say in words why flavor assignment failed."""
        return explain_no_flavor(self.case, self.setting.floor.groups)

    def why_infeasible(self) -> str:
        """Say in words why no legal victim set exists."""
        return explain_infeasible(self.case, self.eligible)
