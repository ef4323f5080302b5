"""Fields of older versions of Kueue's API in objects of newer ones: the API server drops them.

Source: docs/semantics/kueue-releases.md §1; kueue ff69552e apis/kueue/v1beta1 and v1beta2.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

_BETA1: Final = ("v1alpha1", "v1beta1")


class OlderField(NamedTuple):
    """A field of ``spec`` that only the objects of some versions have."""

    name: str
    versions: tuple[str, ...]

    def is_of(self, api_version: str) -> bool:
        """Say whether objects of a version have the field; the API group may stand before it."""
        return api_version.rpartition("/")[2] in self.versions


PRIORITY_CLASS: Final = OlderField("priorityClassName", _BETA1)
_OLDER: Final = {
    "ClusterQueue": (OlderField("cohort", _BETA1), OlderField("admissionChecks", _BETA1)),
    "Cohort": (OlderField("parent", ("v1alpha1",)),),
    "Workload": (PRIORITY_CLASS,),
}
"""By kind the fields that are read of older versions, under names that newer ones do not have."""


def as_served(
    kind: str, api_version: str, value: dict[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return an object without fields that its version does not have, and their names.

    Fields that are empty are dropped, too, and not named: they say nothing in any version.
    """
    spec = value.get("spec")
    older = [one.name for one in _OLDER.get(kind, ()) if not one.is_of(api_version)]
    if not isinstance(spec, dict) or spec.keys().isdisjoint(older):
        return value, ()
    served = {name: each for name, each in spec.items() if name not in older}
    return {**value, "spec": served}, tuple(name for name in older if spec.get(name))
