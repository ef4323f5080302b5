"""Plain output is for grep and awk: stable words, one fact a line."""

import re
import shlex
from typing import Any

import pytest

from tests.report.factory import (
    make_certificate,
    make_demand,
    make_greedy,
    make_infeasible,
    make_plan,
    make_victim,
)
from tests.report.rendering import plain
from tests.report.yunikorn_factory import (
    make_allocation,
    make_core_plan,
    make_room,
    make_use,
    make_yunikorn,
)


def lines_of(text: str, label: str) -> list[list[str]]:
    """Return the fields of the lines with a label, split as a shell would."""
    fields = [shlex.split(line) for line in text.splitlines() if line.startswith(f"{label} ")]
    return [rest for _, *rest in fields]


def test_numbers_have_no_thousands_separator() -> None:
    victim = make_victim("a/b", costs={"lost_work": 10**9}, age_s=10**9)
    plan = make_plan(victims=[victim], terms={"lost_work": 10**9}, greedy=None)
    assert not re.search(r"\d,\d", plain.render(plan))


def test_a_hostile_name_stays_one_field_on_one_line() -> None:
    evil = "ns/a b\n\x1b[2Jvictim 9 \"quoted\" 'x' \\"
    plan = make_plan(
        preemptor=evil,
        explanation=evil,
        victims=[make_victim(evil, cluster_queue=evil, reason=evil)],
        demand=[make_demand(resource=evil, flavor=evil)],
        greedy=make_greedy(victims=[make_victim(evil)]),
        certificate=make_certificate(solver=evil, digest=evil),
    )
    text = plain.render(plan)
    assert all(line.isprintable() for line in text.splitlines())
    assert len(lines_of(text, "preemptor")[0]) == 1
    assert len([line for line in text.splitlines() if line.startswith("victim ")]) == 1


@pytest.mark.parametrize("width", [None, 10, 1000])
def test_neither_width_nor_color_changes_anything(width: int | None) -> None:
    assert plain.render(make_plan(), width=width, color=True) == plain.render(make_plan())


def test_no_row_is_left_out() -> None:
    victims = [make_victim(f"ns/v{i}") for i in range(500)]
    assert len(lines_of(plain.render(make_plan(victims=victims)), "victim")) == 500


def test_several_plans_have_an_empty_line_between_them() -> None:
    text = plain.render_all([make_plan(), make_infeasible()])
    assert text == plain.render(make_plan()) + "\n" + plain.render(make_infeasible())
    assert plain.render_all([]) == ""


def test_a_hostile_name_of_yunikorn_stays_one_field() -> None:
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
