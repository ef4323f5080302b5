"""Flavor assignment: which flavor each podset would get, and whether it fits there.

Source: docs/semantics/kueue.md §4.1 to §4.4 and §4.7; kueue ff69552e
pkg/scheduler/flavorassigner/flavorassigner.go and
pkg/scheduler/preemption/preemption_oracle.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from planner.quota.kueue.assignment import Assignment, FlavorChoice, Mode, PodSetFlavors, worst
from planner.quota.kueue.preemptor import Replaced, replaced_by
from planner.quota.kueue.request import PodSetRequest, in_kueues_order
from planner.quota.kueue.selector import InvalidSelectorError
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import Usage
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.context import LAST, Assigned, Context, Search, Tried
from planner.reference.kueue.eligibility import (
    BEST,
    WORST,
    Attempts,
    NoFitReason,
    Offer,
    Possibility,
    Taste,
    is_preferred,
    kubernetes_amount,
    most_severe,
    taste_of,
    tries_next,
    why_ineligible,
)
from planner.reference.kueue.fair_sharing import search
from planner.reference.kueue.topology.assigning import PlaceTest, Placing, why_unsuited
from planner.state.queues import FlavorQuotas, ResourceGroup


class _Choice(NamedTuple):
    flavor: str
    possibility: Possibility
    level: int


@dataclass(slots=True)
class _GroupResult:
    """Flavors by resource; ``fits`` says that the offer taken is Fit, with no reason against it.

    ``tried`` has, per resource, the place of the flavor at which the walk stopped, from 0; -1
    means the last flavor. ``against`` are the reasons against a fit, in Kueue's words.
    """

    choices: dict[str, _Choice]
    fits: bool
    tried: dict[str, int] = field(default_factory=dict)
    against: list[str] = field(default_factory=list)


@dataclass(slots=True)
class FlavorAssigner:
    """Assigns flavors to one preemptor on one snapshot; ``usage`` is left as it was.

    ``nominated`` restricts the walks to the flavors of an earlier assignment (§7.4).
    With ``tried`` they go on behind the flavors at which the walks of an earlier cycle stopped.
    """

    snapshot: Snapshot
    usage: Usage
    preemptor: Preemptor
    nominated: Assignment | None = None
    tried: Tried = ()
    chance: Chance = field(default_factory=Chance)
    replaced: Replaced | None = field(init=False)
    placing: Placing | None = field(init=False)
    _assumed: dict[int, int] = field(default_factory=dict, init=False)
    _attempts: Attempts = field(default_factory=Attempts, init=False)
    _searches: dict[tuple[object, ...], Search] = field(default_factory=dict, init=False)
    _against: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.replaced = replaced_by(self.snapshot, self.preemptor)
        self.placing = Placing.of_preemptor(self.snapshot, self.preemptor, self.chance)

    def assign(self, counts: Sequence[int] | None = None) -> Assigned:
        """Assign flavors to all podsets, at the given pod counts or their own.

        Assignment stops at the first podset that fails; later ones then have no entry.
        """
        self._assumed, exact = {}, self.snapshot.tree.arithmetic
        done: list[PodSetFlavors] = []
        modes: list[Mode] = []
        tried: list[Mapping[str, int]] = []
        level, reasons, failed = 0, [NoFitReason.NONE], False
        messages: dict[str, str] = {}
        attempts: dict[str, Attempts] = {}
        for group in self.groups(counts):
            result, failed = self._assign_group(group)
            attempts |= dict.fromkeys((request.name for request in group), self._attempts)
            for request in group:
                choices = {
                    name: result.choices[name] for name in request.totals if name in result.choices
                }
                # Taken before flavors that the group lends: those place pods, and cost no quota.
                own = tuple(choices.items())
                if not request.totals and request.pod_set.group and self.snapshot.topologies.on:
                    placing = self.snapshot.topologies.flavors
                    shared = result.choices.items()
                    choices = {name: choice for name, choice in shared if choice.flavor in placing}
                for name, choice in own:
                    fr, amount = self.snapshot.fr(choice.flavor, name), request.totals[name]
                    if self.replaced and self.snapshot.configuration.rules.counts_slices_once:
                        amount = exact.subtract(amount, self.replaced.named(request.name, name))
                    self._assumed[fr] = exact.add(self._assumed.get(fr, 0), amount)
                    level = max(level, choice.level)
                tried.append({name: result.tried[name] for name in choices})
                flavors = {
                    name: FlavorChoice(flavor=choice.flavor, mode=choice.possibility.mode)
                    for name, choice in choices.items()
                }
                done.append(PodSetFlavors(name=request.name, count=request.count, flavors=flavors))
                # ``fits`` goes first: with PreemptionOverBorrowing a group may count as fitting
                # while one of its resources has to preempt. Kueue says Fit then (§4.1, point 6).
                shown: Iterator[Mode] = (one.possibility.mode for one in choices.values())
                modes.append("Fit" if result.fits else worst(shown) if choices else "NoFit")
                if modes[-1] == "NoFit":
                    reasons.append(self._attempts.reason())
                # All requests skipped: Kueue stops, with the mode of the podsets so far (§4.1).
                failed = failed or bool(request.totals and not choices)
                if result.against:
                    messages[request.name] = ", ".join(sorted(result.against))
            if failed:
                break
        mode: Mode = worst(iter(modes)) if done else "NoFit"
        assignment = Assignment(mode=mode, borrowing=level, pod_sets=tuple(done))
        severest = most_severe(reasons).value
        assigned = Assigned(assignment, self._assumed, tuple(tried), severest, _said(messages))
        # Where assignment stopped early, Kueue does not look at nodes, not even for a Fit.
        if self.placing is None or failed or mode == "NoFit":
            return assigned
        return self._placed(self.placing, assigned, messages, attempts)

    def _placed(
        self,
        placing: Placing,
        assigned: Assigned,
        messages: Mapping[str, str],
        attempts: Mapping[str, Attempts],
    ) -> Assigned:
        """Place the podsets of an assignment that quota does not forbid."""
        before = assigned.assignment
        settled = placing.settle(before.pod_sets, before.mode, messages)
        reasons = (self._why_unplaced(attempts[name], f) for name, f in settled.unplaced.items())
        pod_sets = tuple(settled.pod_sets)
        return replace(
            assigned,
            assignment=before.model_copy(update={"mode": settled.mode, "pod_sets": pod_sets}),
            reason=most_severe(reasons).value,
            message=settled.failed or _said({**messages, **settled.against}),
            placements=settled.placements,
            delayed=settled.delayed,
        )

    def groups(self, counts: Sequence[int] | None = None) -> list[list[PodSetRequest]]:
        """Scale the podsets, add their request for ``pods``, and list them by podset group."""
        covers_pods = self.covering("pods") is not None
        groups: dict[str, list[PodSetRequest]] = {}
        for position, base in enumerate(self.preemptor.pod_sets):
            request = base if counts is None else base.scaled(counts[position])
            if covers_pods:
                totals = {**request.totals, "pods": request.count}
                request = replace(request, totals=totals)
            # A podset without a group is a group of its own; names hold no slash.
            key = request.pod_set.group or f"/{position}"
            groups.setdefault(key, []).append(request)
        return list(groups.values())

    def covering(self, resource: str) -> ResourceGroup | None:
        """Return the resource group of the preemptor's queue that covers a resource."""
        groups = self.snapshot.queues[self.preemptor.queue].spec.resource_groups
        return next((one for one in groups if resource in one.covered_resources), None)

    def _why_unplaced(self, attempts: Attempts, flavor: str | None) -> NoFitReason:
        """Return why a podset without a place is no fit; ``flavor`` is the one it has no place in.

        Flavors that were no fit before another one was taken count, too.
        """
        for group in self.snapshot.queues[self.preemptor.queue].spec.resource_groups:
            if flavor in {each.name for each in group.flavors}:
                attempts.add(group, NoFitReason.TOPOLOGY_PLACEMENT_FAILED)
        return attempts.reason()

    @property
    def taste(self) -> Taste:
        """What decides between two offers in the preemptor's queue."""
        spec = self.snapshot.queues[self.preemptor.queue].spec
        return taste_of(spec.flavor_fungibility, self.snapshot.configuration)

    def _assign_group(self, group: Sequence[PodSetRequest]) -> tuple[_GroupResult, bool]:
        """Choose flavors for podsets that are handled together; say also whether that failed."""
        requests = joined(group)
        chosen = _GroupResult({}, fits=True)
        self._attempts = Attempts()
        for resource in in_kueues_order(requests):
            amount, covering = requests[resource], self.covering(resource)
            if covering is None:
                if self.skips(amount):
                    continue
                against = [f"resource {resource} unavailable in ClusterQueue"]
                return _GroupResult({}, fits=False, against=against), True
            # All resources of a resource group get one flavor: an earlier resource chose it.
            if resource in chosen.choices:
                continue
            self._against = []
            found = self._choose_flavor(group, covering, requests, resource)
            if found is None:
                return _GroupResult({}, fits=False, against=self._against), True
            chosen.choices |= found.choices
            chosen.against += found.against
            chosen.tried |= found.tried
            chosen.fits = chosen.fits and found.fits
        return chosen, False

    def skips(self, amount: int) -> bool:
        """Say whether an amount of a resource that no resource group covers is skipped."""
        configuration = self.snapshot.configuration
        return (amount == 0 and configuration.rules.skips_undeclared_zero) or (
            configuration.gate("QuotaCheckStrategy")
            and configuration.resources.quota_check_strategy == "IgnoreUndeclared"
        )

    def _choose_flavor(
        self,
        group: Sequence[PodSetRequest],
        covering: ResourceGroup,
        requests: Mapping[str, int],
        resource: str,
    ) -> _GroupResult | None:
        """Walk the flavors of a resource group; ``None`` if no offer is better than NO_FIT (§4.2).

        Where a walk for the resource stopped in an earlier cycle, this one begins behind it.
        """
        asked = {name: n for name, n in requests.items() if name in covering.covered_resources}
        wanted = self.lacking(group, asked)
        fungibility = self.snapshot.queues[self.preemptor.queue].spec.flavor_fungibility
        taste = self.taste
        gate_on = self.snapshot.configuration.gate("FlavorFungibility")
        best, best_offer = None, WORST
        # Without the gate Kueue never notes that a walk came to its end.
        place = LAST if gate_on else 0
        position = self.places(group)[0]
        tried = self.tried[position] if gate_on and position < len(self.tried) else {}
        # LAST is -1, so that a walk that ended begins anew with the first flavor.
        flavors = covering.flavors[tried.get(resource, LAST) + 1 :]
        try:
            for flavor, choices, offer in self._walk(group, covering, wanted, flavors):
                if not gate_on:
                    if offer.possibility > best_offer.possibility:
                        best, best_offer = choices, offer
                        if offer.possibility is Possibility.FIT:
                            break
                # This flavor wins even if an earlier flavor was preferred: the walk ends with it.
                elif not tries_next(offer, fungibility):
                    best, best_offer = choices, offer
                    # At the last flavor nothing is left to try, as after a whole walk.
                    names = [each.name for each in covering.flavors]
                    place = names.index(flavor) if flavor != names[-1] else LAST
                    break
                elif is_preferred(offer, best_offer, taste):
                    best, best_offer = choices, offer
        # A bad selector fails the podset, even where an earlier flavor was good (§4.2).
        except InvalidSelectorError:
            return None
        if best is None:
            return None
        fits = best_offer.possibility is Possibility.FIT
        against = [] if fits else self._against
        return _GroupResult(best, fits, dict.fromkeys(best, place), against)

    def lacking(
        self, group: Sequence[PodSetRequest], requests: Mapping[str, int]
    ) -> Mapping[str, int]:
        """Return what podsets ask for beyond what the slice that they replace holds, if any."""
        if self.replaced is None:
            return requests
        places = self.places(group)
        return {
            name: self.replaced.beyond(places, name, amount) for name, amount in requests.items()
        }

    def places(self, group: Sequence[PodSetRequest]) -> list[int]:
        """Return the places of podsets in the spec."""
        names = [request.name for request in self.preemptor.pod_sets]
        return [names.index(request.name) for request in group]

    def keeps_flavors(
        self, group: Sequence[PodSetRequest], flavor: str, resources: Iterable[str]
    ) -> bool:
        """Say whether the slice that podsets replace has this flavor; true if they replace none.

        A resource for which the old slice has no flavor matches no flavor.
        """
        if self.replaced is None:
            return True
        held = [self.replaced.at(place).flavors for place in self.places(group)]
        return all(had.get(name) == flavor for name in resources for had in held)

    def _walk(
        self,
        group: Sequence[PodSetRequest],
        covering: ResourceGroup,
        wanted: Mapping[str, int],
        flavors: Sequence[FlavorQuotas],
    ) -> Iterator[tuple[str, dict[str, _Choice], Offer]]:
        """Yield the offer of each flavor that the podsets may use, and note why it is no fit."""
        names = {request.name for request in group}
        nominated = {
            choice.flavor
            for pods in (self.nominated.pod_sets if self.nominated else ())
            for resource, choice in pods.flavors.items()
            if pods.name in names and resource in wanted
        }
        for flavor in flavors:
            if self.nominated is not None and flavor.name not in nominated:
                continue
            if not self.allows(flavor.name):
                self._against.append(
                    f"skipping flavor {flavor.name} due to "
                    "WorkloadAllowedResourceFlavorAnnotation annotation"
                )
                continue
            try:
                ineligible = self.why_ineligible(group, flavor.name, covering)
            except InvalidSelectorError:
                self._attempts.add(covering, NoFitReason.NO_MATCHING_FLAVOR)
                raise
            if ineligible:
                self._against.append(ineligible)
                self._attempts.add(covering, NoFitReason.NO_MATCHING_FLAVOR)
                continue
            # Tested before the pin decides: Kueue writes down shortages of a refused flavor, too.
            pinned, tested = self._pinned(group, flavor.name, wanted)
            self._against += [*pinned, *self._shortages(flavor.name, tested)]
            if pinned:
                self._attempts.add(covering, NoFitReason.NO_MATCHING_FLAVOR)
                continue
            choices, offer = self._offer(flavor.name, wanted)
            why = None
            if offer.possibility is Possibility.NO_FIT:
                # The request exceeds what there could ever be, or only what there is now.
                beyond = any(value > most for _, _, value, most in self._asked(flavor.name, wanted))
                why = NoFitReason.EXCEEDS_MAX_QUOTA if beyond else NoFitReason.WAITING_FOR_QUOTA
            self._attempts.add(covering, why)
            yield flavor.name, choices, offer

    def _pinned(
        self, group: Sequence[PodSetRequest], flavor: str, wanted: Mapping[str, int]
    ) -> tuple[list[str], Mapping[str, int]]:
        """Return why podsets may not have a flavor, in Kueue's words, and the amounts it tests.

        A podset with another flavor before, and those behind it, get no credit for what they hold.
        """
        against, tested = list[str](), dict(wanted)
        if self.replaced is None:
            return against, tested
        places = self.places(group)
        for resource in wanted:
            had = [self.replaced.at(place).flavors.get(resource, "") for place in places]
            other = next((n for n, name in enumerate(had) if name != flavor), None)
            if other is not None:
                against.append(
                    f"could not assign {flavor} flavor since the original workload is assigned: "
                    f"{had[other]}"
                )
                for place in places[other:]:
                    held = self.replaced.at(place).amounts.get(resource, 0)
                    tested[resource] = self.snapshot.tree.arithmetic.add(tested[resource], held)
        return against, tested

    def _asked(
        self, flavor: str, wanted: Mapping[str, int]
    ) -> Iterator[tuple[str, int | None, int, int]]:
        """Yield per resource its fr, the request so far, and the most there could ever be."""
        tree = self.snapshot.tree
        for resource, amount in wanted.items():
            fr = self.snapshot.fr_or_none(flavor, resource)
            if fr is None:
                yield resource, fr, amount, 0
            else:
                value = tree.arithmetic.add_wanted(self._assumed.get(fr, 0), amount)
                yield resource, fr, value, tree.potential(self.preemptor.queue, fr)

    def _shortages(self, flavor: str, wanted: Mapping[str, int]) -> Iterator[str]:
        subtract = self.snapshot.tree.arithmetic.subtract
        for resource, fr, value, most in self._asked(flavor, wanted):
            if value > most:
                assumed = 0 if fr is None else self._assumed.get(fr, 0)
                amounts = (
                    kubernetes_amount(n, resource) for n in (assumed, wanted[resource], most)
                )
                before, own, capacity = amounts
                yield (
                    f"insufficient quota for {resource} in flavor {flavor}, previously considered "
                    f"podsets requests ({before}) + current podset request ({own}) > maximum "
                    f"capacity ({capacity})"
                )
            elif fr is not None:
                available = max(0, self.usage.available(self.preemptor.queue, fr))
                if value > available:
                    lack = kubernetes_amount(subtract(value, available), resource)
                    text = f"insufficient unused quota for {resource} in flavor {flavor}"
                    yield f"{text}, {lack} more needed"

    def allows(self, flavor: str) -> bool:
        """Say whether the workload may have a flavor: a variant allows only some flavors."""
        allowed = self.preemptor.workload.allowed_flavors
        gate_on = self.snapshot.configuration.gate("ConcurrentAdmission")
        return allowed is None or not gate_on or flavor in allowed

    def eligible(self, group: Sequence[PodSetRequest], name: str, covering: ResourceGroup) -> bool:
        """Say whether all podsets of a group may have a flavor, and run on its nodes (§4.2).

        ``covering`` is the flavor's resource group: older releases look at the label keys
        of all its flavors (switch 10 of planner/state/kueue_release.py).

        Raises `InvalidSelectorError` if the selector of a podset cannot be evaluated.
        """
        return self.allows(name) and not self.why_ineligible(group, name, covering)

    def why_ineligible(
        self, group: Sequence[PodSetRequest], name: str, covering: ResourceGroup
    ) -> str:
        """Say in Kueue's words why podsets may not run on a flavor's nodes; empty if they may.

        Raises `InvalidSelectorError` if the selector of a podset cannot be evaluated.
        """
        flavors = self.snapshot.flavors
        flavor = flavors.get(name)
        if flavor is None:
            return f"flavor {name} not found"
        keys: set[str] | None = None
        rules = self.snapshot.configuration.rules
        compares = rules.compares_tolerations
        if not rules.own_label_keys:
            known = [flavors[each.name] for each in covering.flavors if each.name in flavors]
            keys = {key for each in known for key in each.spec.node_labels}
        for request in group:
            pods = request.pod_set
            why = why_unsuited(self.snapshot, self.preemptor, pods, name, covering)
            why = why or why_ineligible(pods.template.spec, flavor, keys, compares=compares)
            if why:
                return why
        return ""

    def _offer(self, flavor: str, wanted: Mapping[str, int]) -> tuple[dict[str, _Choice], Offer]:
        """Return the choice per resource, and the flavor's least preferred offer (§4.3)."""
        taste, representative = self.taste, BEST
        choices = {}
        for resource, fr, value, _ in self._asked(flavor, wanted):
            if fr is None:  # covered, but listed without quota anywhere: nominal 0
                offer = Offer(Possibility.FIT if value <= 0 else Possibility.NO_FIT, 0)
            else:
                offer = self.offer_at_once(fr, value) or self._simulate(fr, value)
            if is_preferred(representative, offer, taste):
                representative = offer
            # One resource that cannot fit makes the flavor useless for the whole group.
            if representative.possibility is Possibility.NO_FIT:
                return {}, representative
            choices[resource] = _Choice(flavor, offer.possibility, offer.level)
        return choices, representative

    def offer_at_once(self, fr: int, value: int) -> Offer | None:
        """Return what a flavor-resource offers without evictions; ``None`` if there may be some.

        ``value`` is the amount asked for, with the assumed usage of earlier podsets.
        """
        queue, tree = self.preemptor.queue, self.snapshot.tree
        if value > tree.potential(queue, fr):
            return Offer(Possibility.NO_FIT, 0)
        level, may_reclaim = borrow_level(self.usage, queue, fr, value)
        if value <= max(0, self.usage.available(queue, fr)):
            return Offer(Possibility.FIT, level)
        preemption = self.snapshot.queues[queue].spec.preemption
        while_borrowing = preemption.borrow_within_cohort.policy != "Never" or (
            self.snapshot.configuration.fair_sharing_on
            and preemption.reclaim_within_cohort != "Never"
        )
        # The nominal quota alone counts, whatever the queue uses of it now.
        if tree.nominal(queue, fr) >= value or may_reclaim or while_borrowing:
            return None
        return Offer(Possibility.NO_FIT, level)

    def search(
        self, request: Mapping[int, int], frs: frozenset[int], places: PlaceTest | None = None
    ) -> Search:
        """Search targets for a request; ``places`` tests room on the nodes, where that matters.

        Without ``places`` no search is made twice, as nothing changes in between; except where
        amounts wrap around: there removing a workload and adding it again may change the usage.
        """
        key = (tuple(request.items()), frs)
        if places is None and key in self._searches and not self.usage.tree.arithmetic.wraps:
            return self._searches[key]
        context = self.snapshot, self.usage, self.preemptor, request, frs
        found = search(Context(*context, self.chance, places))
        if places is None:
            self._searches[key] = found
        return found

    def _simulate(self, fr: int, value: int) -> Offer:
        """Run the whole preemption search for this single flavor-resource (§4.7)."""
        queue = self.preemptor.queue
        found = self.search({fr: value}, frozenset({fr})).targets
        # The level counts with the targets removed: a smaller subtree may have room then.
        for target in found:
            self.usage.remove(target.workload.queue, target.workload.usage)
        level, _ = borrow_level(self.usage, queue, fr, value)
        for target in found:
            self.usage.add(target.workload.queue, target.workload.usage)
        if not found:
            return Offer(Possibility.NO_CANDIDATES, level)
        from_own = any(target.workload.queue == queue for target in found)
        return Offer(Possibility.PREEMPT if from_own else Possibility.RECLAIM, level)


def _said(messages: Mapping[str, str]) -> str:
    return "; ".join(
        f"couldn't assign flavors to pod set {name}: {text}" for name, text in messages.items()
    )


def joined(group: Sequence[PodSetRequest]) -> dict[str, int]:
    """Return what podsets that are handled together ask for, per resource."""
    requests: dict[str, int] = {}
    for request in group:
        for name, amount in request.totals.items():
            requests[name] = request.arithmetic.add(requests.get(name, 0), amount)
    return requests


def borrow_level(usage: Usage, queue: int, fr: int, value: int) -> tuple[int, bool]:
    """Return the height of the lowest subtree that fits the value, and if there is a larger one.

    Height 0 means that the queue does not borrow (§4.3).
    """
    ancestors, subtract = list(usage.tree.ancestors(queue)), usage.tree.arithmetic.subtract
    if not ancestors or not usage.borrows_with(queue, fr, value):
        return 0, bool(ancestors)
    # The unused quota that the queue keeps serves first; the cohorts serve only the rest.
    rest = subtract(value, usage.local_free(queue, fr))
    for cohort in ancestors:
        if not usage.borrows_with(cohort, fr, rest):
            return usage.tree.height(cohort), cohort != ancestors[-1]
        rest = subtract(rest, usage.local_free(cohort, fr))
    return usage.tree.height(ancestors[-1]), False
