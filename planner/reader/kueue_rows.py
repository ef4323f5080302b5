"""Workloads that were left as text to rows; structs.py has the types that check the text.

A text that is refused here is read by the parser and the models, which say what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, Final, Literal

import msgspec
from pydantic import BaseModel
from pydantic_core import from_json

from planner.quantity import parse_quantity
from planner.reader.kueue_kinds import API_OF_WORKLOADS, WORKLOAD
from planner.reader.kueue_versions import DOMAINS, PRIORITY_CLASS
from planner.reader.structs import quick_time, struct_of
from planner.state.base import slim
from planner.state.kueue import Workload
from planner.state.kueue_columns import Held, PodSetHeld, Row, same_held
from planner.state.kueue_workload import (
    BOOST_ANNOTATION,
    MAIN_POD_SET,
    REPLACEMENT_FOR,
    SLICE_REPLACED,
    Admission,
    PodSetAssignment,
    Told,
    WorkloadStatus,
    boost_of,
    remarks_of,
    run_of,
)

_LONGEST: Final = 2**16
"""In a shorter object no mapping has more entries than the models take."""
_SHORT: Final = 2**10
"""Up to this many bytes, a text and what was read from it are kept in a cache."""
_NULL: Final = msgspec.Raw(b"null")


def quick_row(item: msgspec.Raw) -> tuple[Row, datetime | None] | None:
    """Return the row of a workload, and the newest time in it.

    ``None`` for other objects, and for a workload that has something unusual to it: any other has
    nothing that a model would refuse.
    """
    if memoryview(item).nbytes >= _LONGEST:
        return None
    try:
        found = _decoder().decode(item)
    except msgspec.ValidationError:
        return None
    return _row(found, item)


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    """Return the decoder of a workload, which leaves the assignments of its podsets as text."""
    held = ("pod_set_assignments", msgspec.Raw, _NULL)
    admission = _changed(Admission, [held], {held[0]: "podSetAssignments"})
    status = _changed(WorkloadStatus, [("admission", admission | None, None)])
    kinds = [("kind", Literal[WORKLOAD.name]), ("apiVersion", Literal[API_OF_WORKLOADS])]
    return msgspec.json.Decoder(_changed(Workload, [*kinds, ("status", status | None, None)]))


def _changed(
    model: type[BaseModel], fields: Sequence[Any], names: Mapping[str, str] | None = None
) -> type[msgspec.Struct]:
    bases = (struct_of(model),)
    name = f"{model.__name__}Row"
    return msgspec.defstruct(name, fields, bases=bases, kw_only=True, rename=names, gc=False)


def _run(conditions: Sequence[Any]) -> tuple[dict[str, Told], datetime | None] | None:
    """Return what the conditions say, by their types, and the newest time in any of them.

    ``None`` if the workload was evicted or replaced by another slice, a condition stands twice (of
    two the first counts), or a time has to be read by the model.
    """
    told: dict[str, Told] = {}
    newest: datetime | None = None
    for one in conditions:
        kind, written, moment = one.type, one.last_transition_time, None
        if kind in told:
            return None
        if written is not None:
            moment = quick_time(written)
            if moment is None:
                return None
            if newest is None or moment > newest:
                newest = moment
        told[kind] = one.status, one.reason, moment
    if "Finished" in told and told["Finished"][1] == SLICE_REPLACED:
        return None
    return None if _is_true(told, "Evicted") or _is_true(told, "Preempted") else (told, newest)


def _is_true(told: Mapping[str, Told], kind: str) -> bool:
    return kind in told and told[kind][0] == "True"


def _row(found: Any, item: msgspec.Raw) -> tuple[Row, datetime | None] | None:  # noqa: ANN401 - a generated type
    metadata, spec, status = found.metadata, found.spec, found.status
    namespace, written = metadata.namespace, metadata.creation_timestamp
    run = _run(status.conditions or () if status else ())
    if not namespace or spec is None or run is None:
        return None
    created = None if written is None else quick_time(written)
    again = status.requeue_state if status else None
    if (written is not None and created is None) or not (
        _is_quick(metadata.deletion_timestamp) and (again is None or _is_quick(again.requeue_at))
    ):
        return None
    # A field that its version does not have is left out by the other reader, with a note.
    left_out = spec.priorityClassName and not PRIORITY_CLASS.is_of(found.apiVersion)
    named = spec.priority_class or spec.priorityClassName
    # The number of a priority class stands in an object of its own, which may be read later.
    if left_out or (named and spec.priority is None):
        return None
    (told, newest), annotations = run, metadata.annotations
    # Slices of an elastic workload are one run: who asks for its start looks at all of them.
    is_slice = annotations is not None and REPLACEMENT_FOR in annotations
    if is_slice or (metadata.owners and any(one.kind == "Workload" for one in metadata.owners)):
        return None
    admission = status.admission if status else None
    reserved_s, started_at = run_of(told, checked=bool(status and status.admission_checks))
    goes_on = spec.active is not False and not _is_true(told, "Finished")
    pod_sets = spec.pod_sets or ()
    stats = status.scheduling_stats if status else None
    holds = reserved_s is not None and admission is not None
    text = bytes(admission.pod_set_assignments) if admission else b"null"
    # Where pods have places every workload has another text, which is not worth caching.
    read = _held if len(text) <= _SHORT else _held.__wrapped__
    held = read(text, _counts(pod_sets), found.apiVersion)
    if held is None or (status and status.reclaimable_pods):
        return None
    key, remarks = f"{namespace}/{metadata.name}", None
    if annotations or stats:
        evictions = [(e.reason or "", e.count or 0) for e in stats.evictions or ()] if stats else []
        graces = [
            one.template.spec.termination_grace_s if one.template and one.template.spec else None
            for one in pod_sets
        ]
        remarks = remarks_of(key, annotations or {}, evictions, graces)
    row = (
        key,
        metadata.uid or "",
        item,
        remarks,
        (namespace, spec.queue_name or ""),
        admission.cluster_queue if admission else "",
        held,
        spec.priority or 0,
        boost_of(annotations.get(BOOST_ANNOTATION)) if annotations else 0,
        created.timestamp() if created else None,
        reserved_s,
        started_at.timestamp() if started_at else None,
        False,
        metadata.deletion_timestamp is not None,
        holds and goes_on,
        goes_on and not holds,
    )
    # Made as a tuple, by position: to call the class takes three times as long.
    newest = created if newest is None or (created and created > newest) else newest
    return tuple.__new__(Row, row), newest


def _is_quick(written: str | None) -> bool:
    """Say whether a time that no column tells is absent, or such as `quick_time` reads."""
    return written is None or quick_time(written) is not None


def _counts(pod_sets: Sequence[Any]) -> tuple[tuple[str, int], ...]:
    """Return the pods of each podset; equal ones are one object."""
    if len(pod_sets) == 1:
        return _shared(pod_sets[0].name, pod_sets[0].count)
    return tuple([pair for one in pod_sets for pair in _shared(one.name, one.count)])


@lru_cache(maxsize=4096)
def _shared(name: str | None, count: int | None) -> tuple[tuple[str, int], ...]:
    return ((name or MAIN_POD_SET, 1 if count is None else count),)


@lru_cache(maxsize=4096)
def _held(text: bytes, counts: tuple[tuple[str, int], ...], api_version: str) -> Held | None:
    """Return what a workload holds, from the text of its assignments, which is mostly the same.

    It is ``None`` where a model would refuse the text, and where places are written as ``domains``
    though this version of the object does not have these.
    """
    try:
        assigned: Sequence[Any] = _assignments().decode(text) or ()
    except msgspec.ValidationError:
        return None
    with_domains = DOMAINS.is_of(api_version)
    if not with_domains and any(one.topology and one.topology.domains for one in assigned):
        return None
    held = []
    for one in assigned:
        usage = one.resource_usage or {}
        amounts = tuple([parse_quantity(str(amount)) for amount in usage.values()])
        form = _same(tuple((one.flavors or {}).items()), tuple(usage))
        held.append(PodSetHeld(one.name or MAIN_POD_SET, one.count, *form, amounts))
    return same_held(tuple(held), counts)


@lru_cache(maxsize=4096)
def _same(
    flavors: tuple[tuple[str, str], ...], resources: tuple[str, ...]
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the same objects for all equal values: few workloads differ in more than amounts."""
    return flavors, resources


@cache
def _assignments() -> msgspec.json.Decoder[Any]:
    kind = struct_of(PodSetAssignment)
    return msgspec.json.Decoder(tuple[kind, ...] | None)  # type: ignore[valid-type] # made as it runs


def read_workload(text: bytes | msgspec.Raw) -> Workload:
    """Make a workload from the text that its row was read from."""
    found = Workload.model_validate(from_json(bytes(text), allow_inf_nan=False))
    slim(found)
    return found
