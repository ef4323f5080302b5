"""What is left out of the objects: bookkeeping, and what may hold secrets.

Nothing of it decides anything: a state read from trimmed objects plans the same.
"""

from __future__ import annotations

from typing import Any, Final

from planner.state.pods import Container

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which kubectl apply keeps a copy of the whole object."""
CONTAINER_FIELDS: Final = frozenset(
    field.alias or name for name, field in Container.model_fields.items()
)
"""What stays of a container: all that the reader knows. Gone are env, command, args and others."""
_CONTAINER_LISTS: Final = ("containers", "initContainers", "ephemeralContainers")


def trim(item: dict[str, Any]) -> dict[str, Any]:
    """Take managed fields, copies and the inside of containers out of an object, in place.

    What has not the form it should have stays, so that the reader can complain about it.
    """
    metadata = item.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
        annotations = metadata.get("annotations")
        if isinstance(annotations, dict):
            annotations.pop(LAST_APPLIED, None)
    for pod_set in _list(_below(item, "spec").get("podSets")):
        pod = _below(pod_set, "template", "spec")
        for name in _CONTAINER_LISTS:
            if isinstance(pod.get(name), list):
                pod[name] = [_trimmed(container) for container in pod[name]]
    return item


def _trimmed(container: object) -> object:
    if not isinstance(container, dict):
        return container
    return {key: value for key, value in container.items() if key in CONTAINER_FIELDS}


def _below(value: object, *path: str) -> dict[str, Any]:
    """Return the object at a path; an empty one if there is none."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
