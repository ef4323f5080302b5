"""Kueue's laws: those that exclude single workloads, those that tie victims together, the model.

Laws that exclude are masks, (W,), True where the law forbids the workload. No mask depends on which
other workloads are victims, so excluded workloads get no variable. Laws that tie victims together
are one function each, over a formulation. All ids and sources are in planner/laws/kueue.py.

Shares are compared in exact integers here, where Kueue compares doubles. Where rounding could
decide otherwise, the model permits the set: the verifier judges the solver's answers in doubles,
and a set that fails there is cut off (docs/design/theory.md §2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from math import gcd
from typing import Final

import numpy as np

from planner.laws import RULE_SETS, Law, Register, kueue
from planner.models.kueue.formulation import Columns, Formulation, TreeUsage
from planner.models.kueue.places import room
from planner.models.shared.builder import ZERO, Builder, Linear, constant, negation
from planner.models.shared.classes import in_force
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quantity import UNLIMITED
from planner.quota.kueue.amount import saturating_add, subtract

Exclusion = Callable[[Problem], BoolArray]

EXCLUSIONS: Final[Register[Exclusion]] = Register()
"""By law id: the function that returns which workloads the law forbids by itself, (W,)."""

ATTEMPTS: Final[Register[Callable[[Problem, BoolArray], tuple[bool, ...]]]] = Register()
"""By law id: the function that returns the attempts it permits, given whom no law excludes."""


@EXCLUSIONS.of(kueue.KQ_HOLDS_CONTESTED, kueue.FS_HOLDS_CONTESTED)
def holds_contested_quota(problem: Problem) -> BoolArray:
    """KQ-03, FS-02: forbid workloads that name no contested flavor-resource.

    Only workloads of active queues in the preemptor's tree are in the problem at all.

    Source: kueue ff69552e candidate_generator.go ``WorkloadUsesResources``.
    """
    return ~problem.names_contested


@EXCLUSIONS.of(kueue.KQ_WITHIN_CLUSTER_QUEUE, kueue.FS_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(problem: Problem) -> BoolArray:
    """KQ-04, FS-03: forbid workloads of the own queue that ``withinClusterQueue`` does not permit.

    Never forbids all of them. LowerPriority forbids priorities >= the preemptor's.
    LowerOrNewerEqualPriority forbids higher priorities, and equal ones unless the preemptor
    queued strictly earlier.

    Source: kueue ff69552e preemption_policy.go.
    """
    higher = problem.priority > problem.preemptor_priority
    equal = problem.priority == problem.preemptor_priority
    match problem.policy.within_cluster_queue:
        case "Never" | "":
            forbidden = np.ones_like(higher)
        case "LowerPriority":
            forbidden = higher | equal
        case "LowerOrNewerEqualPriority":
            forbidden = higher | (equal & ~problem.queued_later)
    return forbidden & problem.from_own_queue


@EXCLUSIONS.of(kueue.KQ_RECLAIM, kueue.FS_RECLAIM)
def reclaim_within_cohort(problem: Problem) -> BoolArray:
    """KQ-05, FS-04: forbid workloads of other queues that ``reclaimWithinCohort`` does not permit.

    Never forbids all of them, LowerPriority priorities >= the preemptor's, Any none.

    Source: kueue ff69552e preemption_policy.go.
    """
    match problem.policy.reclaim_within_cohort:
        case "Never" | "":
            forbidden = np.ones_like(problem.names_contested)
        case "LowerPriority":
            forbidden = problem.priority >= problem.preemptor_priority
        case "Any":
            forbidden = np.zeros_like(problem.names_contested)
    return forbidden & ~problem.from_own_queue


@EXCLUSIONS.of(kueue.FS_BORROWS_CONTESTED)
def borrows_contested_quota(problem: Problem) -> BoolArray:
    """FS-05: forbid workloads of other queues that borrow nothing contested to begin with.

    Source: kueue ff69552e preemption.go ``findCandidates``.
    """
    nodes = range(len(problem.parent))
    borrows = np.array([_is_over(problem, n, problem.contested) for n in nodes])
    return ~borrows[problem.queue] & ~problem.from_own_queue


def exclusions(problem: Problem) -> Sequence[tuple[Law, Exclusion]]:
    """Return the laws in force that exclude single workloads, in order, each with its function."""
    rules = RULE_SETS[problem.rules]
    return [(law, EXCLUSIONS[law.id]) for law in rules if law.id in EXCLUSIONS]


def eligible(problem: Problem, without: Collection[str] = ()) -> BoolArray:
    """Return the workloads no law excludes: (W,); laws whose id is in ``without`` are dropped.

    Workloads of other queues are left out too where their queue, or a cohort below the lowest
    common ancestor, is not over its quota to begin with: KQ-07 or FS-06 could never hold for
    them.
    """
    allowed = np.ones(len(problem.workloads), dtype=bool)
    for forbids in in_force(EXCLUSIONS, RULE_SETS[problem.rules], without):
        allowed &= ~forbids(problem)
    # These two laws imply this; a model without one of them must admit what breaks it.
    if not {kueue.KQ_OVER_QUOTA.id, kueue.FS_BORROWING.id}.intersection(without):
        # Per node, whether it and all nodes up to its LCA exceed their quota: in a contested fr
        # under classical preemption, in any fr that shares count under fair sharing.
        fair, over = problem.fair, list[bool]()
        for node, above in enumerate(problem.parent):  # parents come before their children
            watched = problem.contested if fair is None else fair.known[node]
            own = _is_over(problem, node, watched)
            over.append(node in problem.path or (own and over[above]))
        allowed &= np.array(over)[problem.queue] | problem.from_own_queue
    return allowed


def restricted_while_borrowing(problem: Problem) -> BoolArray:
    """Return which workloads an attempt with borrowing may not take: (W,), law KQ-06.

    They are the workloads of other queues without hierarchical advantage, unless
    ``borrowWithinCohort`` is on and their priority is lower than the preemptor's and at most
    maxPriorityThreshold. Under fair sharing there are none.

    Source: kueue ff69552e hierarchical_preemption.go ``classifyPreemptionVariant``.
    """
    borrow = problem.policy.borrow_within_cohort
    if problem.fair is not None:
        return np.zeros(len(problem.workloads), dtype=bool)
    forbidden = problem.priority >= problem.preemptor_priority
    if borrow.policy == "Never":
        forbidden = np.ones_like(forbidden)
    elif borrow.max_priority_threshold is not None:
        forbidden |= problem.priority > borrow.max_priority_threshold
    return forbidden & ~problem.from_own_queue & ~problem.has_advantage


@ATTEMPTS.of(kueue.KQ_ATTEMPT)
def attempts(problem: Problem, allowed: BoolArray) -> tuple[bool, ...]:
    """KQ-08: return the attempts Kueue would make; an attempt is whether it may borrow.

    Under fair sharing there is one, and it may.

    Source: kueue ff69552e preemption.go ``classicalPreemptions``; docs/semantics/kueue.md §5.5.
    """
    if problem.fair is not None:
        return (True,)
    queue = problem.own_queue
    # As Kueue counts them: the candidates before any removal, whoever is a victim in the end.
    others = allowed & ~problem.from_own_queue
    forbidden = problem.policy.borrow_within_cohort.policy == "Never"
    under_nominal = all(
        problem.usage[queue][fr] < problem.quota[queue][fr] for fr in problem.contested
    )
    if not others.any() or (forbidden and not under_nominal):
        return (True,)
    if forbidden and not (others & problem.has_advantage).any():
        return (False, True)
    return (True, False)


def reasons(problem: Problem) -> list[str]:
    """Return the reason code Kueue would give each workload as a victim: (W,)."""
    if problem.fair is not None:
        of_others = "InCohortReclamation" if problem.fair.within_nominal else "InCohortFairSharing"
        which = 1 - problem.from_own_queue
    else:
        of_others = "InCohortReclaimWhileBorrowing"
        reclaimed = problem.has_advantage | restricted_while_borrowing(problem)
        which = np.where(problem.from_own_queue, 0, 1 + reclaimed)
    codes = np.array(["InClusterQueue", of_others, "InCohortReclamation"], dtype=object)
    found: list[str] = codes[which].tolist()
    return found


def _is_over(problem: Problem, node: int, frs: Iterable[int]) -> bool:
    used, quota = problem.usage[node], problem.quota[node]
    return any(used[fr] > quota[fr] for fr in frs)


STATED: Final[Register[Callable[[Formulation], None]]] = Register()
"""How a law is stated over a formulation, by the law's id."""

STATED.of(kueue.KT_ROOM)(room)


@STATED.of(kueue.KQ_FITS, kueue.FS_FITS)
def fits(formulation: Formulation) -> None:
    """KQ-01, FS-01: every requested flavor-resource is available after the removals.

    With n0 the preemptor's queue and n1, n2, ... the cohorts above it, and need_0 the request:

        need_(i+1) = need_i - local_free(n_i)
        need_(i+1) <= (subtree - kept - stored)(n_i) + borrowingLimit(n_i)   where there is one
        usage(root) + need_root <= subtree(root)

    which unrolls ``request <= available(queue)``. Unlimited quotas bind nothing.

    Source: kueue ff69552e resource_node.go ``available``, preemption.go ``workloadFits``.
    """
    problem, usage = formulation.problem, formulation.usage
    for fr in problem.needed:
        for row, most in fit_rows(problem, usage, fr, problem.request[fr]):
            formulation.builder.add(row <= most)


def fit_rows(
    problem: Problem, usage: TreeUsage, fr: int, amount: int
) -> Iterator[tuple[Linear, int]]:
    """Yield expressions and upper bounds: if all are kept, an amount is available at the queue.

    There are none from a node of the path on that keeps an unlimited quota for itself.
    """
    need = constant(amount)
    for node in problem.path[:-1]:
        kept, limit = problem.kept[node][fr], problem.limit[node][fr]
        if kept == UNLIMITED:
            return
        # What the node keeps for itself serves first; the parent has to serve the rest.
        need = need - usage.local_free(node, fr)
        lendable = subtract(problem.quota[node][fr], kept)
        cap = UNLIMITED if limit is None else saturating_add(lendable, limit)
        if UNLIMITED not in {cap, lendable}:
            yield need + usage.stored(node, fr), cap
    # A borrowing limit at the root means nothing: it has nobody to borrow from.
    root = problem.path[-1]
    if problem.quota[root][fr] != UNLIMITED:
        yield need + usage.after(root, fr), problem.quota[root][fr]


@STATED.of(kueue.KQ_WITHOUT_BORROWING)
def without_borrowing(formulation: Formulation) -> None:
    """KQ-02: an attempt without borrowing ends with usage + request <= nominal of the queue.

    Source: kueue ff69552e preemption.go ``workloadFits``.
    """
    problem = formulation.problem
    keep_nominal(formulation, {fr: problem.searched[fr] for fr in problem.within_nominal})


def keep_nominal(formulation: Formulation, asked: Mapping[int, int]) -> None:
    """State that the own queue keeps its nominal quota, unless the attempt borrows.

    ``asked`` is the request by fr, which counts on top of the usage.
    """
    queue, without = formulation.problem.own_queue, [negation(formulation.borrowing)]
    for fr, amount in asked.items():
        nominal = formulation.problem.quota[queue][fr]
        if nominal != UNLIMITED:
            formulation.builder.add(formulation.usage.after(queue, fr) + amount <= nominal, without)


@STATED.of(kueue.KQ_BORROW_WITHIN_COHORT)
def borrow_within_cohort(formulation: Formulation) -> None:
    """KQ-06: an attempt with borrowing takes no victim that only one without may take.

    Source: kueue ff69552e candidate_generator.go ``candidateIsValid``.
    """
    restricted = compress(formulation.take, formulation.columns.restricted.tolist())
    none = Linear(dict.fromkeys(restricted, 1)) <= 0
    formulation.builder.add(none, when=[formulation.borrowing])


@STATED.of(kueue.KQ_OVER_QUOTA)
def over_quota_until_last_victim(formulation: Formulation) -> None:
    """KQ-07: every touched node below its LCA has a last victim that finds it over quota.

    With w(n) the usage of a side node n with its last victim put back:

        touched(n)  =>  w(n, fr) >= subtree(n, fr) + 1   for some contested fr.

    Source: kueue ff69552e candidate_generator.go ``candidateIsValid``; docs/design/theory.md §2.2.
    """
    for node in formulation.side_nodes():
        formulation.require_over_quota(node, formulation.problem.contested)


_EXACT_IN_DOUBLES = 2**49
"""Different integers below it still differ as doubles, even after a few roundings."""

_LARGEST = 2**59

Excess = Mapping[str, Linear]
"""Per resource, how much a node uses beyond its quota, summed over flavors."""


@STATED.of(kueue.FS_BORROWING)
def borrowing_until_last_victim(formulation: Formulation) -> None:
    """FS-06: every touched node below its LCA has a last victim that finds it borrowing.

    As KQ-07, but in any flavor-resource that has a quota entry at the node or below.

    Source: kueue ff69552e fairsharing/ordering.go ``nextTarget``; docs/design/theory.md §2.3.
    """
    for node in formulation.side_nodes():
        formulation.require_over_quota(node, formulation.fair.known[node])


@STATED.of(kueue.FS_SHARES)
def shares(formulation: Formulation) -> None:
    """FS-07: below the LCA, the preemptor's side is no more unfair than the victim's.

    For every touched child a of a path cohort A, with b the child of A on the path, all usages
    with the request counted, and a' the child a with its last victim put back:

        share(b) <= share(a)    where LessThanOrEqualToFinalShare is configured, or
        share(b) <  share(a')   where LessThanInitialShare is.

    Source: kueue ff69552e fairsharing/strategy.go; docs/design/theory.md §2.3.
    """
    fair, problem = formulation.fair, formulation.problem
    if fair.within_nominal:
        return
    for side in formulation.side_nodes():
        above = problem.parent[side]
        if above in problem.path:
            mine = problem.path[problem.path.index(above) - 1]
            _Comparison(formulation, above, mine, side).state(formulation.touched(side))


class _Comparison:
    """A comparison of the shares of two children of a cohort: the preemptor's and the victim's."""

    def __init__(self, formulation: Formulation, above: int, mine: int, theirs: int) -> None:
        self.formulation = formulation
        self.builder: Builder = formulation.builder
        self.fair = formulation.fair
        self.lendable = {r: n for r, n in self.fair.lendable[above].items() if n > 0}
        self.mine, self.theirs = mine, theirs
        weight = self.fair.weight_nano
        # Weights count by their ratio only; in lowest terms the products below stay small.
        unit = gcd(weight[mine], weight[theirs]) or 1
        self.my_weight, self.their_weight = weight[mine] // unit, weight[theirs] // unit

    def state(self, touched: int) -> None:
        """Require that a configured strategy holds if the victim's side is touched."""
        formulation = self.formulation
        mine = self._excess(self.mine, formulation.usage_with_request.after)
        options = []
        if "LessThanOrEqualToFinalShare" in self.fair.strategies:
            after = self._excess(self.theirs, formulation.usage.after)
            options.append(self._option(mine, after, strict=False))
        if "LessThanInitialShare" in self.fair.strategies:
            before = self._excess(self.theirs, formulation.with_last)
            options.append(self._option(mine, before, strict=True))
        self.builder.any_of([*options, negation(touched)])

    def _excess(self, node: int, usage: Callable[[int, int], Linear]) -> Excess:
        problem = self.formulation.problem
        excess: dict[str, Linear] = {}
        for fr in self.fair.known[node]:
            resource = problem.frs[fr].resource
            # A resource that cannot be lent has no ratio: it has no part in a share.
            if resource in self.lendable:
                over = usage(node, fr) - problem.quota[node][fr]
                part = self.builder.positive_part(over)
                excess[resource] = excess.get(resource, ZERO) + part
        return excess

    def _option(self, mine: Excess, theirs: Excess, *, strict: bool) -> int:
        """Return a literal that implies share(mine) <= share(theirs), or < if strict."""
        builder = self.builder
        option = builder.new_bool()
        # A share of 0 is above no other; if only our side has weight 0, this is the only way.
        witnesses = [] if strict else [self._nothing_borrowed(mine)]
        if self.my_weight == 0 and self.their_weight > 0:
            if strict:
                witnesses.append(self._nothing_borrowed(mine))
                builder.any_of(self._borrowed(theirs), when=witnesses)
        elif self.my_weight > 0 and self.their_weight == 0:
            witnesses += self._borrowed(theirs)  # infinite, above anything finite
        else:
            witnesses += [
                self._dominated(mine, resource, excess, strict=strict)
                for resource, excess in theirs.items()
            ]
        builder.any_of([*witnesses, negation(option)])
        return option

    def _nothing_borrowed(self, excess: Excess) -> int:
        witness = self.builder.new_bool()
        for part in excess.values():
            self.builder.add(part <= 0, when=[witness])
        return witness

    def _borrowed(self, excess: Excess) -> list[int]:
        witnesses = [self.builder.new_bool() for _ in excess]
        for part, witness in zip(excess.values(), witnesses, strict=True):
            self.builder.add(part >= 1, when=[witness])
        return witnesses

    def _dominated(self, mine: Excess, resource: str, theirs: Linear, *, strict: bool) -> int:
        """Return a literal: if true, no ratio of mine is above theirs of this resource."""
        builder, witness = self.builder, self.builder.new_bool()
        # Otherwise 0 < 0 would pass where the preemptor's side can borrow nothing.
        if strict:
            builder.add(theirs >= 1, when=[witness])
        # Two sides of weight 0 that both borrow are compared without weights.
        both_zero = self.my_weight == 0 and self.their_weight == 0
        for own, excess in mine.items():
            # excess / (lendable * weight) <= theirs / (lendable * weight), cross-multiplied.
            left = self.lendable[resource] * (1 if both_zero else self.their_weight)
            right = self.lendable[own] * (1 if both_zero else self.my_weight)
            unit = gcd(left, right)
            left, right = left // unit, right // unit
            largest = max(left * builder.bounds(excess)[1], right * builder.bounds(theirs)[1])
            exact = self.my_weight == self.their_weight and largest < _EXACT_IN_DOUBLES
            shift = max(0, largest.bit_length() - _LARGEST.bit_length())
            # Our factor is rounded down and theirs up: the row only permits more sets.
            left, right = left >> shift, -(-right >> shift)
            slack = 0 if exact else (largest >> shift) // _EXACT_IN_DOUBLES + 1
            most = -1 if strict and exact else slack
            builder.add(left * excess - right * theirs <= most, when=[witness])
        return witness


def assemble(
    problem: Problem, columns: Columns, attempts: Sequence[bool], without: Collection[str] = ()
) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    ``attempts`` are those that law KQ-08 permits.
    """
    formulation = Formulation.begun(problem, columns, attempts)
    state_laws(formulation, without)
    return formulation


def state_laws(formulation: Formulation, without: Collection[str] = ()) -> None:
    """State the laws in force that tie victims together, in the order of their rule set."""
    # Laws of placement are a rule set of their own, on top of either set of quota rules.
    for rules in (formulation.problem.rules, "topology"):
        for state in in_force(STATED, RULE_SETS[rules], without):
            state(formulation)
