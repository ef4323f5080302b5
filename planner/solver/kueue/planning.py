"""One pending workload being planned: what Kueue decides, and what the laws permit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final, Self

import numpy as np
from msgspec.structs import replace

from planner.laws import Law
from planner.laws.kueue import FS_BORROWING
from planner.models.kueue import laws
from planner.models.kueue.formulation import Columns, Formulation
from planner.objective.applied import apply_profile, own_priorities, spelled_out
from planner.objective.kueue import known_groups, term_table
from planner.objective.profiles import Measure, Profile
from planner.plan import Status, Verdict, Verification
from planner.plan.kueue import Amount, HeldBack, Plan, Victim
from planner.problem.array import BoolArray, IntArray
from planner.problem.kueue import Problem, build_problem
from planner.proof.claims import Claims
from planner.proof.kueue import kueue_claims
from planner.quantity import format_units, plural
from planner.quota.classes import Classes
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.placement import concerns
from planner.quota.kueue.preemptor import as_preemptor, replaced_by
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.quota.kueue.tree import Usage
from planner.reference.kueue.cycle.nomination import why_held_back
from planner.reference.kueue.decision import Decision, decide
from planner.scheduler import Placement
from planner.solver.answer import Planned, refuse_illegal
from planner.solver.deadline import Clock, Trees
from planner.solver.kueue.aftermath import CascadeReplay
from planner.solver.kueue.describe import (
    Subject,
    explain_infeasible,
    explain_no_flavor,
    hold_in_words,
    remarks,
)
from planner.solver.levels import Proved
from planner.solver.search import Rules
from planner.state.kueue import State
from planner.verifier.kueue.certificate import check_certificate
from planner.verifier.kueue.plan import match_plan, setting_for, verify_plan
from planner.verifier.kueue.setting import Setting
from planner.verifier.kueue_topology import Floor
from planner.verifier.wording import broken
from planner.wing import find_rules

Decided = tuple[Decision, Problem, BoolArray, BoolArray]

SMALL: Final = 300
"""Workloads with quota up to which decisions are replayed that nobody asked for."""


class Planning(Planned[Plan], Rules):
    """The decision, the problem, its terms and its rules, for one preemptor in one snapshot."""

    scheduler = "kueue"
    NAME: ClassVar = "Kueue"
    """The name of the algorithm behind the greedy answer."""
    NEVER_LOOKED: ClassVar = (
        "Kueue takes it for fitting, which it does not, and so never looks for victims "
        "(flavorFungibility.preference PreemptionOverBorrowing)"
    )
    """Why no victims are looked for, for a preemptor that does not fit."""
    by_own_rules: ClassVar = True
    """Whether the rules are Kueue's own of today: only for these is it known what happens next."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a decision depends on
        self,
        state: State,
        snapshot: Snapshot,
        preemptor: Preemptor,
        costs: Mapping[str, int] | None = None,
        assignment: Assignment | None = None,
        ranked: BoolArray | None = None,
        options: str = "",
    ) -> None:
        """Prepare a decision; ``ranked`` is (W,): who is ranked by priority, if not the candidates.

        Plans with different flavors have different candidates: their ranks compare only if the
        same workloads are ranked in each. ``options`` name other rules than Kueue's own.
        """
        self.state = state
        self.snapshot = snapshot
        self.preemptor = preemptor
        self.preemptor_key = preemptor.key
        self.options = options
        self.clock = Clock()
        """After it no decision is replayed to find out whether a victim would preempt again."""
        self.decision, self.problem, self.eligible, self.candidates = self._decided(assignment)
        self.costs: Final = costs
        """The costs of evictions that were given, if any were."""
        self.fixed: Final = assignment
        """The flavors that were given, if any were."""
        # The plain table stays as it is: each objective begins from it, and not from what the
        # last objective added.
        self.table = self._plain_table = term_table(
            self.problem, snapshot, self.candidates, costs, ranked
        )
        # Plans that are looked at on the way keep to added laws or not: only one that is returned
        # says so (`by_its_rules`).
        replaced = options if find_rules(options or None).replaces else ""
        notes = preemptor.notes if replaced else remarks(self)
        self.subject = Subject(
            snapshot, preemptor, self.decision.assignment, replaced, tuple(notes), self.placement
        )

    @property
    def is_small(self) -> bool:
        """Whether so few hold quota that further decisions of Kueue take next to no time."""
        return sum(map(len, self.snapshot.admitted.values())) <= SMALL

    def _decided(self, assignment: Assignment | None) -> Decided:
        """Return what Kueue decides on targets, and on flavors, unless they are given.

        Besides decision and problem these are (W,) whom no law excludes, and (W,) whom Kueue would
        list as candidates: under fair sharing these are more.
        """
        decision = decide(self.snapshot, self.preemptor, assignment)
        problem = build_problem(self.snapshot, self.preemptor, decision.assignment)
        candidates = lawful = laws.eligible(problem)
        # Kueue looks at the cohorts of a candidate only at its turn (docs/semantics/kueue.md §6.2
        # and §6.4).
        if problem.fair is not None:
            candidates = laws.eligible(problem, without={FS_BORROWING.id})
        return decision, problem, lawful, candidates

    @cached_property
    def placement(self) -> Placement | None:
        """Who places the pods on nodes; ``None`` if quota alone decides, or is all that is seen.

        Source: docs/semantics/kueue-topology.md §1 and §3.
        """
        topologies = self.snapshot.topologies
        if not topologies.looked_at or not concerns(self.snapshot, self.preemptor):
            return None
        return "kueue"

    @cached_property
    def _codes(self) -> list[str]:
        """The reason code that the rules give each workload as a victim: (W,)."""
        return laws.reasons(self.problem)

    @cached_property
    def excluding(self) -> list[tuple[Law, BoolArray]]:
        """The laws that exclude workloads one by one, in order, and whom each excludes: (W,)."""
        return [(law, forbids(self.problem)) for law, forbids in laws.exclusions(self.problem)]

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

    def columns(self, classes: Classes) -> Columns:
        """Return classes with the arrays that the laws look at."""
        return Columns(self.problem, classes, self.restricted)

    def assemble(self, classes: Classes) -> Formulation:
        """Build the exact model in which only these classes give victims."""
        return laws.assemble(self.problem, self.columns(classes), self.attempts)

    def alike(self, classes: Classes, counts: Sequence[int]) -> Sequence[int] | None:
        """Return the group of each class: sets with as many of each group are refused, too.

        If Kueue's placement refuses the set, classes are grouped by what members give back on the
        nodes; group 0 gives nothing that matters. ``None`` where nothing is known of other sets.
        """
        places = self.problem.places
        if places is None or self.finds_places(classes.take(counts)):
            return None
        kinds: list[int] = places.kind[classes.first].tolist()
        return kinds

    def with_flavors(self, assignment: Assignment, ranked: BoolArray) -> Self:
        """Return the same preemptor under some flavors, with ``ranked`` as the scale of ranks."""
        made = self._again(self.state, self.snapshot, assignment, ranked)
        made.own_priorities = self.own_priorities  # caps are those of Kueue's own flavors
        return made

    def by_quota_alone(self, state: State | None = None) -> Self:
        """Return the same preemptor planned without topologies, in a given state that knows it."""
        if state is None and not self.snapshot.topologies.looked_at:
            return self
        given = self.state if state is None else state
        snapshot = take_snapshot(given, self.snapshot.now, self.snapshot.tree.frs)
        return self._again(given, snapshot, self.fixed)

    def _again(
        self,
        state: State,
        snapshot: Snapshot,
        assignment: Assignment | None,
        ranked: BoolArray | None = None,
    ) -> Self:
        """Return the same preemptor in a given state and flavors, with the clock of this one."""
        preemptor = self.preemptor
        if snapshot is not self.snapshot:
            preemptor = as_preemptor(state, snapshot, preemptor.workload)
        made = type(self)(state, snapshot, preemptor, self.costs, assignment, ranked, self.options)
        made.certify, made.clock = self.certify, self.clock
        return made

    @property
    def trees(self) -> Trees:
        """Whether to grow proof trees."""
        return self.certify

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
        return CascadeReplay(
            self.state,
            self.snapshot,
            self.preemptor,
            self.decision.assignment,
            self.problem.workloads,
            self.candidates.nonzero()[0].tolist(),
            self._codes,
            self.clock.is_late,
        )

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
        return all(within) and self.floor.finds(())

    def describe(self, positions: Sequence[int], codes: Sequence[str]) -> tuple[Victim, ...]:
        """Return the victims at some positions, in the order given, with their reason codes.

        A victim that is no candidate by these rules has its place after all candidates.
        """
        workloads, frs = self.problem.workloads, self.snapshot.tree.frs
        self._known.update((workloads[at].key, at) for at in positions)  # they are asked for again
        return tuple(
            Victim(
                workload=workloads[at].key,
                cluster_queue=self.snapshot.queue_name(workloads[at].queue),
                reason=code,
                priority=workloads[at].priority,
                position=int(self._place[at]),
                age_s=self.table.disruptions[at].running_s,
                evicted=workloads[at].evicted,
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

    def greedy_positions(self) -> list[int]:
        """Return Kueue's own targets as positions of the problem's workloads, in its order."""
        targets = self.decision.search.targets
        return [self.problem.workloads.place_of(one.workload) for one in targets]

    def greedy_plan(self) -> Plan:
        """Return what Kueue itself would do, verified.

        Raises `InternalError` if the verifier refuses it.
        """
        positions = self.greedy_positions()
        codes = [target.reason for target in self.decision.search.targets]
        status, explanation = self._greedy_outcome(len(positions))
        plan = self.subject.plan(
            "kueue",
            status,
            explanation,
            objective="kueue",
            victims=self.describe(positions, codes),
            borrowing=self.decision.search.borrowing,
            terms=self.table.evaluate(positions),
        )
        hold = self.held_back
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

    @cached_property
    def held_back(self) -> HeldBack | None:
        """Why Kueue does nothing for the preemptor in its next cycle, if that is known."""
        asked = self.state, self.snapshot, self.preemptor, self.decision
        found = why_held_back(*asked) if self.by_own_rules else None
        if found is None:
            return None
        return HeldBack(
            why=found.why, message=found.message, text=found.text, head=found.head or None
        )

    def claims(self, profile: Profile, caps: Sequence[tuple[Measure, int]]) -> Claims:
        """Return what a plan under a profile claims, as questions for proof trees."""
        return kueue_claims(
            self._setting,
            self.table,
            self.problem.workloads,
            self.problem.order.tolist(),
            caps=caps,
            wishes=profile.wishes,
        )

    def by_its_rules(self, plan: Plan) -> Plan:
        """Return a plan that names the rules that it is by, where they are not Kueue's own."""
        return plan.model_copy(update={"rule_options": self.options})

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether the verifier accepts victims, given as positions.

        Only fair sharing calculates with doubles, which may disagree with the model's integers;
        and for several podsets the model knows that there is room, not that Kueue finds it.
        """
        if not self.finds_places(positions):
            return False
        if self.problem.fair is None:
            return True
        plan = self._naming(self.describe_in_order(positions), borrowing=True)
        return self._verify(plan).accepted

    def attempt_of(self, positions: Sequence[int]) -> bool:
        """Return the attempt that victims belong to, the first in Kueue's order."""
        first, *others = self.attempts
        if not others:
            return first
        plan = self._naming(self.describe_in_order(positions), borrowing=first)
        return first if self._verify(plan).accepted else others[0]

    def _naming(self, victims: Sequence[Victim], *, borrowing: bool) -> Plan:
        """Return a plan that claims nothing of its victims but that they are legal."""
        return self.subject.plan(
            "optimum", "feasible", "", objective="", victims=victims, borrowing=borrowing
        )

    def broken_by(self, positions: Sequence[int]) -> tuple[str, ...]:
        """Return the laws that victims break, whoever chose them, in words.

        Of the attempts that Kueue could make, the one that breaks the fewest counts.
        """
        victims = self.describe_in_order(positions)
        plans = [self._naming(victims, borrowing=borrowing) for borrowing in (False, True)]
        return min((broken(self._verify(plan).verdicts) for plan in plans), key=len)

    @property
    def floor(self) -> Floor:
        """What has to be placed on the nodes, as the verifier sees it."""
        return self._setting.floor

    def finds_places(self, positions: Sequence[int]) -> bool:
        """Say whether Kueue's own placement finds room for all podsets once victims are gone."""
        places = self.problem.places
        # For one group the model's rows are exact (docs/semantics/kueue-topology.md §7).
        if places is None or len(places.rooms) <= 1:
            return True
        gone = [self.problem.workloads[position] for position in positions]
        return self.floor.finds(gone)

    def as_far_as_decided(self, proved: Proved) -> Proved:
        """Return what is proved of an answer, but for undecided sets: here, all of it."""
        return proved

    def _check_claims(self, plan: Plan, terms: Mapping[str, int]) -> Sequence[Verdict]:
        case = match_plan(self.state, plan, snapshot=self.snapshot, setting=self._setting)
        return check_certificate(case, plan, terms)

    def _verify(self, plan: Plan) -> Verification:
        return verify_plan(self.state, plan, snapshot=self.snapshot, setting=self._setting)

    @cached_property
    def _setting(self) -> Setting:
        """What the verifier says of the state before it looks at a plan."""
        assignment, options = self.decision.assignment, self.subject.rule_options
        return setting_for(self.state, self.snapshot, self.preemptor.key, assignment, options)

    def why_no_flavor(self) -> str:
        """Say in words why flavor assignment failed."""
        if self.preemptor.rejection:
            return f"Kueue does not queue {self.preemptor.key}: {self.preemptor.rejection}"
        inactive = self.snapshot.inactive.get(self.subject.cluster_queue)
        if inactive:
            return f"ClusterQueue {self.subject.cluster_queue} is inactive: {inactive}"
        decided = self.decision.assignment
        if self.floor.groups and len(decided.pod_sets) == len(self.preemptor.pod_sets):
            names = " and ".join(group.name for group in self.floor.groups)
            short = self.where_short(empty=True)
            return (
                f"Kueue's own placement finds no room for {names} of {self.preemptor.key} on the "
                "nodes even without any pods that Kueue placed, so it never looks for victims"
                f"{short and f': {short}'}"
            )
        return explain_no_flavor(self.snapshot, self.preemptor, decided)

    def why_infeasible(self) -> str:
        """Say in words why no legal victim set exists."""
        candidates = self.eligible.nonzero()[0].tolist()
        return explain_infeasible(self.problem, self.eligible, self.where_short(candidates))

    def where_short(self, gone: Iterable[int] = (), *, empty: bool = False) -> str:
        """Say what the nodes lack without the workloads at some positions, or all of Kueue's.

        Empty where they have room, or quota alone decides.
        """
        if self.placement is None:
            return ""
        from planner.solver.kueue.room import where_short  # noqa: PLC0415 - few states have nodes

        who = [self.problem.workloads[position] for position in gone]
        return where_short(
            self.snapshot, self.preemptor, self.decision.assignment, who, empty=empty
        )

    def starves(self, positions: Sequence[int]) -> bool:
        """Say whether victims free too little of the resources that Kueue's search does not count.

        These are pods, and what each pod of a slice asks for beyond a pod of the slice replaced.
        """
        problem, usage = self.problem, self.usage_without(positions)
        short = (fr for fr, n in enumerate(problem.request) if n > problem.searched[fr])
        return any(
            problem.request[fr]
            > max(0, usage.available(self.preemptor.queue, self.snapshot.fr(*problem.frs[fr])))
            for fr in short
        )

    def usage_without(self, positions: Iterable[int]) -> Usage:
        """Return the usage once the workloads at these positions are gone."""
        usage = self.snapshot.usage.copy()
        for position in positions:
            gone = self.problem.workloads[position]
            usage.remove(gone.queue, gone.usage)
        return usage

    def _greedy_outcome(self, victims: int) -> tuple[Status, str]:
        mode = self.decision.assignment.mode
        # Not by the mode alone: Kueue can say Fit of a request that does not fit
        # (docs/semantics/kueue.md §4.1, point 6).
        if mode == "Fit" and self.fits_at_once:
            return "feasible", f"{self.NAME} admits it without preemption"
        if mode == "Fit":
            taken = f"{self.NAME} takes it for fitting, which it does not, and never preempts"
            return "unknown", taken
        if mode == "NoFit":
            return "infeasible", self.why_no_flavor()
        if victims and self.starves(self.greedy_positions()):
            return "feasible", (
                "Kueue's own victims do not free what its larger pods take: it evicts others later"
                if replaced_by(self.snapshot, self.preemptor)
                else "Kueue's own victims do not free enough pods: it evicts nobody, and waits "
                "for ever"
            )
        if victims:
            return "feasible", f"{self.NAME} preempts {plural(victims, 'workload')}"
        return "unknown", f"{self.NAME} finds no victims that would make room"
