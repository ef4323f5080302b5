"""Fields of older versions of Kueue's API in objects of newer ones: the API server drops them.

Source: docs/semantics/kueue-releases.md §1 and docs/semantics/kueue-topology.md §1.1; kueue
ff69552e apis/kueue/v1beta1 and v1beta2.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

_BETA1: Final = ("v1alpha1", "v1beta1")


class OlderField(NamedTuple):
    """A field that only the objects of some versions have; ``path`` leads to it, through lists."""

    path: tuple[str, ...]
    versions: tuple[str, ...]

    @property
    def name(self) -> str:
        """The path as users write it."""
        return ".".join(self.path)

    def is_of(self, api_version: str) -> bool:
        """Say whether objects of a version have the field; the API group may stand before it."""
        return api_version.rpartition("/")[2] in self.versions


PRIORITY_CLASS: Final = OlderField(("spec", "priorityClassName"), _BETA1)
DOMAINS: Final = OlderField(
    ("status", "admission", "podSetAssignments", "topologyAssignment", "domains"), _BETA1
)
_OLDER: Final = {
    "ClusterQueue": (
        OlderField(("spec", "cohort"), _BETA1),
        OlderField(("spec", "admissionChecks"), _BETA1),
    ),
    "Cohort": (OlderField(("spec", "parent"), ("v1alpha1",)),),
    "Workload": (PRIORITY_CLASS, DOMAINS),
}
"""By kind the fields that are read of older versions, under names that newer ones do not have."""


def as_served(
    kind: str, api_version: str, value: dict[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return an object without fields that its version does not have, and their names.

    Fields that are empty are dropped, too, and not named: they say nothing in any version.
    """
    served, named = value, list[str]()
    for one in _OLDER.get(kind, ()):
        if not one.is_of(api_version):
            served, says_something = _without(served, one.path)
            named += [one.name] * says_something
    return served, tuple(named)


def _without(value: object, path: tuple[str, ...]) -> tuple[Any, bool]:
    """Return a value without the fields at a path, and whether one of them said something.

    What has no such field is returned as it is, not copied.
    """
    if isinstance(value, list):
        parts = [_without(each, path) for each in value]
        changed = any(new is not old for (new, _), old in zip(parts, value, strict=True))
        return [new for new, _ in parts] if changed else value, any(said for _, said in parts)
    name, *rest = path
    if not isinstance(value, dict) or name not in value:
        return value, False
    if not rest:
        return {key: each for key, each in value.items() if key != name}, bool(value[name])
    below, said = _without(value[name], tuple(rest))
    return value if below is value[name] else {**value, name: below}, said
