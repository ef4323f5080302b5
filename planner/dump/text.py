"""The objects of a state as a v1 List: JSON, YAML, or one line of many."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def as_json(objects: Sequence[dict[str, Any]]) -> str:
    """Return a v1 List as JSON, each object on a line of its own."""
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in objects)
    body = f"\n{lines}\n" if lines else ""
    return f'{{"apiVersion":"v1","kind":"List","items":[{body}]}}\n'


def as_line(objects: Sequence[dict[str, Any]]) -> str:
    """Return a v1 List as one line of JSON: a state of a file that ends in .jsonl."""
    return json.dumps(_list(objects), separators=(",", ":")) + "\n"


def as_yaml(objects: Sequence[dict[str, Any]]) -> str:
    """Return a v1 List as YAML."""
    import yaml  # noqa: PLC0415 - JSON is written far more often

    text: str = yaml.safe_dump(_list(objects), sort_keys=False, width=100)
    return text


def _list(objects: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}
