"""Objects to one state: priorities, the clock, the configuration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from planner.errors import InputError, SchemaError
from planner.reader.parse import Document
from planner.state import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Configuration,
    LimitRange,
    LocalQueue,
    PriorityClass,
    ResourceFlavor,
    RuntimeClass,
    State,
    Workload,
    parse_time,
)

FIELDS = {
    "ClusterQueue": ("cluster_queues", ClusterQueue),
    "Cohort": ("cohorts", Cohort),
    "LocalQueue": ("local_queues", LocalQueue),
    "ResourceFlavor": ("resource_flavors", ResourceFlavor),
    "Workload": ("workloads", Workload),
    "AdmissionCheck": ("admission_checks", AdmissionCheck),
    "LimitRange": ("limit_ranges", LimitRange),
    "RuntimeClass": ("runtime_classes", RuntimeClass),
    "WorkloadPriorityClass": ("wpc", PriorityClass),
    "PriorityClass": ("pc", PriorityClass),
    "Configuration": ("configuration", Configuration),
}


def _walk(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _walk(item, f"{where}[{i}]")
    elif isinstance(value, dict) and "kind" in value and str(value["kind"]).endswith("List"):
        yield from _walk(value.get("items") or [], f"{where}items")
    elif isinstance(value, dict) and "kind" in value:
        yield where, value
    else:
        raise SchemaError(where, "no kind")


def assemble(
    documents: Sequence[Document],
    *,
    source: str,
    digest: str | None,
    now: datetime | str | None,
) -> State:
    """Preliminary."""
    found: dict[str, list[Any]] = {}
    clock = now
    for document in documents:
        value: Any = document.value
        if isinstance(value, dict) and "kind" not in value and "state" in value:
            clock = clock or value.get("now")
            value = value["state"]
        for where, item in _walk(value, ""):
            if item["kind"] in FIELDS:
                field, model = FIELDS[item["kind"]]
                try:
                    found.setdefault(field, []).append(model.model_validate(item))
                except ValidationError as error:
                    raise SchemaError(f"{document.where}: {where}", str(error)) from None
    if digest is None:
        text = json.dumps([d.value for d in documents], sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()
    if isinstance(clock, str):
        clock = parse_time(clock)
    if clock is None:
        times = [
            t
            for objects in found.values()
            for o in objects
            if hasattr(o, "metadata")
            for t in [
                o.metadata.creation_timestamp,
                *(c.last_transition_time for c in getattr(getattr(o, "status", None), "conditions", ())),
            ]
            if t
        ]
        if not times:
            raise InputError(source, "holds no timestamp", hint="give --now")
        clock = max(times)
    classes = {
        (kind, c.metadata.name): c.value
        for field, kind in (("wpc", "WorkloadPriorityClass"), ("pc", "PriorityClass"))
        for c in found.pop(field, [])
    }
    found["workloads"] = [_resolved(w, classes) for w in found.get("workloads", [])]
    configurations = found.pop("configuration", [])
    return State(
        now=clock,
        digest=digest,
        source=source,
        configuration=configurations[0] if configurations else Configuration(),
        **{field: tuple(objects) for field, objects in found.items()},
    )


def _resolved(workload: Workload, classes: dict[tuple[str, str], int]) -> Workload:
    spec = workload.spec
    if spec.priority is not None or spec.priority_class is None:
        return workload
    value = classes.get((spec.priority_class.kind, spec.priority_class.name), 0)
    return workload.model_copy(update={"spec": spec.model_copy(update={"priority": value})})
