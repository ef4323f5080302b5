"""The page of claims says what was recorded, and nothing that the record does not bear out."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from functools import cache
from typing import Any

from planner.commands.compare.confidence import clustered
from tests.commands.import_.files import SMALL
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "explanation" / "sensitivity"
PAGE = FOLDER.with_name("claims").with_suffix(".md")
START = "<!-- sensitivity: written by tests/docs/test_claims.py -->\n"
BLOCK = re.compile(rf"(?<={re.escape(START)}).*?(?=<!-- /sensitivity -->)", re.DOTALL)


@cache
def script() -> Any:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("sensitivity", SMALL / "sensitivity.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sensitivity"] = module  # where dataclasses look their own module up
    spec.loader.exec_module(module)
    return module


def recorded() -> dict[str, list[Any]]:
    """Return the recorded states by setting."""
    found: dict[str, list[Any]] = script().read(FOLDER / "cases.csv")
    return found


def test_every_setting_was_run_at_the_same_instants() -> None:
    found = recorded()
    assert list(found) == list(script().SETTINGS)
    for some in found.values():
        assert len(some) == script().INSTANTS
        assert [one.day for one in some] == [one.day for one in found["base"]]
        assert all(one.regretless <= one.fewer <= one.evicts for one in some)


def test_the_table_is_what_was_recorded() -> None:
    """With PLANNER_UPDATE_PAGES=1 it is written anew."""
    text, told = PAGE.read_text("utf-8"), f"\n{script().table(recorded())}\n"
    if os.environ.get("PLANNER_UPDATE_PAGES"):
        PAGE.write_text(BLOCK.sub(lambda _: told, text), "utf-8")
        text = PAGE.read_text("utf-8")
    assert BLOCK.findall(text) == [told]


def test_the_picture_is_of_what_was_recorded() -> None:
    def lines(svg: str) -> list[str]:
        return re.findall(r'<path d="([^"]*)" clip-path', svg)

    found = lines((FOLDER / "shares.svg").read_text("utf-8"))
    assert len(found) > 2 * len(script().SETTINGS)
    assert found == lines(script().drawn(recorded()))


def test_days_and_pairs_are_what_intervals_are_of() -> None:
    """Each share is of the states that the page says, and differences are instant by instant."""
    found = recorded()
    base, other = found["base"], found["gang 128"]
    few = [one for one in base if one.evicts]
    expected = clustered([one.fewer for one in few], [one.day for one in few])
    assert script().interval(script().evicting(base), lambda one: one.fewer) == expected
    more = [late.fewer - early.fewer for late, early in zip(other, base, strict=True)]
    assert script().more_than(base, other).value == sum(more) / len(more)
