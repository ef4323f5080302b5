"""The published JSON Schemas, generated from the classes that read and write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from planner.commands.audit.record import Audit
from planner.commands.compare.record import Comparison
from planner.commands.explain.record import CommonExplanation
from planner.commands.replay import ReplayReport
from planner.commands.whatif.edit import Settings, WhatIf
from planner.plan import AnyPlan
from planner.plan.front import Front
from planner.report.catalogue import Catalogue
from planner.report.checking import Checks
from planner.report.front import Fronts
from planner.report.plans import Plans
from planner.scheduler import schedulers
from planner.wing import each

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = "#/$defs/{model}"
_OLD_FUNGIBILITY: Final = ["Borrow", "Preempt"]
"""What MayStopSearch was called before v1beta2; the reader takes both."""


class Published(Struct, frozen=True):
    """A schema: a summary of what it describes, and the function that makes it."""

    summary: str
    make: Callable[[], dict[str, Any]]


def schema_text(name: str) -> str:
    """Return a published schema as JSON text."""
    schema = {"$schema": DIALECT, **SCHEMAS[name].make()}
    return json.dumps(schema, indent=2, ensure_ascii=True) + "\n"


def _schema(record: type[BaseModel], mode: JsonSchemaMode = "serialization") -> dict[str, Any]:
    """Return the schema of a record."""
    return TypeAdapter(record).json_schema(by_alias=True, mode=mode)


def _input() -> dict[str, Any]:
    """Return the schema of STATE: a v1 List of objects, or one object.

    Objects of other kinds are ignored, and so are fields that no schema names.
    """
    kinds = [pair for one in schedulers() for pair in one.kinds.items()]
    models = list(dict.fromkeys(kind.model for _, kind in kinds))
    _, shared = models_json_schema(
        [(model, "validation") for model in models], by_alias=True, ref_template=_REFERENCE
    )
    definitions = {name: _bare(schema) for name, schema in shared["$defs"].items()}
    for name in ("whenCanBorrow", "whenCanPreempt"):
        definitions["FlavorFungibility"]["properties"][name]["enum"] += _OLD_FUNGIBILITY
    known = []  # an object by its kind and version, or anything else
    for (group, name), kind in kinds:
        versions = [f"{group}/{version}".lstrip("/") for version in kind.versions]
        is_kind = {"kind": {"const": name}, "apiVersion": {"enum": versions}}
        known.append(
            {
                "if": {"properties": is_kind, "required": ["kind", "apiVersion"]},
                "then": {"$ref": _REFERENCE.format(model=kind.model.__name__)},
            }
        )
    definitions["KubernetesObject"] = {
        "type": "object",
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}},
        "required": ["kind"],
        "allOf": known,
    }
    listed = {
        "type": "object",
        "properties": {
            "kind": {"const": "List"},
            "items": {"type": "array", "items": {"$ref": "#/$defs/KubernetesObject"}},
        },
        "required": ["kind", "items"],
    }
    return {
        "title": "State",
        "description": "Kubernetes objects as kubectl get -o json prints them: a List, or one. "
        "Other kinds and fields are ignored; null means absent.",
        "if": {"properties": {"kind": {"const": "List"}}, "required": ["kind"]},
        "then": listed,
        "else": {"$ref": "#/$defs/KubernetesObject"},
        "$defs": definitions,
    }


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out titles, which repeat names, and defaults, which are in the planner's units."""
    bare = dict[str, Any]()
    for key, value in schema.items():
        if key in {"title", "default"}:
            continue
        if key == "properties":
            bare[key] = {name: _bare(item) for name, item in value.items()}
        elif isinstance(value, list):
            bare[key] = [_bare(item) if isinstance(item, dict) else item for item in value]
        else:
            bare[key] = _bare(value) if isinstance(value, dict) else value
    return bare


_COSTS: Final = {
    "title": "Costs",
    "description": "Cost of evicting a workload, by namespace/name, or an allocation, by its "
    "key; others cost 1.",
    "type": "object",
    "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 2**40},
}


def _output(of: str, record: type[BaseModel]) -> Published:
    return Published(f"the output of {of} --format json", lambda: _schema(record))


SCHEMAS: Final[Mapping[str, Published]] = {
    "input": Published("what STATE holds: the kinds and fields that are read", _input),
    "costs": Published("the file of solve --costs", lambda: {**_COSTS}),
    "plan": _output("solve", AnyPlan),
    "plans": _output("solve --all", Plans),
    "front": _output("solve --objective pareto:A,B", Front),
    "fronts": _output("solve --all --objective pareto:A,B", Fronts),
    "check": _output("check", Checks),
    "whatif": _output("whatif", WhatIf),
    "settings": _output("whatif --list", Settings),
    "audit": _output("audit", Audit),
    "comparison": _output("compare", Comparison),
    "explanation": _output("explain", CommonExplanation),
    "replay": _output("replay", ReplayReport),
    "laws": _output("laws", Catalogue),
    **{
        name: Published(summary, partial(_schema, model, mode))
        for own in (*(one.schemas for one in schedulers()), *each("schemas"))
        for name, (summary, model, mode) in own.items()
    },
}
