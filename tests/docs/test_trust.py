"""What a reader of a checked plan has to believe: the page says how many lines that is."""

import re
from typing import Final

import pytest

from tests.conftest import ROOT

PAGE: Final = ROOT / "docs/explanation/optimal.md"
ROW: Final = re.compile(r"\| [^|]+ \| (`[^|]+`) \| ([\d,]+) \|")
NEAR: Final = 0.1
"""The part by which a number on the page may be off: it is there for its size."""


def rows() -> list[tuple[tuple[str, ...], int]]:
    found = ROW.findall(PAGE.read_text("utf-8"))
    return [
        (tuple(re.findall(r"`([a-z/]+)`", rooms)), int(lines.replace(",", "")))
        for rooms, lines in found
    ]


def test_all_pieces_are_there() -> None:
    rooms = {room for some, _ in rows() for room in some}
    assert {"quota", "verifier", "proof", "reader"} <= rooms
    assert rooms.isdisjoint({"models", "solver", "reference"})


@pytest.mark.parametrize(("rooms", "lines"), rows(), ids=str)
def test_lines_are_counted(rooms: tuple[str, ...], lines: int) -> None:
    files = (file for room in rooms for file in (ROOT / "planner" / room).rglob("*.py"))
    counted = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    assert abs(counted - lines) <= NEAR * counted
