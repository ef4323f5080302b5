"""The state of a cluster after each change; the states around each preemption, also in files.

Changes are gathered and applied together. But when the first victim of a preemptor shows, all
changes before it are applied first: the state is then the one that Kueue decided on, as far as can
be told from outside.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from planner.commands.replay.kueue_live import Eviction
from planner.dump import as_json, listed
from planner.errors import InputError
from planner.operations.kubectl.kueue_dump import Dump, trim
from planner.operations.kubectl.kueue_resource import WORKLOADS, LiveObject
from planner.operations.kubectl.watch import WatchEvent
from planner.operations.watch.record import Preemption
from planner.reader import read
from planner.reader.settings import TAKEN_AT, written
from planner.state.kueue import State, of_kueue
from planner.state.kueue_workload import API_GROUP
from planner.state.kueue_workloads import Changes, Workloads

SETTLED_S: Final = 3.0
"""A preemption is over when no further victim of it has shown for so many seconds."""
_CLASSES: Final = ("WorkloadPriorityClass", "PriorityClass")
_SETTINGS: Final = {"ClusterQueue", "LocalQueue", "Cohort", "ResourceFlavor"}
"""Kinds that are watched; when more of an object changes than its counts, all is read anew."""


class Whole(NamedTuple):
    """A state, and all its objects but workloads as they were read, for a recording."""

    state: State
    others: Sequence[dict[str, Any]]


@dataclass
class Episode:
    """A preemption that is going on: the states before it, when its last victim showed, and all.

    Kueue decides for all heads of a cycle by one snapshot, and evicts for them one after the other:
    it decided on the state before this preemption, the first in ``before``, or on the state before
    another preemption that was still going on.
    """

    before: tuple[Whole, ...]
    last_s: float
    victims: list[Eviction] = field(default_factory=list)


class _Said(BytesIO):
    """What the API server said, to be read as a file that errors name."""

    name = "the cluster"


class Keeper:
    """The state of a cluster, kept up to date by changes from a dump of everything on.

    ``how`` is with which release and requests states are read, as for ``planner.read``; ``seconds``
    is a clock that never jumps. The machine's own clock is only asked when a dump is taken.
    """

    def __init__(self, dump: Dump, how: Mapping[str, Any], seconds: Callable[[], float]) -> None:
        self._how, self._seconds = how, seconds
        self._taken, self._since = dump.taken_at, seconds()
        self.state: State = of_kueue(read(_Said(dump.text().encode()), **how))
        self.others = [one for one in dump.objects if one["kind"] != "Workload"]
        self._classes = [one for one in self.others if one["kind"] in _CLASSES]
        self._versions: dict[str, int] = {}
        self._preempted: dict[str, tuple[str, str]] = {}
        self._configured: dict[tuple[str, str], str] = {}
        self._new: dict[str, dict[str, Any] | None] = {}
        self.touched: set[str] = set()
        self.episodes: dict[str, Episode] = {}
        for one in dump.objects:
            live = LiveObject(one)
            if one["kind"] == "Workload":
                self._versions[live.key] = live.revision
                self._preempted |= {live.key: said} if (said := live.preempted) else {}
            elif one["kind"] in _SETTINGS:
                self._configured[one["kind"], live.key] = live.settings
        self._queue_of = {
            (local.metadata.namespace, local.metadata.name): local.spec.cluster_queue
            for local in self.state.local_queues
        }

    @property
    def now(self) -> datetime:
        """The moment by the clock at the time of the dump, however that clock was set since."""
        return self._taken + timedelta(seconds=max(0.0, self._seconds() - self._since))

    @property
    def whole(self) -> Whole:
        """The state as it is kept up to date, with the other objects."""
        return Whole(self.state, self.others)

    def take(self, event: WatchEvent) -> bool:
        """Take one change; say whether it requires that everything is read anew.

        Raises ``InputError`` if an object that was taken before is not what it has to be.
        """
        live, item, deleted = LiveObject(event.value), event.value, event.kind == "DELETED"
        named = isinstance(live.at("metadata", "name"), str)
        if not named or str(item.get("kind")) not in {"Workload", *_SETTINGS}:
            return False  # such as the list of all, which the dump has
        key, version = live.key, live.revision
        if event.resource != WORKLOADS:
            settings = "" if deleted else LiveObject(trim(item)).settings
            return self._configured.get((item["kind"], key), "") != settings
        if version and version <= self._versions.get(key, 0):
            return False  # the dump has this version, or a later one
        if deleted:
            if self._versions.pop(key, None) is not None:
                self._new[key] = None
                self._preempted.pop(key, None)
            return False
        self._versions[key] = version
        said = live.preempted
        if said is None:
            self._preempted.pop(key, None)
        elif self._preempted.get(key) != said:
            self._preempted[key], uid = said, said[0]
            if uid not in self.episodes:  # the first of its victims: the state before counts
                self.settle()
                going_on = (one.before[0] for one in self.episodes.values())
                self.episodes[uid] = Episode((self.whole, *going_on), 0.0)
            self.episodes[uid].last_s = self._seconds()
            moment = live.since("Preempted") or self.now
            self.episodes[uid].victims.append(Eviction(key, moment, moment))
        self._new[key] = trim(item)
        return False

    def settle(self) -> None:
        """Apply all changes that were taken; InputError if an object is not what it has to be."""
        new, self._new = self._new, {}
        workloads = self.state.workloads
        known = {key: place for place, key in enumerate(workloads.keys)}
        found = self._read([one for one in new.values() if one])
        changed = [at for at, key in enumerate(found.keys) if key in known]
        added = [at for at, key in enumerate(found.keys) if key not in known]
        gone = [key for key, one in new.items() if one is None and key in known]
        for some in (workloads.chosen([known[key] for key in new if key in known]), found):
            self.touched.update(self._queues_of(some))
        changes = Changes(found.chosen(added), found.chosen(changed), gone)
        self.state = self.state.apply(changes, max(self.now, self.state.now))

    def over(self) -> Iterator[tuple[str, Episode]]:
        """Remove and yield preemptions that are over, with the preemptor's UID."""
        now = self._seconds()
        for uid in [*self.episodes]:
            if now - self.episodes[uid].last_s >= SETTLED_S:
                yield uid, self.episodes.pop(uid)

    def _read(self, items: list[dict[str, Any]]) -> Workloads:
        """Read workloads as a state keeps them, each with a text of its own."""
        if not items:
            return Workloads()
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*self._classes, *items]})
        return of_kueue(
            read(_Said(text.encode()), **{**self._how, "now": self.state.now})
        ).workloads.alone()

    def _queues_of(self, some: Workloads) -> Iterator[str]:
        """Yield the ClusterQueues in which workloads hold quota, or wait."""
        yield from filter(None, some.columns.queues)
        yield from filter(None, map(self._queue_of.get, some.columns.local_queues))


MOST: Final = 100
"""The most recordings that are kept of each outcome: beyond that the oldest is deleted."""


class Store:
    """A folder of recordings: one folder for each preemption."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = defaultdict[str, deque[Path]](deque)

    def keep(self, found: Preemption, before: Whole, after: Whole) -> Preemption:
        """Write the states before and after a preemption; return it with the folder of both.

        Raises ``InputError`` if they cannot be written.
        """
        # Other keys may look the same: cut, or with a hyphen in the place of the slash.
        name = found.preemptor.replace("/", "-")[:100]
        name += f"-{hashlib.sha256(found.preemptor.encode()).hexdigest()[:8]}"
        place = self._folder / f"{after.state.now:%Y%m%dT%H%M%S}-{found.outcome}-{name}"
        kept = self._kept[found.outcome]
        try:
            place.mkdir(parents=True, exist_ok=True)
            for label, whole in (("before", before), ("after", after)):
                (place / f"{label}.json.gz").write_bytes(gzip.compress(text_of(whole)))
            if place not in kept:
                kept.append(place)
            if len(kept) > MOST:
                shutil.rmtree(kept.popleft(), ignore_errors=True)
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)  # half a recording
            raise InputError(f"--record {place}", f"cannot be written: {error.strerror}") from None
        return found.model_copy(update={"recording": str(place)})


def text_of(whole: Whole) -> bytes:
    """Return a state as the dump of a snapshot."""
    kind = {"apiVersion": f"{API_GROUP}/v1beta2", "kind": "Workload"}
    columns = whole.state.workloads.columns
    workloads = (
        json.loads(bytes(source))
        if is_text
        else kind | source.model_dump(mode="json", by_alias=True, exclude_none=True)
        for source, is_text in zip(columns.source, columns.is_text, strict=True)
    )
    dump = listed([*whole.others, *workloads], {TAKEN_AT: written(whole.state.now)})
    return as_json(dump).encode()
