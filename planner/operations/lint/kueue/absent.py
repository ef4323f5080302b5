"""What objects of the input name and the input lacks, and the state as if it were there.

Manifests of one repository name what stands in another: ClusterQueues without their ResourceFlavors
are inactive, and no rule would look at them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from planner.errors import did_you_mean
from planner.quota.kueue.activity import cohorts_of
from planner.state.base import Condition, Metadata
from planner.state.kueue import ClusterQueue, ResourceFlavor, State
from planner.state.queues import AdmissionCheck, Cohort, ConditionsStatus

FLAVOR: Final = "resourceflavor"
CHECK: Final = "admissioncheck"
QUEUE: Final = "clusterqueue"
COHORT: Final = "cohort"

_ACTIVE: Final = ConditionsStatus.model_construct(
    conditions=(Condition.model_construct(type="Active", status="True"),)
)


class Absent(NamedTuple):
    """A name that stands for nothing in the input.

    ``named_by`` are the objects that have it; ``meant`` asks whether a similar name was meant, if
    something of the kind has one.
    """

    kind: str
    name: str
    named_by: tuple[str, ...]
    meant: str

    @property
    def object(self) -> str:
        """What is named, as kubectl names it."""
        return f"{self.kind}/{self.name}"


def absent_from(state: State) -> Iterator[Absent]:
    """Yield what queues and Cohorts name and the input lacks, in the order of kinds.

    Where Kueue calls a queue active, what it names is missing from the dump only.
    """
    queues = [one for one in state.cluster_queues if not one.status.is_active]
    known = {*state.absent_queues, *(queue.name for queue in state.cluster_queues)}
    yield from _absent(
        FLAVOR,
        {flavor.name for flavor in state.resource_flavors},
        {f"{QUEUE}/{one.name}": one.flavor_names for one in queues}
        | {f"{COHORT}/{one.name}": _flavors(one) for one in cohorts_of(state)},
    )
    yield from _absent(
        CHECK,
        {check.name for check in state.admission_checks},
        {f"{QUEUE}/{one.name}": _checks(one) for one in queues},
    )
    yield from _absent(
        QUEUE,
        known,
        {f"localqueue/{one.key}": (one.spec.cluster_queue,) for one in state.local_queues},
    )


def _absent(
    kind: str, there: Collection[str], named: Mapping[str, Sequence[str]]
) -> Iterator[Absent]:
    by_name: dict[str, list[str]] = {}
    for owner, names in named.items():
        for name in dict.fromkeys(names):
            by_name.setdefault(name, []).append(owner)
    for name, owners in by_name.items():
        if name and name not in there:
            yield Absent(kind, name, tuple(owners), did_you_mean(name, there))


def _flavors(cohort: Cohort) -> Sequence[str]:
    return [flavor.name for group in cohort.spec.resource_groups for flavor in group.flavors]


def _checks(queue: ClusterQueue) -> Sequence[str]:
    return [rule.name for rule in queue.check_rules]


def as_if_there(state: State) -> State:
    """Return the state with the flavors and active admission checks that its ClusterQueues name.

    What a ClusterQueue names that Kueue itself calls inactive is not made up: there it is the
    cluster that lacks it, and not the input.
    """
    unjudged = [one for one in state.cluster_queues if one.status.condition("Active") is None]
    judged = [one for one in state.cluster_queues if one.status.condition("Active") is not None]
    flavors = {name for one in unjudged for name in one.flavor_names}
    flavors -= {one.name for one in state.resource_flavors}
    flavors -= {name for one in judged for name in one.flavor_names}
    # Nobody has asked the controller of a check in a manifest: that has no condition.
    known = {one.name: one for one in state.admission_checks}
    checks = {name for one in unjudged for name in _checks(one)}
    checks -= {name for one in judged for name in _checks(one)}
    checks -= {name for name, one in known.items() if one.status.condition("Active") is not None}
    if not flavors and not checks:
        return state
    made = [ResourceFlavor.model_construct(metadata=_named(name)) for name in sorted(flavors)]
    active = [
        known[name].model_copy(update={"status": _ACTIVE})
        if name in known
        else AdmissionCheck.model_construct(metadata=_named(name), status=_ACTIVE)
        for name in sorted(checks)
    ]
    others = [one for one in state.admission_checks if one.name not in checks]
    update = {
        "resource_flavors": (*state.resource_flavors, *made),
        "admission_checks": (*others, *active),
    }
    return state.model_copy(update=update)


def _named(name: str) -> Metadata:
    return Metadata.model_construct(name=name)
