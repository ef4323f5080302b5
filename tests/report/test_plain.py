"""Plain output is for grep and awk: stable words, one fact a line."""

import re
import shlex

import pytest

from tests.report.factory import (
    OUTSIDE,
    make_certificate,
    make_demand,
    make_fair,
    make_greedy,
    make_infeasible,
    make_plan,
    make_victim,
)
from tests.report.rendering import plain


def lines_of(text: str, label: str) -> list[list[str]]:
    """Return the fields of the lines with a label, split as a shell would."""
    fields = [shlex.split(line) for line in text.splitlines() if line.startswith(f"{label} ")]
    return [rest for _, *rest in fields]


def test_facts_are_found_by_their_first_word() -> None:
    text = plain.render(make_plan())
    assert lines_of(text, "preemptor") == [["team-a/train-llm"]]
    assert lines_of(text, "status") == [["optimal"]]
    assert lines_of(text, "borrowing") == [["no"]]
    assert lines_of(text, "now") == [["2026-03-08T21:06:00Z"]]
    assert [fields[1] for fields in lines_of(text, "victim")] == [
        "team-b/sweep-17",
        "team-a/notebook-3",
    ]
    assert len(lines_of(text, "kueue_victim")) == 3
    assert lines_of(text, "spared") == [["team-b/sweep-12"], ["team-b/sweep-13"]]
    assert len(lines_of(text, "law")) == 8


def test_records_hold_key_and_value() -> None:
    text = plain.render(make_plan())
    first = dict(field.split("=", 1) for field in lines_of(text, "victim")[0][2:])
    assert first["cluster_queue"] == "team-b"
    assert first["law"] == "KQ-05"
    assert first["age_s"] == "720"
    assert first["evicting"] == "no"
    assert first["lost_work"] == "2880"
    term = dict(field.split("=", 1) for field in lines_of(text, "term")[4][1:])
    assert term == {
        "plan": "33360",
        "kueue": "114930",
        "level": "5",
        "bound": "33360",
        "proof": "certified",
        "accelerator_hours": "9.27",
        "unit": "accelerator-seconds",
        "title": "lost work and restart cost",
    }


def test_numbers_have_no_thousands_separator() -> None:
    victim = make_victim("a/b", costs={"lost_work": 10**9}, age_s=10**9)
    plan = make_plan(victims=[victim], terms={"lost_work": 10**9}, greedy=None)
    assert not re.search(r"\d,\d", plain.render(plan))


def test_everything_is_there_for_an_infeasible_plan() -> None:
    text = plain.render(make_infeasible())
    assert lines_of(text, "status") == [["infeasible"]]
    assert lines_of(text, "victims") == [["0"]]
    assert lines_of(text, "borrowing") == [["none"]]
    assert lines_of(text, "certificate")[0][:2] == ["infeasible", "levels=0/0"]


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


def test_shares_under_fair_sharing() -> None:
    text = plain.render(make_fair())
    assert lines_of(text, "share")[0] == [
        "team-b",
        "kind=ClusterQueue",
        "weight=0",
        "before=inf",
        "with_preemptor=inf",
        "after=0",
    ]
    (outside,) = lines_of(text, "kueue_outside_rules")
    assert outside == ["FS-07", f"Kueue's own answer is outside its own rules: {OUTSIDE}"]


def test_scheduler_s_own_plan_outside_its_rules() -> None:
    greedy = make_greedy(rules="kueue-fair", outside_rules=(OUTSIDE, "FS-06 x: y"))
    outside = lines_of(plain.render(greedy), "outside_rules")
    assert [law for law, _ in outside] == ["FS-07", "FS-06"]
    assert "outside_rules" not in plain.render(make_plan())


def test_cut_off_sets_are_counted_where_there_are_any() -> None:
    certificate = make_certificate(cut_off=3)
    assert " cut_off=3 " in plain.render(make_plan(certificate=certificate))
    assert "cut_off" not in plain.render(make_plan())
