"""Answers recorded from the real YuniKorn core, line by line."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from tests.conftest import ROOT, recorded_root

Line = dict[str, Any]

ALL = bool(os.environ.get("PLANNER_ALL_RECORDED"))
FULL = recorded_root()
FOLDER = FULL / "yunikorn" if FULL else ROOT / "instances" / "recorded" / "yunikorn"
NAMES = sorted(
    path.relative_to(FOLDER).as_posix().removesuffix(".jsonl.gz")
    for path in FOLDER.rglob("*.jsonl.gz")
)


def lines(name: str, step: int) -> Iterator[Line]:
    """Yield every ``step``-th recorded instance of a file, all with PLANNER_ALL_RECORDED=1."""
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for text in islice(file, 0, None, 1 if ALL else step):
            yield json.loads(text)
