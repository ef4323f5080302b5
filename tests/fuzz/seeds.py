"""What inputs are made from: whole states, recorded lines, traces, and answers to some of them.

Where PLANNER_CONFORMANCE names the recorded answers, they are among the seeds, too.
"""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from tests.conftest import ROOT, recorded_root

INSTANCES: Final = ROOT / "instances"
LARGEST: Final = 60_000
"""Bytes of a seed at most: what is small is quick, and no less odd."""
LINES_PER_FILE: Final = 3
TRACE_ROWS: Final = 60


class Seed(NamedTuple):
    """A state as the values of its files, without the ends of their names."""

    name: str
    scheduler: str
    parts: tuple[tuple[str, Any], ...]

    def named(self, kind: str) -> list[dict[str, Any]]:
        """Return the objects of a kind that have a name."""
        return [
            one
            for one in _objects(self.parts)
            if one.get("kind") == kind and "name" in (one.get("metadata") or {})
        ]

    def keys(self) -> list[str]:
        """Return names of workloads, or of allocations and asks, as options take them."""
        workloads = map(_key, self.named("Workload"))
        return sorted({*workloads, *_allocations(self.parts)})

    def pending(self) -> list[str]:
        """Return the names of those that wait."""
        waiting = {
            _key(one)
            for one in self.named("Workload")
            if not (one.get("status") or {}).get("admission")
        }
        asked = {
            key
            for one in _objects(self.parts)
            for key in _allocations((one.get("requests"), one.get("ask")))
        }
        return sorted(waiting | asked)

    def queue_paths(self) -> list[str]:
        """Return the paths of the queues of YuniKorn."""
        return sorted({path for one in _objects(self.parts) for path in _paths(one, ())})


def _key(workload: dict[str, Any]) -> str:
    metadata = workload["metadata"]
    return f"{metadata.get('namespace', 'default')}/{metadata['name']}"


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a value, those inside others, too."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _objects(one)


def _allocations(value: Any) -> Iterator[str]:
    return (str(one["allocationKey"]) for one in _objects(value) if "allocationKey" in one)


def _paths(queue: dict[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    name = queue.get("name")
    if isinstance(name, str) and (above or name == "root"):
        yield ".".join((*above, name))
        for child in queue.get("queues") or ():
            yield from _paths(child, (*above, name))


class Made(NamedTuple):
    """What commands said about a seed; see `tests.fuzz.campaign.prepare`."""

    seed: Seed
    files: dict[str, bytes]


class Stock(NamedTuple):
    """All seeds."""

    kueue: tuple[Seed, ...]
    yunikorn: tuple[Seed, ...]
    lines: tuple[Any, ...]
    traces: dict[str, bytes]
    made: tuple[Made, ...] = ()

    @property
    def states(self) -> tuple[Seed, ...]:
        """All states."""
        return self.kueue + self.yunikorn


def stock() -> Stock:
    """Read all seeds, those of recorded answers where there are any."""
    recorded = list(_recorded())
    kueue = [
        Seed(one["id"], "kueue", (("state", one["state"]),)) for one in _with(recorded, "state")
    ]
    yunikorn = [Seed(one["id"], "yunikorn", (("state", one),)) for one in _with(recorded, "queues")]
    return Stock(
        (*_written(), *kueue),
        (*_folders(), *yunikorn),
        tuple(recorded),
        {path.name: _head(path) for path in sorted((INSTANCES / "traces").glob("*.csv"))},
    )


def _with(lines: list[Any], field: str) -> list[Any]:
    return [line for line in lines if field in line]


def _written() -> Iterator[Seed]:
    """Yield the states of Kueue that somebody wrote, each as one List."""
    for folder in ("regressions", "fair-sharing", "vendor"):
        for path in sorted((INSTANCES / folder).glob("*.yaml")):
            items = [one for one in yaml.safe_load_all(path.read_text("utf-8")) if one]
            listed = {"apiVersion": "v1", "kind": "List", "items": items}
            value = items[0] if len(items) == 1 else listed
            # Dates are texts in JSON, and yaml.safe_load makes objects of them.
            yield Seed(path.stem, "kueue", (("state", json.loads(json.dumps(value, default=str))),))


def _folders() -> Iterator[Seed]:
    """Yield the states of YuniKorn, which are folders."""
    dumps = sorted(INSTANCES.glob("*/*/statedump.json"))
    for dump in dumps:
        if dump.stat().st_size > LARGEST:
            continue
        beside = sorted(dump.parent.glob("*.yaml"))
        parts = [("statedump", json.loads(dump.read_bytes()))]
        parts += [(path.stem, yaml.safe_load(path.read_bytes())) for path in beside]
        yield Seed(dump.parent.name, "yunikorn", tuple(parts))


def _recorded() -> Iterator[Any]:
    root = recorded_root()
    folders = [INSTANCES / "recorded", *([root] if root else [])]
    for folder in folders:
        for path in sorted(folder.rglob("*.jsonl.gz")):
            if "scale" not in path.as_posix():
                with gzip.open(path, "rt", encoding="utf-8") as file:
                    texts = [text for text in islice(file, LINES_PER_FILE) if len(text) < LARGEST]
                yield from map(json.loads, texts)


def _head(path: Path) -> bytes:
    return b"".join(path.read_bytes().splitlines(keepends=True)[:TRACE_ROWS])
