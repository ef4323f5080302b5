"""What a table shows of an ask of YuniKorn, whatever the width, and what it never does."""

import re
from typing import Any

import pytest

from planner.plan.yunikorn import YuniKornVictim
from planner.report.text import cells as cell_len
from planner.report.words import cautions
from tests.report.rendering import table
from tests.report.yunikorn_factory import (
    make_allocation,
    make_core_plan,
    make_no_yunikorn,
    make_room,
    make_use,
    make_yunikorn,
    make_yunikorn_certificate,
)
from tests.told import told

WIDTHS = (60, 80, 108, 120, 160)
EVIL = "ns/\x1b[2J\x1b]0;title\x07\r\n\u202e\x9b1m"


@pytest.mark.parametrize("width", [80, 108, 120, 160, 400])
def test_no_line_is_too_long(width: int) -> None:
    long = make_allocation("a" * 60, queue="root." + "b" * 60, application="c" * 60, node="d" * 60)
    for plan in (make_yunikorn(), make_yunikorn(victims=[long]), make_no_yunikorn()):
        lines = table.render(plan, width=width).split("\n")
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_no_long_name_loses_a_letter(width: int) -> None:
    letters: dict[str, Any] = {
        "queue": "q" * 90,
        "application": "p" * 90,
        "node": "d" * 90,
        "pod": "w" * 90,
    }
    victim = make_allocation("v", **letters)
    screen = table.render(make_yunikorn(victims=[victim], greedy=None), width=width)
    rows = re.search(r"^ Victim.*?victim\b", screen, re.MULTILINE | re.DOTALL)
    assert rows is not None
    body = rows.group().partition("──\n")[2]
    assert all(body.count(name[0]) >= len(name) for name in letters.values())


@pytest.mark.parametrize(
    ("before", "after", "color"), [(10, 7, "1;31"), (6, 7, "33"), (10, 17, "1;31"), (10, 9, None)]
)
def test_queues_outside_their_limits_are_coloured(
    before: int, after: int, color: str | None
) -> None:
    use = make_use("root.q", before, after, max=16)
    screen = table.render(make_yunikorn(queues=[use]), width=108, color=True)
    (found,) = re.findall(rf"root\.q .*?(?:\x1b\[([0-9;]+)m)? *{after}\b.*\n", screen)
    assert found == (color or "")


def hostile_victim() -> YuniKornVictim:
    """Return a victim whose every name would like to steer the terminal."""
    names: dict[str, Any] = dict.fromkeys(
        ("allocation", "pod", "application", "queue", "node"), EVIL
    )
    return make_allocation("v", **names)


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("width", [60, 120, 400])
def test_no_name_can_steer_the_terminal(width: int, color: bool) -> None:  # noqa: FBT001
    names = ("preemptor", "pod", "application", "queue", "partition", "node", "objective")
    plan = make_yunikorn(
        **dict.fromkeys((*names, "explanation"), EVIL),
        victims=[hostile_victim()],
        room=make_room(resource=EVIL),
        queues=[make_use(EVIL, 9, 7, resource=EVIL)],
        greedy=make_core_plan(node=f"{EVIL}2", outside_rules=[f"YK-02 {EVIL}"]),
        certificate=make_yunikorn_certificate(solver=EVIL, digest=EVIL),
    )
    screen = table.render(plan, width=width, color=color)
    screen = re.sub(r"\x1b\[[0-9;]*m", "", screen) if color else screen
    assert screen.replace("\n", "").isprintable()
    assert all(said.isprintable() for said in cautions(plan))


def test_a_plan_that_loses_more_work_is_warned_of() -> None:
    """16,440 + 240 accelerator-seconds are 4.63 hours, 2,880 + 240 are 0.87."""
    greedy = make_core_plan(outside_rules=())
    (said,) = cautions(make_yunikorn(greedy=greedy))
    told(said)
    assert "choice 0.87" in said
    assert not list(cautions(make_yunikorn()))
