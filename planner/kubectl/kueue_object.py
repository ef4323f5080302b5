"""An object of Kueue as the API server has it, before it is read into a state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from planner.state.kueue_workload import preemptor_uid


class LiveObject:
    """An object as the API server has it.

    Only what is asked for here is looked at; whatever has another form is taken as missing.
    """

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value

    def at(self, *path: str) -> Any:  # noqa: ANN401 - any JSON
        """Return what stands at a path; ``None`` if nothing does."""
        found: Any = self.value
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found

    @property
    def key(self) -> str:
        """``namespace/name``; what is in no namespace begins with the slash."""
        return f"{self.at('metadata', 'namespace') or ''}/{self.at('metadata', 'name')}"

    @property
    def version(self) -> str:
        """Its resourceVersion, which changes with every change of the object."""
        return str(self.at("metadata", "resourceVersion") or "")

    @property
    def revision(self) -> int:
        """Its resourceVersion as a number, which grows with each change; 0 for none."""
        return int(self.version) if self.version.isdecimal() else 0

    @property
    def annotations(self) -> dict[str, str]:
        """Its annotations."""
        found = self.at("metadata", "annotations")
        pairs = found.items() if isinstance(found, dict) else ()
        return {name: value for name, value in pairs if isinstance(value, str)}

    @property
    def conditions(self) -> list[dict[str, Any]]:
        """The conditions of its status, in their order."""
        found = self.at("status", "conditions")
        usual = isinstance(found, list) and all(isinstance(one, dict) for one in found)
        return found if usual else []

    def condition(self, kind: str) -> dict[str, Any]:
        """Return the condition of a type; empty if there is none."""
        return next((one for one in self.conditions if one.get("type") == kind), {})

    def is_true(self, kind: str) -> bool:
        """Whether a condition is there and True."""
        return self.condition(kind).get("status") == "True"

    @property
    def settings(self) -> str:
        """What of a queue is no count of what goes on in it: its spec, and how it stands."""
        told = [(one.get("type"), one.get("status")) for one in self.conditions]
        return json.dumps([self.at("spec"), told], sort_keys=True)

    @property
    def preempted(self) -> tuple[str, str] | None:
        """For whom (its UID) a workload is preempted, and since when; ``None`` if it is not."""
        told = self.condition("Preempted")
        uid = preemptor_uid(str(told.get("message"))) if self.is_true("Preempted") else ""
        return (uid, str(told.get("lastTransitionTime"))) if uid else None

    @property
    def holds_quota(self) -> bool:
        """Whether it takes quota: reserved, and not finished (docs/semantics/kueue.md §2)."""
        return (
            bool(self.at("status", "admission"))
            and self.is_true("QuotaReserved")
            and not self.is_true("Finished")
        )

    @property
    def eviction(self) -> tuple[str, str]:
        """Its key, and since when it is being evicted: a later eviction is another one."""
        return self.key, str(self.condition("Evicted").get("lastTransitionTime", ""))
