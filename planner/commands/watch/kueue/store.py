"""States in files, as ``planner replay --before --after`` reads them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from planner.commands.watch.record import Preemption
from planner.dump import as_json, listed
from planner.errors import InputError
from planner.reader.taken import TAKEN_AT, written
from planner.state.kueue import API_GROUP, Facts, State

MOST: Final = 100
"""Recordings that are kept of each outcome: then the oldest goes."""


class Store:
    """A folder of recordings: one folder for each preemption."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, deque[Path]] = defaultdict(deque)

    def keep(
        self, found: Preemption, before: State, after: State, others: Sequence[dict[str, Any]]
    ) -> Preemption:
        """Write the states before and after a preemption; return it with where they are.

        Raises
        ------
        InputError
            If they cannot be written.
        """
        name = found.preemptor.replace("/", "-")[:100]
        moment = f"{after.now:%Y%m%dT%H%M%S}"
        place = self._folder / f"{moment}-{found.outcome}-{name}"
        kept = self._kept[found.outcome]
        try:
            place.mkdir(parents=True, exist_ok=True)
            for label, state in (("before", before), ("after", after)):
                (place / f"{label}.json.gz").write_bytes(gzip.compress(text_of(state, others)))
            kept.append(place)
            if len(kept) > MOST:
                shutil.rmtree(kept.popleft(), ignore_errors=True)
        except OSError as error:
            raise InputError(f"--record {place}", f"cannot be written: {error.strerror}") from None
        return found.model_copy(update={"recording": str(place)})


def text_of(state: State, others: Sequence[dict[str, Any]]) -> bytes:
    """Return a state as the dump of a snapshot; ``others`` are all objects but workloads."""
    whole = listed([*others, *_workloads(state)], {TAKEN_AT: written(state.now)})
    return as_json(whole).encode()


def _workloads(state: State) -> Iterator[dict[str, Any]]:
    kind = {"apiVersion": f"{API_GROUP}/v1beta2", "kind": "Workload"}
    for one in state.workloads.entries:
        if isinstance(one, Facts):
            yield json.loads(bytes(one.text))
        else:
            yield kind | one.model_dump(mode="json", by_alias=True, exclude_none=True)
