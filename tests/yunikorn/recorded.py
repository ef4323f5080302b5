"""Answers recorded from the real YuniKorn core, line by line."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, TEST_ALL, recorded_root

Line = dict[str, Any]

FULL = recorded_root()
FOLDER = FULL / "yunikorn" if FULL else ROOT / "instances" / "recorded" / "yunikorn"
FEATURES = (FULL or ROOT / "instances" / "recorded") / "yunikorn-features"
"""What was decided in whole cycles; the project has copies of its own."""


def named(folder: Path) -> list[str]:
    """Return the names of the recorded files of a folder."""
    paths = folder.rglob("*.jsonl.gz")
    return sorted(one.relative_to(folder).as_posix().removesuffix(".jsonl.gz") for one in paths)


NAMES = named(FOLDER)


@cache
def texts(path: Path) -> list[str]:
    """Return the lines of a recorded file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.readlines()


def lines(name: str, step: int) -> Iterator[Line]:
    """Yield every ``step``-th recorded instance of a file, all with PLANNER_TEST_ALL set.

    The test is skipped if the file is nowhere.
    """
    if name not in NAMES:
        pytest.skip(f"no recorded answers {name}: set PLANNER_CONFORMANCE to their folder")
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for text in islice(file, 0, None, 1 if TEST_ALL else step):
            yield json.loads(text)


def step(name: str, sample: int, few: int = 1) -> int:
    """Return the step between the lines of a file that takes every ``sample``-th line.

    All are taken with PLANNER_TEST_ALL set, and where they are few: of what the core does not
    decide twice the same (or every ``few``-th), and where only the project's own copies are there.
    """
    if TEST_ALL or FULL is None:
        return 1
    return few if "/" in name else sample
