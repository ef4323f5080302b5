"""Generated and imported clusters, written as kubectl would print them.

A state, also one of YuniKorn, becomes text here: JSON, YAML, or one line of many.

kueue.py  single objects of Kueue
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from planner.stage import going_on


def listed(
    objects: Iterable[dict[str, Any]], annotations: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return objects of Kubernetes as a v1 List; ``annotations`` are those of the List."""
    head: dict[str, Any] = {"apiVersion": "v1", "kind": "List"}
    if annotations:
        head["metadata"] = {"annotations": dict(annotations)}
    return {**head, "items": list(objects)}


def uid_of(*words: object) -> str:
    """Return a UID, always the same for the same words."""
    digest = sha256("/".join(map(str, words)).encode()).digest()
    return str(UUID(bytes=digest[:16], version=4))


def rfc3339(moment: datetime) -> str:
    """Write a moment as Kubernetes does, in whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def as_json(state: Mapping[str, Any]) -> str:
    """Return a state as JSON, each object of a list at its top on a line of its own."""
    members = (
        f"{_compact(key)}:[\n" + ",\n".join(map(_compact, _with_progress(each))) + "\n]"
        if isinstance(each, list) and each
        else f"{_compact(key)}:{_compact(each)}"
        for key, each in state.items()
    )
    return "{" + ",".join(members) + "}\n"


def as_line(state: Mapping[str, Any]) -> str:
    """Return a state as one line of JSON, for a file that ends in .jsonl."""
    return _compact(state) + "\n"


def as_yaml(state: Mapping[str, Any]) -> str:
    """Return a state as YAML."""
    import yaml  # noqa: PLC0415 - JSON is written far more often

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    def block(value: object) -> str:
        text: str = yaml.dump(value, Dumper=dumper, sort_keys=False, width=100)
        return text

    # A list at the top is written item by item, so that progress can be reported.
    return "".join(
        f"{key}:\n" + "".join(block([item]) for item in _with_progress(each))
        if isinstance(each, list) and each
        else block({key: each})
        for key, each in state.items()
    )


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _with_progress(items: Iterable[object]) -> Iterator[object]:
    """Yield items, reporting progress before each."""
    for item in items:
        going_on()
        yield item
