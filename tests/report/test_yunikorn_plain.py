"""Plain output of an ask of YuniKorn: stable words, one fact a line."""

from typing import Any

from tests.report.factory import make_plan
from tests.report.rendering import plain
from tests.report.test_plain import lines_of
from tests.report.yunikorn_factory import (
    make_allocation,
    make_core_plan,
    make_room,
    make_use,
    make_yunikorn,
)


def test_a_hostile_name_stays_one_field_on_one_line() -> None:
    evil = "ns/a b\n\x1b[2Jvictim 9 \"quoted\" 'x' \\"
    names: dict[str, Any] = dict.fromkeys(
        ("allocation", "pod", "application", "queue", "node"), evil
    )
    plan = make_yunikorn(
        **dict.fromkeys(("preemptor", "pod", "application", "queue", "partition", "node"), evil),
        explanation=evil,
        victims=[make_allocation("v", **names)],
        room=make_room(resource=evil),
        queues=[make_use(evil, 9, 7, resource=evil)],
        greedy=make_core_plan(victims=[make_allocation("w", **names)], node=evil),
    )
    text = plain.render(plan)
    assert all(line.isprintable() for line in text.splitlines())
    for label in ("preemptor", "pod", "application", "queue", "partition", "node", "common"):
        assert [len(fields) for fields in lines_of(text, label)] == [1], label
    assert len([line for line in text.splitlines() if line.startswith("victim ")]) == 1
    assert len(lines_of(text, "queue_use")[0]) == 6


def test_neither_width_nor_color_changes_anything() -> None:
    assert plain.render(make_yunikorn(), width=10, color=True) == plain.render(make_yunikorn())


def test_plans_of_both_schedulers_have_an_empty_line_between_them() -> None:
    text = plain.render_all([make_plan(), make_yunikorn()])
    assert text == plain.render(make_plan()) + "\n" + plain.render(make_yunikorn())
