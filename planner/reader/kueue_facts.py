"""Workloads that were left as text to facts; structs.py: what their text has to be like.

What is refused here is read by the parser and the models, which explain themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from sys import intern
from typing import Any, Final, Literal, NamedTuple

import msgspec
from pydantic_core import from_json

from planner.quantity import MAX_INT64, MIN_INT64, units_of
from planner.reader.kueue_kinds import API_OF_WORKLOADS, WORKLOAD
from planner.reader.structs import struct_of
from planner.state import Remarks
from planner.state.base import slim
from planner.state.kueue import Workload
from planner.state.kueue_workload import BOOST_ANNOTATION, MAIN_POD_SET, remarks_of
from planner.state.kueue_workloads import Facts, Held, Layout

_LONGEST: Final = 2**16
"""In a shorter object no mapping has more entries than the models take."""
_UNUSUAL: Final = frozenset({"Evicted", "Preempted"})


def quick_facts(item: msgspec.Raw) -> Facts | None:
    """Return the facts of a workload; ``None`` for other objects, and where facts tell too little.

    It has nothing that a model would refuse.
    """
    if memoryview(item).nbytes >= _LONGEST:
        return None
    try:
        found: Any = _decoder().decode(item)
    except msgspec.ValidationError:
        return None
    return _facts(found, item)


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    text = struct_of(Workload)
    fields = [("kind", Literal[WORKLOAD.name]), ("apiVersion", Literal[API_OF_WORKLOADS])]
    whole = msgspec.defstruct("Read", fields, bases=(text,), kw_only=True)
    return msgspec.json.Decoder(whole)


class _Run(NamedTuple):
    """What the conditions say of its run."""

    reserved: bool
    reserved_at: datetime | None
    ready_at: datetime | None
    finished: bool
    newest: datetime | None


def _run(conditions: Sequence[Any]) -> _Run | None:
    """Read the conditions; ``None`` if it was evicted, or one stands twice."""
    found: dict[str, datetime | None] = {}
    newest: datetime | None = None
    for one in conditions:
        moment = one.last_transition_time
        if moment is not None:
            # Of such times msgspec and the model may make something else: the model decides.
            if moment.tzinfo is not UTC or moment.microsecond:
                return None
            if newest is None or moment > newest:
                newest = moment
        if one.status == "True":
            found[one.type] = moment
    # Of two of one type the first counts, which is not kept here.
    if len({one.type for one in conditions}) < len(conditions) or not _UNUSUAL.isdisjoint(found):
        return None
    reserved_at, ready_at = found.get("QuotaReserved"), found.get("PodsReady")
    return _Run("QuotaReserved" in found, reserved_at, ready_at, "Finished" in found, newest)


def _facts(found: Any, item: msgspec.Raw) -> Facts | None:  # noqa: ANN401 - a generated type
    metadata, spec, status = found.metadata, found.spec, found.status
    namespace, created = metadata.namespace, metadata.creation_timestamp
    run = _run(status.conditions or () if status else ())
    if not namespace or spec is None or run is None:
        return None
    if created is not None and (created.tzinfo is not UTC or created.microsecond):
        return None
    # Its number stands in another object, which may be read later.
    if spec.priority is None and (spec.priority_class or spec.priorityClassName):
        return None
    if metadata.owners and any(one.kind == "Workload" for one in metadata.owners):
        return None
    admission = status.admission if status else None
    active = spec.active is not False
    pod_sets, annotations = spec.pod_sets or (), metadata.annotations
    stats = status.scheduling_stats if status else None
    key = f"{namespace}/{metadata.name}"
    holds = run.reserved and admission is not None
    assigned: Sequence[Any] = (admission.pod_set_assignments or ()) if admission else ()
    if len(assigned) == 1:
        held = _held(assigned[0])
    else:
        held = tuple([each for one in assigned for each in _held(one)])
    # What is cut off at 64 bits counts as much as the release says.
    cut = any(MAX_INT64 in amounts or MIN_INT64 in amounts for _, _, amounts in held)
    if cut or (status and status.reclaimable_pods):
        return None
    return Facts(
        key,
        intern(namespace),
        metadata.uid or "",
        intern(spec.queue_name or ""),
        spec.priority or 0,
        annotations.get(BOOST_ANNOTATION) if annotations else None,
        created,
        intern(admission.cluster_queue) if admission else "",
        holds and active and not run.finished,
        active and not holds and not run.finished,
        run.reserved,
        run.reserved_at,
        run.ready_at or run.reserved_at,
        _remarks(key, annotations, stats, pod_sets) if annotations or stats else None,
        _counts(pod_sets),
        held,
        item,
        created if run.newest is None else max(created or run.newest, run.newest),
    )


def _counts(pod_sets: Sequence[Any]) -> tuple[tuple[str, int], ...]:
    """Return the pods of each podset; equal ones are one object."""
    if len(pod_sets) == 1:
        return _shared(pod_sets[0].name, pod_sets[0].count)
    return tuple([pair for one in pod_sets for pair in _shared(one.name, one.count)])


@lru_cache(maxsize=4096)
def _shared(name: str | None, count: int | None) -> tuple[tuple[str, int], ...]:
    return ((name or MAIN_POD_SET, 1 if count is None else count),)


def _remarks(
    key: str,
    annotations: Mapping[str, str] | None,
    stats: Any,  # noqa: ANN401 - a generated type
    pod_sets: Iterable[Any],
) -> Remarks | None:
    evictions = stats.evictions or () if stats else ()
    graces = [
        one.template.spec.termination_grace_s if one.template and one.template.spec else None
        for one in pod_sets
    ]
    return remarks_of(
        key, annotations or {}, [(one.reason or "", one.count or 0) for one in evictions], graces
    )


def _held(assigned: Any) -> tuple[Held, ...]:  # noqa: ANN401 - a generated type
    """Return what a podset holds, alone in a tuple; equal ones are one object."""
    usage, flavors = assigned.resource_usage or {}, assigned.flavors or {}
    return _shape(
        assigned.name or MAIN_POD_SET, assigned.count, tuple(flavors.items()), tuple(usage.items())
    )


@lru_cache(maxsize=4096)
def _shape(
    name: str,
    count: int | None,
    flavors: tuple[tuple[str, str], ...],
    usage: tuple[tuple[str, str | int], ...],
) -> tuple[Held, ...]:
    layout = _layout(name, flavors, tuple([resource for resource, _ in usage]))
    amounts = tuple([units_of(str(amount), resource) for resource, amount in usage])
    return (Held(layout, count, amounts),)


@lru_cache(maxsize=4096)
def _layout(name: str, flavors: tuple[tuple[str, str], ...], resources: tuple[str, ...]) -> Layout:
    frs = dict(flavors)
    held = tuple([(frs.get(resource, ""), resource) for resource in resources])
    return Layout(name, flavors, held)


def read_workload(text: Any) -> Workload:  # noqa: ANN401 - bytes, or a part of them
    """Make the object of a text of which there are facts."""
    found = Workload.model_validate(from_json(bytes(text), allow_inf_nan=False))
    slim(found)
    return found
