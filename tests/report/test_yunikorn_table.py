"""What a table shows of an ask of YuniKorn, whatever the width, and what it never does."""

import re
from typing import Any

import pytest

from planner.plan.yunikorn import YuniKornVictim
from planner.report.text import cells as cell_len
from planner.report.words import cautions
from tests.report.factory import make_plan
from tests.report.rendering import html, table
from tests.report.yunikorn_factory import (
    BREAKS,
    GPU,
    make_allocation,
    make_core_plan,
    make_no_yunikorn,
    make_room,
    make_use,
    make_yunikorn,
    make_yunikorn_certificate,
)

WIDTHS = (60, 80, 108, 120, 160)
EVIL = "ns/\x1b[2J\x1b]0;title\x07\r\n\u202e\x9b1m"


def words(text: str) -> str:
    """Return a screen as one line, so that its line breaks do not matter."""
    return " ".join(text.split())


def head(screen: str) -> str:
    """Return the lines of a screen that name the columns of the victims."""
    above, _, _ = screen.partition("Age  Lost acc-h")
    return above.split("\n\n")[-1]


@pytest.mark.parametrize("width", WIDTHS)
def test_every_fact_is_there_at_every_width(width: int) -> None:
    screen = words(table.render(make_yunikorn(), width=width))
    for fact in (
        "Ask prod/ranker-0 priority 100",
        "Key 7d1f6a0e-5b1c-4c53-9a5e-0d6a3c9e8b11",
        "Application ranker",
        "Queue root.prod.serving",
        "YuniKorn, laws as designed at 2026-03-08T21:06:00Z",
        "Objective no-regret",
        "PROVED OPTIMAL",
        "Node gpu-03 YuniKorn itself: gpu-02",
        "1 originator; proved: no legal plan under this objective does with fewer",
        "memory 48Gi 100Gi - 164Gi",
        "nvidia.com/gpu 4 0 4 4",
        "vcore 2.5 500m 2 3.5",
        "research/sweep-17",
        "spark-sweep-17",
        "(originator)",
        "2 victims",
        "8 16 2 6 still" + (" below" if width > 60 else ""),
        "vcore - - 1.5 4",
        "YuniKorn itself would preempt 3 allocations, this plan 2:",
        "spared research/sweep-21, research/sweep-20, research/sweep-19",
        "only in this plan research/sweep-17, research/etl-driver",
        f"YuniKorn's own answer breaks {BREAKS}",
        "laws 11/11 hold",
    ):
        assert fact in screen, fact


@pytest.mark.parametrize("width", [80, 108, 120, 160, 400])
def test_no_line_is_too_long(width: int) -> None:
    long = make_allocation("a" * 60, queue="root." + "b" * 60, application="c" * 60, node="d" * 60)
    for plan in (make_yunikorn(), make_yunikorn(victims=[long]), make_no_yunikorn()):
        lines = table.render(plan, width=width).split("\n")
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize(("width", "mark"), [(60, "104Gi still"), (80, "104Gi still below")])
def test_marks_of_queues_break_before_a_line_gets_too_long(width: int, mark: str) -> None:
    """Columns of 18, 10, 5, 5, 10 and 11 with five gaps of 2 need 69; resources stand below."""
    amounts = {"guaranteed": 192, "max": 256, "before": 100, "after": 104}
    use = make_use("root.research.sweeps.nightly", 0, 0, resource="memory").model_copy(
        update={name: amount * 2**30 for name, amount in amounts.items()}
    )
    screen = table.render(make_yunikorn(queues=[use]), width=width)
    assert max(map(cell_len, screen.split("\n"))) <= width
    row = next(line for line in screen.split("\n") if "192Gi" in line)
    assert words(row).endswith(f"192Gi 256Gi 100Gi {mark}")
    assert "\n   memory" in screen


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
    ("width", "shown"),
    [
        (160, "Victim Queue Application Priority"),
        (100, "Victim Application Queue Priority"),
        (80, "Victim Queue Application Priority"),
    ],
)
def test_names_are_stacked_before_columns_are_left_out(width: int, shown: str) -> None:
    screen = table.render(make_yunikorn(victims=[make_allocation("sweep-17")]), width=width)
    assert words(head(screen)) == f"{shown} gpu vcore memory"
    assert "not shown" not in screen


def test_what_there_is_no_room_for_is_said() -> None:
    room = [item for t in "abcdefgh" for item in make_room(resource=f"example.com/{t * 8}")[1:2]]
    screen = table.render(make_yunikorn(room=room), width=80)
    shown = re.findall(r"\b([a-h])\1{7}\b", head(screen))
    (said,) = re.findall(r"not shown at this width: ([a-h, \n]+)", screen)
    left_out = re.findall(r"\b([a-h])\1{7}\b", said)
    assert shown
    assert left_out
    assert shown + left_out == list("abcdefgh")
    assert "not shown" not in table.render(make_yunikorn(room=room), width=160)


def test_the_node_of_a_victim_only_where_there_are_several() -> None:
    assert "Node" not in head(table.render(make_yunikorn(), width=160))
    victims = [make_allocation("a"), make_allocation("b", node="gpu-09")]
    for width, title in ((160, "Node"), (80, "Node")):
        screen = table.render(make_yunikorn(victims=victims), width=width)
        assert title in head(screen)
        assert "gpu-09" in screen


def test_priorities_after_offsets_only_where_there_are_any() -> None:
    screen = table.render(make_yunikorn(), width=160)
    assert re.search(r"etl-driver \(originator\).* 20 +15 +2 ", screen)
    assert "after offsets: priority as" in screen
    plain = table.render(make_yunikorn(victims=[make_allocation("a")]), width=160)
    assert "offsets" not in plain


def test_marks_are_explained_only_where_they_occur() -> None:
    victims = [make_allocation("a", opted_out=True)]
    screen = words(table.render(make_yunikorn(victims=victims), width=108))
    assert "research/a (opted out)" in screen
    assert "(opted out): asks not to be preempted; a last resort" in screen
    assert "(originator)" not in screen
    assert "Last tier" not in table.render(make_yunikorn(last_tier=False), width=108)


def test_types_that_the_node_is_short_of_come_first() -> None:
    assert head(table.render(make_yunikorn(), width=160)).split()[-3:] == ["gpu", "vcore", "memory"]


def test_types_of_one_short_name_are_written_in_full() -> None:
    room = (*make_room(), *make_room(resource="amd.com/gpu")[1:2])
    titles = head(table.render(make_yunikorn(room=room), width=200)).split()
    assert {"nvidia.com/gpu", "amd.com/gpu"} <= set(titles)


def test_a_total_stands_under_every_type() -> None:
    """Two victims with 2 GPUs, 1500 milli-cores and 32Gi each."""
    screen = table.render(make_yunikorn(), width=160)
    (total,) = [line for line in screen.split("\n") if line.startswith(" 2 victims")]
    assert total.split()[2:] == ["4", "3", "64Gi", "4.57"]


def test_a_node_with_room_of_its_own_is_said_to_have_it() -> None:
    assert "has room" not in table.render(make_yunikorn(), width=108)
    room = make_room(asked=1, available=2, after=2)
    screen = table.render(make_yunikorn(room=room), width=108)
    assert "gpu-03   has room without any victims   YuniKorn itself: gpu-02" in screen


def test_a_plan_that_leaves_too_little_says_so() -> None:
    room = make_room(asked=4, available=-1, after=3)
    screen = words(table.render(make_core_plan(room=room), width=108))
    assert "nvidia.com/gpu 4 -1 4 3 too little" in screen
    assert "too little" not in table.render(make_yunikorn(), width=108)


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [(9, 7, "below"), (2, 7, "still below"), (9, 9, ""), (9, 17, "over max"), (9, 8, "")],
)
def test_queues_that_end_outside_their_limits_are_marked(
    before: int, after: int, mark: str
) -> None:
    use = make_use("root.q", before, after, max=16)
    screen = words(table.render(make_yunikorn(queues=[use]), width=108))
    assert f"root.q gpu 8 16 {before} {after} {mark}".strip() in screen
    assert [word for word in ("below:", "still below:", "over max:") if f" {word}" in screen] == (
        ["below:", "still below:"] if mark == "still below" else [f"{mark}:"] if mark else []
    )


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


def test_a_queue_is_named_once() -> None:
    uses = [make_use("root.q", 9, 8), make_use("root.q", 1500, 500, resource="vcore")]
    screen = table.render(make_yunikorn(queues=uses), width=108)
    assert screen.count("root.q ") == 1


def test_usage_after_a_plan_only_where_there_is_one() -> None:
    assert "After plan" in table.render(make_yunikorn(), width=108)
    screen = table.render(make_no_yunikorn(queues=[make_use("root.q", 9, 7)]), width=108)
    assert "After plan" not in screen
    assert "below" not in screen


def test_maximum_only_where_one_is_set() -> None:
    assert "Max" not in table.render(make_yunikorn(queues=[make_use("root.q", 9, 8)]), width=108)


def test_an_ask_of_another_partition_without_a_pod() -> None:
    screen = words(table.render(make_yunikorn(pod=None, partition="gpu"), width=108))
    assert "Ask 7d1f6a0e-5b1c-4c53-9a5e-0d6a3c9e8b11 priority 100" in screen
    assert "Key" not in screen
    assert "Queue root.prod.serving partition gpu" in screen


def test_an_allocation_without_a_pod_is_named_by_its_key() -> None:
    victims = [make_allocation("a", pod=None)]
    screen = words(table.render(make_yunikorn(victims=victims), width=108))
    assert "only in this plan a-key" in screen
    assert "1 victim " in screen


@pytest.mark.parametrize(
    ("rules", "name"),
    [("yunikorn-code", "laws as coded"), ("yunikorn-required-node", "required node")],
)
def test_rules_in_words(rules: str, name: str) -> None:
    assert f"YuniKorn, {name}   at" in table.render(make_yunikorn(rules=rules), width=108)


def test_nobody_to_preempt() -> None:
    screen = table.render(make_no_yunikorn(), width=108)
    assert "PROVED INFEASIBLE" in screen
    assert "YuniKorn itself finds nobody to preempt here." in screen
    assert "Disruption" not in screen
    assert "Node" not in screen


def test_the_same_victims_are_said_once() -> None:
    plan = make_yunikorn(greedy=make_core_plan(victims=make_yunikorn().victims))
    screen = table.render(plan, width=108)
    assert "YuniKorn itself would preempt the same 2 allocations." in screen
    assert "YuniKorn itself: gpu-02" in screen


def test_the_core_s_own_plan_by_itself() -> None:
    screen = table.render(make_core_plan(), width=108)
    assert "research/sweep-19" in screen
    assert "itself" not in screen
    assert f"YuniKorn's own answer breaks {BREAKS}" in words(screen)
    assert "CERTIFICATE" not in screen


def test_cut_off_sets_are_those_of_yunikorn_s_arithmetic() -> None:
    certificate = make_yunikorn_certificate(cut_off=2)
    screen = words(table.render(make_yunikorn(certificate=certificate), width=108))
    assert "2 sets of victims that the model permits and YuniKorn's own arithmetic" in screen


def test_costs_have_a_column_only_when_they_are_the_objective() -> None:
    assert "Lost acc-h  Cost" in table.render(make_yunikorn(objective="min-cost"), width=160)
    assert "Cost" not in table.render(make_yunikorn(), width=160)


def test_why_a_victim_may_go_is_said_of_its_queue() -> None:
    """Twelve of eight GPUs guaranteed are in use there, and nothing is to the other queue."""
    said = "root.research.sweeps uses 12 of 8 nvidia.com/gpu guaranteed"
    for width in (80, 120, 200):
        assert said in words(table.render(make_yunikorn(), width=width))
    assert "uses 12 of 8 nvidia.com/gpu guaranteed" in html.render(make_yunikorn())


def test_hundreds_of_victims_are_told_by_queue() -> None:
    victims = [make_allocation(f"v{i:03}") for i in range(212)]
    screen = table.render(make_yunikorn(victims=victims, greedy=None), width=120)
    assert "... 192 more, use --format json" in screen
    assert re.search(r"1 queue +212 ", screen)
    assert "212 victims" in screen


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


def test_what_looks_like_markup_is_only_text() -> None:
    name = "ns/[bold red]x[/] :smile:"
    plan = make_yunikorn(
        pod=name, application=name, queue=name, node=name, victims=[make_allocation("v", pod=name)]
    )
    assert table.render(plan, width=400).count(name) == 6


def test_color_only_when_asked_for() -> None:
    assert "\x1b" not in table.render(make_yunikorn(), color=False)
    assert "\x1b[1;32mPROVED OPTIMAL" in table.render(make_yunikorn(), color=True)


def test_plans_of_both_schedulers_one_after_the_other() -> None:
    screen = table.render_all([make_plan(), make_yunikorn()], width=80)
    assert screen.startswith(table.render(make_plan(), width=80))
    assert table.render(make_yunikorn(), width=80) in screen
    assert re.search(r"Preemptor +Answer +Victims +Scheduler +Lost acc-h", screen)


def test_a_plan_that_loses_more_work_is_warned_of() -> None:
    """16,440 + 240 accelerator-seconds are 4.63 hours, 2,880 + 240 are 0.87."""
    greedy = make_core_plan(outside_rules=())
    (said,) = cautions(make_yunikorn(greedy=greedy))
    assert said.startswith("prod/ranker-0: preempting these loses 4.63 accelerator-hours of work")
    assert "choice 0.87" in said
    assert not list(cautions(make_yunikorn()))


def test_amounts_are_those_of_the_type_named() -> None:
    victim = make_allocation("a", gpus=7)
    assert [a.quantity for a in victim.usage if a.resource == GPU] == ["7"]
    screen = table.render(make_yunikorn(victims=[victim]), width=160)
    assert re.search(r"research/a .* 7 +1\.5 +32Gi ", screen)
