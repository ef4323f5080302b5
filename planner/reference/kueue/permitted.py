"""Every assignment of flavors that the rules permit, whichever of them Kueue would choose.

What excludes a flavor is in docs/semantics/kueue.md §4.1 to §4.4: that it is not listed, taints
and affinities, what the queue could ever use, and whether it may preempt there at all. The
preferences of §4.5 and §4.6 (flavorFungibility) only choose among what is permitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from planner.laws.kueue import KF_PERMITTED
from planner.quota.kueue.assignment import Assignment, FlavorChoice, PodSetFlavors, worst
from planner.quota.kueue.request import PodSetRequest
from planner.quota.kueue.selector import InvalidSelectorError
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.assignment import FlavorAssigner, borrow_level, joined
from planner.reference.kueue.eligibility import Possibility
from planner.reference.laws import keeps
from planner.state.queues import ResourceGroup

MOST: Final = 2000
"""How many assignments, different in their request or contested fr, are kept at most."""

_Key = tuple[frozenset[tuple[int, int]], frozenset[int]]


class Permitted(Struct, frozen=True):
    """Permitted assignments; those with flavors listed earlier come first.

    Of assignments with equal request and contested fr only the first is in ``assignments``;
    ``count`` counts them all. Where there are more than MOST, ``complete`` is false.
    """

    assignments: tuple[Assignment, ...] = ()
    count: int = 0
    complete: bool = True


class _Part(Struct, frozen=True):
    """Flavors for the first podsets, with their request, ``assumed``, and their contested fr.

    ``chosen`` has the flavors of the podsets at hand by resource, ``pod_sets`` those of earlier
    podsets; ``ways`` counts the parts with the same key, this one included.
    """

    pod_sets: tuple[PodSetFlavors, ...] = ()
    chosen: Mapping[str, FlavorChoice] = field(default_factory=dict)
    assumed: Mapping[int, int] = field(default_factory=dict)
    contested: frozenset[int] = frozenset()
    level: int = 0
    ways: int = 1

    @property
    def key(self) -> _Key:
        """The request and the contested fr: parts with the same key have the same continuations."""
        return frozenset(self.assumed.items()), self.contested


@keeps(KF_PERMITTED)
def permitted_assignments(
    snapshot: Snapshot, preemptor: Preemptor, counts: Sequence[int] | None = None
) -> Permitted:
    """Return the assignments the rules permit, at the given pod counts or those of the podsets.

    The mode of a resource is Fit where its amount, and that of the podsets before, is available
    without evictions, else Preempt; ``borrowing`` is the height without evictions. A queue that is
    not active permits no assignment.
    """
    if not snapshot.is_active(preemptor.queue):
        return Permitted()
    assigner = FlavorAssigner(snapshot, snapshot.usage, preemptor)
    groups = assigner.groups(counts)
    parts, complete = [_Part()], True
    for position, group in enumerate(groups):
        requests = joined(group)
        for covering in snapshot.queues[preemptor.queue].spec.resource_groups:
            asked = {name: n for name, n in requests.items() if assigner.covering(name) is covering}
            if not asked:
                continue
            # Where podsets replace those of an older slice, only the request beyond these counts.
            wanted = assigner.lacking(group, asked)
            flavors = [
                name
                for name in _eligible(assigner, group, covering)
                if assigner.keeps_flavors(group, name, wanted)
            ]
            # Of several parts with the same key the first is kept.
            kept: dict[_Key, _Part] = {}
            for one in (_take(assigner, part, name, wanted) for part in parts for name in flavors):
                if one is not None:
                    first = kept.get(one.key)
                    ways = one.ways + (first.ways if first else 0)
                    kept[one.key] = replace(first or one, ways=ways)
            parts = list(kept.values())
            # Parts with flavors listed earlier come first, and are kept.
            complete = complete and len(parts) <= MOST
            parts = parts[:MOST]
        uncovered = [n for name, n in requests.items() if assigner.covering(name) is None]
        if not all(map(assigner.skips, uncovered)):
            return Permitted()
        parts = [_with_pod_sets(part, group) for part in parts]
        # Assignment stops at podsets that ask for something and get no flavor (§4.1).
        if position < len(groups) - 1 and any(
            request.totals and not done.flavors
            # Which requests are skipped does not depend on the flavors: one part is enough.
            for part in parts[:1]
            for request, done in zip(group, part.pod_sets[-len(group) :], strict=True)
        ):
            return Permitted()
    order = [request.name for request in preemptor.pod_sets]
    assignments = tuple(
        Assignment(
            mode=worst(choice.mode for pods in part.pod_sets for choice in pods.flavors.values()),
            borrowing=part.level,
            pod_sets=tuple(sorted(part.pod_sets, key=lambda pods: order.index(pods.name))),
        )
        for part in parts
    )
    return Permitted(assignments, sum(part.ways for part in parts), complete)


def _eligible(
    assigner: FlavorAssigner, group: Sequence[PodSetRequest], covering: ResourceGroup
) -> Iterator[str]:
    """Yield the flavors that podsets may run on; no walk gets past an invalid selector."""
    for flavor in covering.flavors:
        try:
            if assigner.eligible(group, flavor.name, covering):
                yield flavor.name
        except InvalidSelectorError:
            return


def _take(
    assigner: FlavorAssigner, part: _Part, flavor: str, wanted: Mapping[str, int]
) -> _Part | None:
    """Add a flavor for these resources to a part; ``None`` where a resource gets NO_FIT."""
    assumed, contested, level = dict(part.assumed), set(part.contested), part.level
    chosen, add_wanted = dict(part.chosen), assigner.snapshot.tree.arithmetic.add_wanted
    for resource, amount in wanted.items():
        fr = assigner.snapshot.fr_or_none(flavor, resource)
        if fr is None:  # covered, but listed without quota anywhere: nominal 0
            if amount > 0:
                return None
            chosen[resource] = FlavorChoice(flavor=flavor, mode="Fit")
            continue
        value = add_wanted(assumed.get(fr, 0), amount)
        offer = assigner.offer_at_once(fr, value)
        if offer is not None and offer.possibility is Possibility.NO_FIT:
            return None
        if offer is None:
            contested.add(fr)
        level = max(level, borrow_level(assigner.usage, assigner.preemptor.queue, fr, value)[0])
        chosen[resource] = FlavorChoice(flavor=flavor, mode="Fit" if offer else "Preempt")
        # A zero is not noted: it would give parts with the same continuations different keys.
        if value or fr in assumed:
            assumed[fr] = value
    frs = frozenset(contested)
    return replace(part, chosen=chosen, assumed=assumed, contested=frs, level=level)


def _with_pod_sets(part: _Part, group: Sequence[PodSetRequest]) -> _Part:
    """Write down the flavors chosen for podsets that are handled together."""
    done = tuple(
        PodSetFlavors(
            name=request.name,
            count=request.count,
            flavors={name: part.chosen[name] for name in request.totals if name in part.chosen},
        )
        for request in group
    )
    return replace(part, pod_sets=part.pod_sets + done, chosen={})
