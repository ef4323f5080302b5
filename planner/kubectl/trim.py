"""What stays of the objects: the fields that are read. All else is bookkeeping or may be secret.

A state read from trimmed objects is the same.
"""

from __future__ import annotations

from typing import Any, Final

from planner.reader.kinds import KINDS
from planner.reader.unknown import known_part
from planner.state.base import Metadata

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which kubectl apply keeps a copy of the whole object."""
_TELLING: Final = ("name", "namespace", "labels")
_NAMED: Final = ("apiVersion", "kind", "metadata")


def trim(item: dict[str, Any]) -> dict[str, Any]:
    """Return an object with nothing in it but what the reader reads.

    What has not the form it should have stays, so that the reader can complain about it.
    """
    group = str(item.get("apiVersion", "")).rpartition("/")[0]
    kind = KINDS.get((group, str(item.get("kind"))))
    if kind is not None:
        read = known_part(kind.model, item)
    else:  # the ConfigMap of Kueue's Configuration
        read = {key: item[key] for key in (*_NAMED, "data") if key in item}
    whole = {key: item[key] for key in _NAMED if key in item} | read
    if isinstance(whole.get("metadata"), dict):
        whole["metadata"] = _metadata(whole["metadata"])
        if kind is not None and kind.name == "Deployment":  # of which only the release is read
            metadata = whole["metadata"]
            whole["metadata"] = {key: metadata[key] for key in _TELLING if key in metadata}
    return whole


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    read = known_part(Metadata, value)
    annotations = read.get("annotations")
    if isinstance(annotations, dict) and LAST_APPLIED in annotations:
        read["annotations"] = {k: v for k, v in annotations.items() if k != LAST_APPLIED}
    return read
