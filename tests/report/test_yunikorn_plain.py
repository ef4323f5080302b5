"""Plain output of an ask of YuniKorn: stable words, one fact a line."""

from typing import Any

from tests.report.factory import make_plan
from tests.report.rendering import plain
from tests.report.test_plain import lines_of
from tests.report.yunikorn_factory import (
    BREAKS,
    make_allocation,
    make_core_plan,
    make_no_yunikorn,
    make_room,
    make_use,
    make_yunikorn,
)

KEY = "7d1f6a0e-5b1c-4c53-9a5e-0d6a3c9e8b11"


def test_facts_are_found_by_their_first_word() -> None:
    text = plain.render(make_yunikorn())
    for label, fact in (
        ("preemptor", KEY),
        ("pod", "prod/ranker-0"),
        ("status", "optimal"),
        ("application", "ranker"),
        ("queue", "root.prod.serving"),
        ("partition", "default"),
        ("priority", "100"),
        ("scheduler", "yunikorn"),
        ("rules", "yunikorn-design"),
        ("now", "2026-03-08T21:06:00Z"),
        ("node", "gpu-03"),
        ("victims", "2"),
        ("last_tier", "yes"),
        ("yunikorn_node", "gpu-02"),
        ("yunikorn_victims", "3"),
        ("yunikorn_last_tier", "no"),
    ):
        assert lines_of(text, label) == [[fact]], label
    assert lines_of(text, "spared") == [["sweep-21-key"], ["sweep-20-key"], ["sweep-19-key"]]
    assert lines_of(text, "instead") == [["sweep-17-key"], ["etl-driver-key"]]
    assert len(lines_of(text, "yunikorn_victim")) == 3
    assert len(lines_of(text, "law")) == 11


def test_records_hold_key_and_value() -> None:
    text = plain.render(make_yunikorn())
    position, key, *fields = lines_of(text, "victim")[1]
    assert (position, key) == ("2", "etl-driver-key")
    assert [field for field in fields if field.startswith("use=")] == [
        "use=memory=32Gi",
        "use=nvidia.com/gpu=2",
        "use=vcore=1500m",
    ]
    second = dict(field.split("=", 1) for field in fields)
    assert second["pod"] == "research/etl-driver"
    assert (second["priority"], second["adjusted_priority"]) == ("20", "15")
    assert (second["originator"], second["opted_out"]) == ("yes", "no")
    assert (second["age_s"], second["lost_work"]) == ("7500", "15000")


def test_amounts_are_those_of_queues_yaml() -> None:
    text = plain.render(make_yunikorn())
    assert lines_of(text, "room")[2] == ["vcore", "asked=2500m", "available=500m", "after=3500m"]
    assert lines_of(text, "queue_use")[1] == [
        "root.prod.serving",
        "vcore",
        "guaranteed=none",
        "max=none",
        "before=1500m",
        "after=4",
    ]


def test_what_is_not_known_is_none() -> None:
    text = plain.render(make_no_yunikorn(pod=None))
    for label in ("pod", "node", "yunikorn_node"):
        assert lines_of(text, label) == [["none"]]
    (victim,) = lines_of(
        plain.render(make_yunikorn(victims=[make_allocation("a", pod=None)])), "victim"
    )
    assert "pod=none" in victim


def test_broken_laws_of_the_core_s_own_plan() -> None:
    said = ["YK-02", f"YuniKorn's own answer breaks {BREAKS}"]
    assert lines_of(plain.render(make_core_plan()), "outside_rules") == [said]
    beside = plain.render(make_yunikorn())
    assert lines_of(beside, "yunikorn_outside_rules") == [said]
    assert not lines_of(beside, "outside_rules")


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
