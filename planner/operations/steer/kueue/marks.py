"""What the planner writes on Workloads, and reads back: a gate, and boosts with notes.

The gate is put into Workloads as they are created. A note beside each boost says that it is ours,
and for whom. Anybody who may edit a Workload can write such a note, so it is believed for one thing
only: that the boost beside it may be taken away. No other value in it is ever used.

Source: docs/semantics/kueue-features.md §1.6; docs/design/steering.md.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from planner.operations.kubectl.call import NAMES, PROGRAM
from planner.operations.kubectl.kueue_resource import WORKLOADS, LiveObject
from planner.state.kueue_workload import BOOST_ANNOTATION

GATE: Final = "preemption-planner.io/steer"
"""The name of the planner's preemption gate."""
NOTE: Final = "preemption-planner.io/boosted-for"
"""The annotation beside a boost of ours: for whom, and the UID of the boosted Workload."""
BLOCKED: Final = "BlockedOnPreemptionGates"
"""The condition of a Workload for which Kueue would preempt, if its gates were open."""

Operation = dict[str, Any]
"""An operation of a JSON patch (RFC 6902)."""


class Patch(Struct, frozen=True):
    """A change of one object: what it is for, its key, and a merge patch or a JSON patch."""

    title: str
    key: str
    change: Mapping[str, Any] | Sequence[Operation]
    subresource: str = ""
    resource: str = WORKLOADS

    @property
    def kind(self) -> str:
        """What kind of patch it is: of RFC 7386 or of RFC 6902."""
        return "merge" if isinstance(self.change, Mapping) else "json"

    def command(self, options: Sequence[str]) -> str:
        """Return the command line, as a shell takes it, with options that say which cluster."""
        namespace, _, name = self.key.partition("/")
        part = (f"--subresource={self.subresource}",) if self.subresource else ()
        text = json.dumps(self.change, separators=(",", ":"))
        how = (f"--namespace={namespace}", *part, f"--type={self.kind}", f"--patch={text}")
        return shlex.join((PROGRAM, "patch", self.resource, *how, *options, NAMES, name))


class Marked(LiveObject):
    """A Workload with a gate or a boost of ours, as the API server has it."""

    @property
    def uid(self) -> str:
        """Its UID."""
        return str(self.at("metadata", "uid") or "")

    @property
    def is_gated(self) -> bool:
        """Whether it has our gate, open or closed."""
        return self._place("spec") is not None

    @property
    def is_open(self) -> bool:
        """Whether our gate is open; one that has no position is closed."""
        place = self._place("status")
        return place is not None and self._gates("status")[place].get("position") == "Open"

    @property
    def other_gates(self) -> Iterator[str]:
        """The closed gates of others: as long as there is one, ours decides nothing."""
        named = {one.get("name"): one.get("position") for one in self._gates("status")}
        names = (str(one.get("name")) for one in self._gates("spec"))
        return (one for one in names if one != GATE and named.get(one) != "Open")

    @property
    def waits(self) -> bool:
        """Whether it is to be admitted yet."""
        return not self.holds_quota and not self.is_true("Finished")

    @property
    def blocked_since(self) -> datetime | None:
        """Since when Kueue would preempt for it but for its gates; ``None`` if it would not."""
        return self.since(BLOCKED) if self.is_true(BLOCKED) else None

    @property
    def boosted_for(self) -> str | None:
        """For whom it has a boost of ours, by its note; ``None`` if the note is not about it."""
        try:
            found = json.loads(self.annotations.get(NOTE, ""))
        except (ValueError, RecursionError):
            return None
        ours = isinstance(found, dict) and found.get("uid") == self.uid and bool(self.uid)
        return str(found.get("for")) if ours else None

    @property
    def boost(self) -> str | None:
        """The boost of its priority, whoever set it."""
        return self.annotations.get(BOOST_ANNOTATION)

    @property
    def is_ours(self) -> bool:
        """Whether there is anything on it that is ours."""
        return self.is_gated or self.boosted_for is not None

    def _gates(self, part: str) -> list[dict[str, Any]]:
        found = self.at(part, "preemptionGates")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def _place(self, part: str) -> int | None:
        names = [one.get("name") for one in self._gates(part)]
        return names.index(GATE) if GATE in names else None

    # Changes. Each tests what it rests on: the server refuses it if that is no longer so.

    def opened(self, now: datetime) -> Patch:
        """Return the patch that opens our gate, in the status."""
        title, place = f"open the preemption gate of {self.key}", self._place("status")
        where = f"/status/preemptionGates/{place}"
        test = _test(f"{where}/name", GATE)
        change: Operation = {"op": "replace", "path": f"{where}/position", "value": "Open"}
        if place is None:
            stamp = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
            gate = {"name": GATE, "position": "Open", "lastTransitionTime": stamp}
            test = _test("/metadata/resourceVersion", self.version)
            change = {"op": "add", "path": "/status/preemptionGates", "value": [gate]}
            if self._gates("status"):
                change = {"op": "add", "path": "/status/preemptionGates/-", "value": gate}
        return Patch(title, self.key, (test, change), "status")

    def cleared(self) -> Patch | None:
        """Return the patch that takes away all that is ours; ``None`` if there is nothing."""
        place, changes = self._place("spec"), [*self._unboosting()]
        if place is not None and not self.is_true("Finished"):
            where = f"/spec/preemptionGates/{place}"
            changes += (_test(f"{where}/name", GATE), {"op": "remove", "path": where})
        title = f"take what is ours away from {self.key}"
        return Patch(title, self.key, tuple(changes)) if changes else None

    def boosted(self, boost: int, preemptor: str) -> Patch:
        """Return the patch that boosts it, with the note that the boost is ours.

        It is a merge patch, for there may be annotations that were not read: the server refuses
        another version than the one it names.
        """
        annotations = self._boosting(boost, preemptor)
        change = {"metadata": {"resourceVersion": self.version, "annotations": annotations}}
        return Patch(boosting(self.key, boost, preemptor), self.key, change)

    def with_boost(self, boost: int, preemptor: str) -> Marked:
        """Return it as it is once it is boosted."""
        annotations = {**self.annotations, **self._boosting(boost, preemptor)}
        metadata = {**self.value["metadata"], "annotations": annotations}
        return Marked({**self.value, "metadata": metadata})

    def _boosting(self, boost: int, preemptor: str) -> dict[str, str]:
        note = json.dumps({"for": preemptor, "uid": self.uid})
        return {BOOST_ANNOTATION: str(boost), NOTE: note}

    def unboosted(self) -> Patch:
        """Return the patch that takes our boost away, and the note beside it."""
        return Patch(f"take the boost of {self.key} away", self.key, tuple(self._unboosting()))

    def _unboosting(self) -> Iterator[Operation]:
        if self.boosted_for is not None:
            yield _test(_annotation(NOTE), self.annotations[NOTE])
            names = (name for name in (BOOST_ANNOTATION, NOTE) if name in self.annotations)
            yield from ({"op": "remove", "path": _annotation(name)} for name in names)


def boosting(key: str, boost: int, preemptor: str) -> str:
    """Return in words what a boost is, and for whom."""
    return f"boost the priority of {key} by {boost} for {preemptor}"


_ANNOTATIONS: Final = "/metadata/annotations"


def _annotation(name: str) -> str:
    return f"{_ANNOTATIONS}/{name.replace('/', '~1')}"


def _test(path: str, value: object) -> Operation:
    return {"op": "test", "path": path, "value": value}
