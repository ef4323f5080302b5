"""Flavor assignment as KEP-83 has it: two walks over the flavors of each resource group.

Source: KEP-83, "Detecting Workloads that might benefit from preemption". What the text leaves
open is decided so:

* The resources of a resource group get one flavor, as in Kueue; so each walk asks for a flavor
  that will do for all of them. ``flavorFungibility`` came later and is not looked at.
* "Assignments that require preemption implicitly do not borrow quota": in the second walk every
  resource must be within min, and one that fits without borrowing has mode Fit, the rest Preempt.
* With withinCohort LowerPriority the second walk takes what the queue could use if nothing ran,
  borrowed quota included. The KEP proposes to select flavors by a simulated usage, the larger of
  min and what is used for each queue; as the min of all queues is the quota of the cohort, no
  request would ever fit that, so this is its purpose and not its letter.
* Podsets are assigned in turn and count what those before them got; partial admission came later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from planner.quota.kueue.amount import add
from planner.quota.kueue.assignment import Assignment, FlavorChoice, Mode, PodSetFlavors, worst
from planner.quota.kueue.request import PodSetRequest
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import Usage
from planner.reference.kueue.assignment import FlavorAssigner, borrow_level, joined
from planner.reference.kueue.eligibility import InvalidSelectorError
from planner.state.kep83 import Kep83
from planner.state.queues import ResourceGroup

Choices = dict[str, FlavorChoice]


@dataclass(slots=True)
class Kep83Flavors:
    """Assigns flavors to one preemptor on one snapshot; ``usage`` is left as it was."""

    snapshot: Snapshot
    usage: Usage
    preemptor: Preemptor
    options: Kep83
    _assumed: dict[int, int] = field(default_factory=dict, init=False)
    _level: int = field(default=0, init=False)

    def assign(self) -> Assignment:
        """Assign flavors to all podsets; the first that gets none ends it with mode NoFit."""
        assigner = FlavorAssigner(self.snapshot, self.usage, self.preemptor)
        done: list[PodSetFlavors] = []
        for group in assigner.groups():
            chosen = self._choose(assigner, group)
            if chosen is None:
                return Assignment(mode="NoFit", pod_sets=tuple(done))
            for request in group:
                flavors = {name: chosen[name] for name in request.totals if name in chosen}
                self._assume(request, flavors)
                done.append(PodSetFlavors(name=request.name, count=request.count, flavors=flavors))
        mode: Mode = worst(choice.mode for pods in done for choice in pods.flavors.values())
        return Assignment(mode=mode, borrowing=self._level, pod_sets=tuple(done))

    def _choose(self, assigner: FlavorAssigner, group: Sequence[PodSetRequest]) -> Choices | None:
        """Choose flavors for podsets that are handled together; ``None`` if one has none."""
        requests = joined(group)
        chosen: Choices = {}
        for resource, amount in requests.items():
            covering = assigner.covering(resource)
            if resource in chosen or (covering is None and assigner.skips(amount)):
                continue
            found = None if covering is None else self._walk(assigner, group, covering, requests)
            if found is None:
                return None
            chosen |= found
        return chosen

    def _walk(
        self,
        assigner: FlavorAssigner,
        group: Sequence[PodSetRequest],
        covering: ResourceGroup,
        requests: Mapping[str, int],
    ) -> Choices | None:
        """Walk the flavors twice: for one with quota left, then for one preemption can free."""
        wanted = {name: n for name, n in requests.items() if name in covering.covered_resources}
        try:
            flavors = [
                one.name for one in covering.flavors if assigner.eligible(group, one.name, covering)
            ]
        except InvalidSelectorError:
            return None
        # All flavors for the first step before any for the second: a later flavor with quota left
        # is better than an earlier one that asks for victims.
        for step in (self._available, self._with_preemption):
            for flavor in flavors:
                modes: dict[str, Mode] = {
                    name: step(flavor, name, amount) for name, amount in wanted.items()
                }
                if "NoFit" not in modes.values():
                    return {name: FlavorChoice(flavor=flavor, mode=m) for name, m in modes.items()}
        return None

    def _available(self, flavor: str, resource: str, amount: int) -> Mode:
        """Step 0: Fit where quota is left in the cohort, within the max of the ClusterQueue."""
        fr = self.snapshot.fr_or_none(flavor, resource)
        if fr is None:  # covered, but listed without quota anywhere
            return "NoFit" if amount else "Fit"
        value = add(self._assumed.get(fr, 0), amount)
        available = max(0, self.usage.available(self.preemptor.queue, fr))
        return "Fit" if value <= available else "NoFit"

    def _with_preemption(self, flavor: str, resource: str, amount: int) -> Mode:
        """Step 1: Preempt, or Fit, where the min quota of the ClusterQueue can hold the request."""
        fr = self.snapshot.fr_or_none(flavor, resource)
        if fr is None:
            return "NoFit" if amount else "Fit"
        queue, tree = self.preemptor.queue, self.snapshot.tree
        value = add(self._assumed.get(fr, 0), amount)
        borrows = self.options.borrows
        if value > (tree.potential(queue, fr) if borrows else tree.nominal(queue, fr)):
            return "NoFit"
        if not borrows and self.usage.borrows_with(queue, fr, value):
            return "Preempt"  # it may fit now, but only by what such an assignment may not borrow
        return "Fit" if self._available(flavor, resource, amount) == "Fit" else "Preempt"

    def _assume(self, request: PodSetRequest, flavors: Choices) -> None:
        """Count what a podset got, and how far up that borrows."""
        for name, choice in flavors.items():
            fr = self.snapshot.fr_or_none(choice.flavor, name)
            if fr is not None:
                value = add(self._assumed.get(fr, 0), request.totals[name])
                self._assumed[fr] = value
                level, _ = borrow_level(self.usage, self.preemptor.queue, fr, value)
                self._level = max(self._level, level)
