"""Which flavor each podset of the preemptor gets, and the request that follows from that.

Source: docs/semantics/kueue.md §4 (what an assignment is) and §5.1 (request and contested
flavor-resources of the preemption search).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final, Literal

from pydantic import AliasChoices, ConfigDict, Field, ValidationError

from planner.errors import LookupFailed, SchemaError, did_you_mean
from planner.quantity import plural
from planner.quota.kueue.preemptor import replaced_by
from planner.quota.kueue.request import PODS
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import FlavorResource
from planner.state.base import Count, Schema
from planner.state.kueue import State

Mode = Literal["NoFit", "Preempt", "Fit"]
_LONGEST: Final = 60
_SAID: Final = {"missing": "is missing", "extra_forbidden": "there is no such key"}
_FORMS: Final = (
    'what a plan has as "assignment", or {"PODSET": {"RESOURCE": {"flavor": "NAME"}, ...}, ...}'
)
MODES: tuple[Mode, ...] = ("NoFit", "Preempt", "Fit")
"""From worst to best."""


class _Given(Schema):
    """A piece of an assignment: what has no field is refused, for it would change nothing."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


class FlavorChoice(_Given):
    """The flavor of one resource, and whether it fits there or needs preemption."""

    flavor: str
    mode: Mode = "Preempt"


class PodSetFlavors(_Given):
    """The flavors of one podset; ``count`` may be reduced by partial admission."""

    name: str
    count: Count | None = None
    flavors: dict[str, FlavorChoice] = {}


class Assignment(_Given):
    """The flavors of all podsets; ``borrowing`` is the height of the subtree borrowed from."""

    mode: Mode
    borrowing: int = 0
    pod_sets: tuple[PodSetFlavors, ...] = Field(
        default=(),
        validation_alias=AliasChoices("podSets", "pod_sets"),
        serialization_alias="podSets",
    )

    def choices(self) -> Iterator[tuple[str, FlavorChoice]]:
        """Yield every (resource, choice) pair."""
        for pods in self.pod_sets:
            yield from pods.flavors.items()


def worst(modes: Iterator[Mode]) -> Mode:
    """Return the worst mode; Fit when there is none."""
    return MODES[min(map(MODES.index, modes), default=-1)]


def parse_assignment(value: object, where: str = "assignment") -> Assignment:
    """Read flavors fixed by the user, in either of two forms.

    ``{"mode", "podSets": [{"name", "count", "flavors": {...}}]}`` as a plan shows it, or, shorter,
    ``{podset: {resource: {"flavor", "mode"}}}``.

    Raises ``SchemaError`` if the form is neither.
    """
    if isinstance(value, Assignment):
        return value
    if not isinstance(value, Mapping):
        raise SchemaError(where, f"found {type(value).__name__}", "an object with podSets")
    whole = value
    if "podSets" not in value:
        whole = {"podSets": [{"name": name, "flavors": some} for name, some in value.items()]}
    try:
        return Assignment.model_validate({"mode": "Fit", **whole})
    except ValidationError as error:
        first = error.errors()[0]
        steps = [str(step) for step in first["loc"]]
        if whole is not value:  # podSets, the place of the podset, its flavors, and the rest
            steps[:3] = [str(list(value)[int(steps[1])])]
        found = _SAID.get(first["type"]) or f"{repr(first['input'])[:_LONGEST]} cannot be used"
        raise SchemaError(f"{where}: {'.'.join(steps)}", found, _FORMS) from None


def without_modes(assignment: Assignment) -> Assignment:
    """Return flavors that are given for a changed state: their modes follow from that."""
    pod_sets = tuple(
        pods.model_copy(
            update={"flavors": {r: FlavorChoice(flavor=f.flavor) for r, f in pods.flavors.items()}}
        )
        for pods in assignment.pod_sets
    )
    return assignment.model_copy(update={"pod_sets": pod_sets})


def read_assignment(value: object, preemptor: Preemptor, where: str = "assignment") -> Assignment:
    """Read flavors fixed by the user, and bring them into the order of the preemptor's podsets.

    Raises ``SchemaError`` if the form is not known, a podset is unknown, or a non-zero request has
    no flavor.
    """
    assignment = parse_assignment(value, where)
    given = {pods.name: pods for pods in assignment.pod_sets}
    known = [request.name for request in preemptor.pod_sets]
    for name in given:
        if name not in known:
            expected = f"one of {', '.join(known)}"
            raise SchemaError(where, f'podset "{name}" is not in {preemptor.key}', expected)
    pod_sets = []
    for request in preemptor.pod_sets:
        named = f'podset "{request.name}"'
        pods = given.get(request.name) or PodSetFlavors(name=request.name)
        for resource, amount in request.totals.items():
            if amount and resource not in pods.flavors:
                raise SchemaError(where, f"{named} asks for {resource} but gets no flavor for it")
        count = request.count if pods.count is None else pods.count
        least = min(request.pod_set.min_count or request.count, request.count)
        if pods.count is not None and not least <= count <= request.spec_count:
            expected = f"a count from {least} to {request.spec_count}"
            raise SchemaError(where, f"{named} gets {plural(count, 'pod')}", expected)
        pod_sets.append(pods.model_copy(update={"count": count}))
    mode = worst(choice.mode for pods in pod_sets for choice in pods.flavors.values())
    return assignment.model_copy(update={"pod_sets": tuple(pod_sets), "mode": mode})


def flavor_resources(assignment: Assignment) -> list[FlavorResource]:
    """Return every flavor-resource the assignment names."""
    return [FlavorResource(choice.flavor, resource) for resource, choice in assignment.choices()]


def check_flavors(assignment: Assignment, state: State) -> None:
    """Raise ``LookupFailed`` if a flavor has neither an object nor a quota in the state."""
    known = {flavor.name for flavor in state.resource_flavors}
    for queue in state.cluster_queues:
        known |= {one.name for group in queue.spec.resource_groups for one in group.flavors}
    for _, choice in assignment.choices():
        if (name := choice.flavor) not in known:
            found, expected = f'there is no flavor "{name}"', f"one of {', '.join(sorted(known))}"
            raise LookupFailed("assignment", found, expected, did_you_mean(name, known))


def total_request(
    assignment: Assignment, preemptor: Preemptor, snapshot: Snapshot
) -> dict[int, int]:
    """Return REQ: per fr, what all podsets ask for at the assigned counts; zeros left out.

    The request for ``pods`` that flavor assignment adds is not part of it
    (docs/semantics/kueue.md §4.1). A slice of an elastic workload asks for its additional pods
    only: a negative amount where it has fewer pods than the slice that it replaces. Older releases
    also count ``pods``, and keep zeros (switches 11b and 12 of planner/state/kueue_release.py).
    """
    total: dict[int, int] = {}
    rules = snapshot.configuration.rules
    replaced = replaced_by(snapshot, preemptor)
    pairs = zip(preemptor.pod_sets, assignment.pod_sets, strict=False)
    for place, (request, pods) in enumerate(pairs):
        count = request.count if pods.count is None else pods.count
        # The pods that the podset has beyond those of the old slice; the number may be negative.
        more = request.count - replaced.at(place).count if replaced else count
        totals = request.scaled(more).totals
        if "pods" in pods.flavors and not rules.pods_outside_search:
            totals = {**totals, "pods": count}
        for resource, amount in totals.items():
            choice = pods.flavors.get(resource)
            if choice is not None and (amount or not rules.drops_zero_requests):
                fr = snapshot.fr(choice.flavor, resource)
                total[fr] = snapshot.tree.arithmetic.add(total.get(fr, 0), amount)
    return total


def whole_request(
    assignment: Assignment, preemptor: Preemptor, snapshot: Snapshot
) -> dict[int, int]:
    """Return what must be available in the end: REQ, and ``pods`` where the queue covers it.

    The search for victims does not look at ``pods``, but the cycle that would admit the preemptor
    does (docs/semantics/kueue-features.md §5). Nor does the search see where a pod of a slice asks
    for more than a pod of the replaced slice; flavor assignment tests the totals (§2).
    """
    total = total_request(assignment, preemptor, snapshot)
    replaced, add = replaced_by(snapshot, preemptor), snapshot.tree.arithmetic.add
    if replaced is None and not snapshot.configuration.rules.pods_outside_search:
        return total  # older releases: their search counts pods itself
    # Per fr, what a slice asks for in total beyond what the old slice holds.
    tested: dict[int, int] = {}
    pairs = zip(preemptor.pod_sets, assignment.pod_sets, strict=False)
    for place, (request, pods) in enumerate(pairs):
        totals = request.totals_at(pods.count)
        for resource, choice in pods.flavors.items():
            fr = snapshot.fr_or_none(choice.flavor, resource)
            if fr is None:
                continue
            if replaced is not None:
                amount = replaced.beyond([place], resource, totals.get(resource, 0))
                tested[fr] = add(tested.get(fr, 0), amount)
            elif resource == PODS and totals[PODS]:
                total[fr] = add(total.get(fr, 0), totals[PODS])
    for fr, amount in tested.items():
        if amount > total.get(fr, 0):
            total[fr] = amount
    return total


def contested(assignment: Assignment, snapshot: Snapshot) -> frozenset[int]:
    """Return FRS: the flavor-resources whose assigned mode is Preempt."""
    return frozenset(
        snapshot.fr(choice.flavor, resource)
        for resource, choice in assignment.choices()
        if choice.mode == "Preempt"
    )
