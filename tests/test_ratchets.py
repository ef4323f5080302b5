"""What the house weighs falls, and the table of it with it."""

import ast
from pathlib import Path

import pytest

from tests import ratchets
from tests.test_architecture import Source

TEXT = '''"""A text."""

import numpy as np  # a comment
# another

from msgspec import Struct


class One(Struct):
    """A record."""

    D11: int


class Two(One, frozen=True):
    value: Any

    @property
    def _kept(self) -> Any: ...


class Three:
    def many(self, a, b, c, d, e, *, f): ...


def _helper(some: Any) -> list[Any]:
    """Say what it does.

    At length.
    """
    return [
        # of all
        np.array(some),
    ]


def several() -> int:
    return (_helper(1)[0]
    )
'''


def test_no_number_rises_and_the_table_falls_with_them() -> None:
    """After a change that lowers one, or a merge: python -m tests.ratchets."""
    before, today = ratchets.table(), ratchets.measured()
    assert not {name: n for name, n in today.items() if n > before.get(name, -1)}
    assert ratchets.TABLE.read_text("utf-8") == ratchets.written(today)


def test_what_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text(TEXT, "utf-8")
    for name, value in {
        "sources": lambda: [Source(path, "one", ast.parse(TEXT))],
        "ENTRANCES": (),
        "ASKED": (),
        "TRUSTED": ("one",),
    }.items():
        monkeypatch.setattr(ratchets, name, value)
    found = ratchets.measured()
    assert found == {
        "code lines of one": 15,
        "code lines that solve and check reach": 0,
        "modules that solve and check reach": 0,
        "code lines that check trusts": 15,
        "record types": 2,
        "functions used once": 1,
        "private helpers called once and under 8 lines": 1,
        "functions with 6 or more parameters": 1,
        "values of type Any": 3,
        "public names of functions in 10 or more files": 0,
        "files of the core that know D11": 1,
        "files of the core that know KEP-83": 0,
        "files of the core that know strict": 0,
    }


def test_of_two_lines_that_a_merge_leaves_the_lower_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "ratchets.txt"
    path.write_text(
        "    12  code lines of one\n   103  record types\n    9  code lines of one\n", "utf-8"
    )
    monkeypatch.setattr(ratchets, "TABLE", path)
    assert ratchets.table() == {"code lines of one": 9, "record types": 103}
