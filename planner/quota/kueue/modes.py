"""Whether each flavor of an assignment fits now, or needs preemption: a fact of the state.

Source: docs/semantics/kueue.md §4.1 and §4.3; docs/semantics/kueue-topology.md §3.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from planner.errors import SchemaError
from planner.quota.kueue.assignment import Assignment, FlavorChoice, Mode, worst
from planner.quota.kueue.placing import Group, placed_groups
from planner.quota.kueue.preemptor import replaced_by
from planner.quota.kueue.snapshot import Preemptor, Snapshot

HasPlaces = Callable[[Sequence[Group]], bool]
"""Says whether groups of podsets have a place on the nodes with nobody evicted."""


def with_modes(
    assignment: Assignment,
    preemptor: Preemptor,
    snapshot: Snapshot,
    has_places: HasPlaces,
    *,
    borrows: bool = True,
) -> Assignment:
    """Return flavors that a user gives with their modes, of which any may be left out.

    A flavor-resource is Fit exactly where what a podset asks for there, with what those before it
    do, is available. Podsets that are placed on nodes contest all they ask for, though, where
    anything is short, quota or nodes. The mode of the whole is the worst of them.

    Without ``borrows`` nobody borrows while preempting: what fits by borrowing alone is Preempt
    where something else of its flavor is.

    Raises ``SchemaError`` if another mode is given than the state has.
    """
    modes = [*_by_quota(assignment, preemptor, snapshot, borrows=borrows)]
    groups = placed_groups(assignment, preemptor, snapshot)
    # Of nodes that the state does not know the verifier complains.
    if groups and all(group.flavor in snapshot.topologies.trees for group in groups):
        whole = worst(mode for each in modes for mode in each.values())
        if whole != "Fit" or not has_places(groups):
            placed = {pods.name for group in groups for pods in group.members}
            for pods, own in zip(assignment.pod_sets, modes, strict=True):
                own.update(dict.fromkeys(own if pods.name in placed else (), "Preempt"))
    pod_sets = []
    for pods, own in zip(assignment.pod_sets, modes, strict=True):
        flavors = {
            resource: _settled(f'{resource} of podset "{pods.name}"', choice, own[resource])
            for resource, choice in pods.flavors.items()
        }
        pod_sets.append(pods.model_copy(update={"flavors": flavors}))
    mode = worst(mode for each in modes for mode in each.values())
    return assignment.model_copy(update={"pod_sets": tuple(pod_sets), "mode": mode})


def _settled(what: str, choice: FlavorChoice, mode: Mode) -> FlavorChoice:
    if "mode" in choice.model_fields_set and choice.mode != mode:
        found = f"{what} is said to be {choice.mode} in flavor {choice.flavor}"
        hint = "leave modes out: they follow from the state"
        raise SchemaError("assignment", found, f"{mode}, which it is in this state", hint)
    return choice.model_copy(update={"mode": mode})


def _by_quota(
    assignment: Assignment, preemptor: Preemptor, snapshot: Snapshot, *, borrows: bool
) -> Iterator[dict[str, Mode]]:
    """Yield the modes of each podset by resource, as quota alone has them.

    Podsets of one podset group are tested together, by the sum of what they ask for.
    """
    replaced, exact = replaced_by(snapshot, preemptor), snapshot.tree.arithmetic
    asked: list[dict[str, tuple[int, int]]] = []
    groups: dict[str, list[int]] = {}
    pairs = zip(preemptor.pod_sets, assignment.pod_sets, strict=True)
    for place, (request, pods) in enumerate(pairs):
        groups.setdefault(request.pod_set.group or f"/{place}", []).append(place)
        totals, mine = request.totals_at(pods.count), {}
        for resource, choice in pods.flavors.items():
            amount = totals.get(resource, 0)
            if replaced is not None:
                amount = replaced.beyond([place], resource, amount)
            mine[resource] = snapshot.fr(choice.flavor, resource), amount
        asked.append(mine)
    taken, modes = Counter[int](), dict[int, dict[str, Mode]]()
    queue, usage = preemptor.queue, snapshot.usage
    for places in groups.values():
        for fr, amount in (one for place in places for one in asked[place].values()):
            taken[fr] = exact.add_wanted(taken[fr], amount)
        frs = {fr for place in places for fr, _ in asked[place].values()}
        short = {fr for fr in frs if taken[fr] > max(0, usage.available(queue, fr))}
        if not borrows:
            flavors = {snapshot.tree.frs[fr].flavor for fr in short}
            beside = (fr for fr in frs if snapshot.tree.frs[fr].flavor in flavors)
            short |= {fr for fr in beside if usage.borrows_with(queue, fr, taken[fr])}
        for place in places:
            modes[place] = {
                resource: "Preempt" if fr in short else "Fit"
                for resource, (fr, _) in asked[place].items()
            }
    yield from (modes[place] for place in range(len(asked)))
