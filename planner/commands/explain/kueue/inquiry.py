"""A pending workload of Kueue and its plan, to ask questions about, law by law."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from planner.case.kueue_plan import hold_in_words
from planner.commands.explain.inquiry import Clashing, led_by
from planner.commands.explain.kueue import clash
from planner.commands.explain.kueue.nodes import in_short, on_nodes
from planner.commands.explain.kueue.record import Clash, Explanation, PastEviction, Standing
from planner.commands.explain.kueue.words import (
    OF_PROBLEM,
    OF_WORKLOAD,
    first_within_quota,
    uses,
)
from planner.commands.explain.record import LawInWords
from planner.errors import InputError, InternalError, LookupFailed, did_you_mean
from planner.laws import RULE_SETS, law_behind
from planner.laws import kueue as laws
from planner.models.kueue.laws import exclusions
from planner.objective.profiles import Profile
from planner.plan import Conclusion
from planner.plan.base import name_some
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import parse_assignment, without_modes
from planner.quota.kueue.preemptor import find_workload, key_of
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import prepare, settled
from planner.solver.kueue.stability import as_asked
from planner.solver.kueue.start import check, who_is_in_the_way
from planner.solver.kueue.start import in_words as way_in_words
from planner.solver.start import Given
from planner.state import AnyState

_OF_SHORT: Final = frozenset(
    law.id for law in (laws.KQ_HOLDS_CONTESTED, laws.FS_HOLDS_CONTESTED, laws.FS_BORROWS_CONTESTED)
)
"""The laws about what is short, which protect everybody where nothing is."""


MOST_NAMED: Final = 5
"""The most workloads that a sentence names."""


def excluding(planning: Planning, position: int) -> Iterator[LawInWords]:
    """Yield the laws that each exclude a workload on their own; none for a candidate.

    Where nothing is short, the policies are told: they would decide if anything were.
    """
    problem = planning.problem
    found = [law for law, forbids in exclusions(problem) if forbids(problem)[position]]
    if problem.contested and first_within_quota(problem, position) is not None:
        found.append(laws.KQ_OVER_QUOTA if problem.fair is None else laws.FS_BORROWING)
    if planning.only_borrows and planning.restricted[position]:
        found.append(laws.KQ_BORROW_WITHIN_COHORT)
    if not problem.contested:
        found = [law for law in found if law.id not in _OF_SHORT] or found
    yield from (LawInWords.said(law, OF_WORKLOAD, problem, position) for law in found)


def excluded_by(planning: Planning, position: int) -> LawInWords | None:
    """Return the first law that excludes a workload on its own, ``None`` for a candidate."""
    return next(excluding(planning, position), None)


def permitted_by(planning: Planning, position: int, reason: str) -> LawInWords:
    """Return the law that made a workload a candidate, with the numbers."""
    problem = planning.problem
    law = law_behind(RULE_SETS[problem.rules], reason)
    if law is None:
        message = f"no law of {problem.rules} stands behind {reason!r}"
        raise InternalError(message)
    mine, its = problem.preemptor_priority, int(problem.priority[position])
    policy = problem.policy
    if problem.from_own_queue[position]:
        order, later = ("the same as", ", and it queued later") if its == mine else ("below", "")
        text = f"withinClusterQueue is {policy.within_cluster_queue}: its priority {its} is {order}"
        return LawInWords.with_text(law, f"{text} {mine}{later}")
    text = f"reclaimWithinCohort is {policy.reclaim_within_cohort}"
    if policy.reclaim_within_cohort == "LowerPriority":
        text += f": its priority {its} is below {mine}"
    if reason == "InCohortReclaimWhileBorrowing":
        limit = policy.borrow_within_cohort.max_priority_threshold
        most = "" if limit is None else f" and at most maxPriorityThreshold {limit}"
        text = f"borrowWithinCohort is LowerPriority: its priority {its} is below {mine}{most}"
    if reason == "InCohortFairSharing" and problem.fair is not None:
        text += f"; shares are compared by {', then '.join(problem.fair.strategies)}"
    node = int(problem.queue[position])
    over = [fr for fr in problem.contested if problem.usage[node][fr] > problem.quota[node][fr]]
    if over:
        text += f"; ClusterQueue {problem.names[node]} uses {uses(problem, node, over)}"
    return LawInWords.with_text(law, text)


def _outside(planning: Planning, workload: str) -> tuple[str, int, LawInWords]:
    """Return queue, priority and excluding law of a workload that the problem does not have."""
    snapshot = planning.case.snapshot
    found = find_workload(planning.state, workload)
    held = [w for group in snapshot.admitted.values() for w in group if w.key == workload]
    queue = found.admitted_by
    if not held:
        priority = found.spec.priority or 0
        text = f"it holds no quota: it {'is pending' if found.is_pending else 'is not running'}"
    else:
        priority = held[0].priority
        own, inactive = planning.case.cluster_queue, snapshot.inactive.get(queue)
        text = f"ClusterQueue {queue} shares no cohort with ClusterQueue {own}"
        text = f"ClusterQueue {queue} is inactive: {inactive}" if inactive else text
    law = laws.KQ_HOLDS_CONTESTED if planning.problem.fair is None else laws.FS_HOLDS_CONTESTED
    return queue, priority, LawInWords.with_text(law, text)


class KueueInquiry(clash.KueueExplainer):
    """One pending workload of Kueue with its optimal plan, to ask questions about."""

    clashes = Clash
    settled = staticmethod(settled)
    shortfalls = staticmethod(clash.shortfalls)
    helpful = staticmethod(clash.helpful)
    prepare = staticmethod(prepare)
    excluded_by = staticmethod(excluded_by)

    def started(self, state: AnyState, given: Given, profile: Profile) -> Planning:
        """Make the workload ready for planning by Kueue's own rules; no others are explained."""
        check(given)
        planning = super().started(state, given, profile)
        if given.rules is not None:
            raise InputError("rules", "only Kueue's own are explained", hint="leave them out")
        return as_asked(planning, profile)

    def planned(self, change: str) -> Planning:
        """Make the workload ready in a changed state, in which flavors may have other modes."""
        if (flavors := self._given.assignment) is not None:
            self._given = replace(self._given, assignment=without_modes(parse_assignment(flavors)))
        return super().planned(change)

    def key_named(self, name: str) -> str:
        """Return the key of a workload of the dump."""
        state = self.planning.state
        holding = state.workloads.columns.key[state.workloads.columns.holds_quota].tolist()
        key = key_of(state, name, holding)
        if state.workloads.find(key) is not None:
            return key
        shown = ", ".join(holding[:10]) or "there are none"
        found, expected = f"there is no workload {name}", f"one of those that hold quota: {shown}"
        raise LookupFailed(state.source, found, expected, did_you_mean(name, holding))

    def seen(self, key: str) -> Standing:
        """Return how the rules see a workload of the dump."""
        planning, position, described = self.planning, self.positions.get(key), None
        excluded: tuple[LawInWords, ...] = ()
        if position is None:
            queue, priority, law = _outside(planning, key)
        else:
            admitted = planning.problem.workloads[position]
            queue, priority = planning.case.snapshot.queue_name(admitted.queue), admitted.priority
            excluded = tuple(excluding(planning, position))
            if not excluded:
                (described,) = planning.describe_in_order([position])
            reason = described.reason if described else ""
            law = excluded[0] if excluded else permitted_by(planning, position, reason)
        return Standing(
            workload=key,
            cluster_queue=queue,
            priority=priority,
            candidate=described is not None,
            law=law,
            others=excluded[1:],
            reason=described.reason if described else "",
            position=described.position if described else None,
            candidates=int(planning.candidates.sum()),
            usage=described.usage if described else (),
        )

    @property
    def clashing(self) -> Clashing:
        """The laws that can be dropped; none where no flavor can be assigned."""
        problem = self.planning.problem
        return (
            clash.laws_of(problem) if self.searched else (),
            partial(clash.stated, problem),
            lambda law: LawInWords.said(law, OF_PROBLEM, problem),
        )

    def explanation(
        self, text: str, standings: tuple[Any, ...], found: Mapping[str, Any]
    ) -> Explanation:
        """Put an answer together; it also says what keeps Kueue from reaching the preemptor."""
        plan, case = self.plan, self.planning.case
        ahead, reason = who_is_in_the_way(case, self.deadline), case.held_back
        if ahead is not None:
            text = f"{text}. {way_in_words(case, ahead)}"
        elif reason is not None and reason.text not in text:
            text = led_by(hold_in_words(plan.preemptor, reason), text, plan)
        text += self._going_anyway(standings)
        nodes = on_nodes(case, plan, self.deadline)
        flavors = case.assignment
        # Flavors for all podsets, and NoFit: the plan says what even empty nodes lack.
        told = flavors.mode == "NoFit" and len(flavors.pod_sets) == len(case.preemptor.pod_sets)
        return Explanation(
            rules="kueue-classical" if case.problem.fair is None else "kueue-fair",
            answer=text if nodes is None else f"{text}{in_short(nodes, of_empty=not told)}",
            cluster_queue=plan.cluster_queue,
            workloads=standings,
            nodes=nodes,
            eviction=self._eviction(),
            **found,
        )

    def _going_anyway(self, standings: Iterable[Standing]) -> str:
        """Name those of some workloads that go whatever is decided; empty if none does."""
        places = (self.positions.get(one.workload) for one in standings)
        holders = self.planning.problem.workloads
        found = [
            holders[place].key for place in places if place is not None and holders[place].leaving
        ]
        if not found:
            return ""
        are = "is" if len(found) == 1 else "are"
        goes = "it goes anyway, and costs" if len(found) == 1 else "they go anyway, and cost"
        named = name_some(found, MOST_NAMED)
        return f". {named} {are} being evicted or deleted already: {goes} nothing more"

    def _eviction(self) -> PastEviction | None:
        """Return the last eviction of the workload itself; ``None`` if it was never evicted."""
        case, workload = self.planning.case, self.planning.case.preemptor.workload
        if workload.condition("Evicted") is None:
            return None
        # Few workloads were evicted, and this imports an inquiry itself.
        from planner.commands.explain.kueue.needed import was_needed  # noqa: PLC0415
        from planner.commands.explain.kueue.past import past_of  # noqa: PLC0415

        return past_of(case.state, workload, case.problem.rules, partial(was_needed, self))

    def plan_of(self, victims: Sequence[int], *, proved: bool) -> Plan:
        """Return victims as a plan that the verifier accepted."""
        planning, positions = self.planning, self.planning.in_candidate_order(victims)
        found: Conclusion[Plan] = Conclusion(
            "optimal" if proved else "feasible",
            objective=self.profile.name,
            terms=planning.table.evaluate(positions),
        )
        described, attempt = planning.describe_in_order(positions), planning.attempt_of(positions)
        return planning.accepted(planning.plan(found, described, borrowing=attempt))
