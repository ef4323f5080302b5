"""Whole screens, compared with stored ones; PLANNER_UPDATE_GOLDEN=1 stores them anew."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.report.factory import make_infeasible, make_plan, make_victim
from tests.report.rendering import plain, table
from tests.report.yunikorn_factory import make_no_yunikorn, make_yunikorn

GOLDEN = Path(__file__).parent / "golden"
SCREENS: dict[str, Callable[[], str]] = {
    "plan-80.txt": lambda: table.render(make_plan(), width=80),
    "plan-108.txt": lambda: table.render(make_plan(), width=108),
    "plan-160.txt": lambda: table.render(make_plan(), width=160),
    "infeasible-108.txt": lambda: table.render(make_infeasible(), width=108),
    "evicting-108.txt": lambda: table.render(
        make_plan(victims=[make_victim("team-b/gone", evicted=True)]), width=108
    ),
    "plan-plain.txt": lambda: plain.render(make_plan()),
    "yunikorn-80.txt": lambda: table.render(make_yunikorn(), width=80),
    "yunikorn-120.txt": lambda: table.render(make_yunikorn(), width=120),
    "yunikorn-infeasible-108.txt": lambda: table.render(make_no_yunikorn(), width=108),
    "yunikorn-plain.txt": lambda: plain.render(make_yunikorn()),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen_is_as_stored(name: str) -> None:
    screen, file = SCREENS[name](), GOLDEN / name
    if os.environ.get("PLANNER_UPDATE_GOLDEN"):
        file.write_text(screen, encoding="utf-8")
    assert screen == file.read_text(encoding="utf-8")
