"""What a table shows, whatever the width, and what it never does."""

import re

import pytest

from planner.plan.kueue import Amount, Plan
from planner.report.text import cells as cell_len
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
from tests.report.rendering import html, table

WIDTHS = (60, 80, 108, 160)


def words(text: str) -> str:
    """Return a screen as one line, so that its line breaks do not matter."""
    return " ".join(text.split())


@pytest.mark.parametrize("width", WIDTHS)
def test_every_fact_is_there_at_every_width(width: int) -> None:
    screen = words(table.render(make_plan(), width=width))
    for fact in (
        "team-a/train-llm",
        "priority 100",
        "Kueue, classical preemption",
        "2026-03-08T21:06:00Z",
        "no-regret",
        "PROVED OPTIMAL",
        "2 victims",
        "2h5m",
        "KQ-05 InCohortReclamation: reclaimWithinCohort permits victims of other queues",
        "Kueue itself would evict 3 workloads (without borrowing), this plan 2:",
        "spared team-b/sweep-12, team-b/sweep-13",
        "only in this plan team-a/notebook-3",
        "31.93",
        "value = bound on 7 of 7 levels",
        "laws 8/8 hold",
        "0.41 s",
        "3f786850e387550f",
        "5 nvidia.com/gpu in flavor h200 must be freed",
    ):
        assert fact in screen
    # Amounts stand in the unit that people think in, and no count stands twice.
    assert "accelerator-seconds" not in screen
    assert "1/32000" not in screen
    assert "already being evicted included" not in screen


def test_work_is_in_cpu_hours_where_there_are_no_accelerators() -> None:
    """One core is 1/32 of an accelerator, so an accelerator-hour is 32 hours of a core."""
    cpu = [make_demand("cpu", requested=4000, shortfall=4000)]
    usage = (Amount(flavor="h200", resource="cpu", units=4000, quantity="4"),)
    victim = make_victim("a/b", costs={"lost_work": 3600}).model_copy(update={"usage": usage})
    plan = make_plan(demand=cpu, victims=[victim], greedy=None)
    screen = words(table.render(plan, width=108))
    assert "Lost CPU-h" in screen
    assert re.search(r"a/b .* 32\.00", screen)
    assert "CPU cores" in screen
    assert "acc-h" not in screen
    assert "accelerator" not in screen


def test_a_count_that_differs_is_shown() -> None:
    plan = make_plan()
    more = plan.model_copy(update={"terms": {**plan.terms, "cost": 17}})
    for answer, is_shown in ((more, True), (plan, False)):
        rows = [line.split() for line in table.render(answer, width=108).splitlines()]
        assert any(row[:1] == ["cost"] for row in rows) == is_shown


@pytest.mark.parametrize("width", [80, 108, 160])
@pytest.mark.parametrize("plan", [make_plan(), make_infeasible()])
def test_no_line_is_wider_than_the_terminal(plan: Plan, width: int) -> None:
    lines = table.render(plan, width=width).split("\n")
    assert max(map(cell_len, lines)) <= width
    assert not [line for line in lines if line != line.rstrip()]


def test_long_names_are_folded_not_cut() -> None:
    name = f"{'namespace-' * 6}/{'workload-' * 12}"
    screen = table.render(make_plan(victims=[make_victim(name)], greedy=None), width=80)
    lines = screen.split("\n")
    body = lines[next(n for n, line in enumerate(lines) if "Priority" in line) + 2 :]
    shown = [line[1:].split("  ")[0] for line in body[: body.index("")]]
    assert name in "".join(shown).replace(" ", "")


def test_digits_are_never_cut_however_narrow() -> None:
    huge = 2**62
    victim = make_victim("a/b", costs={"lost_work": huge}, gpus=huge, priority=-(2**31))
    demand = [make_demand(requested=huge, shortfall=huge)]
    screen = table.render(make_plan(victims=[victim], demand=demand), width=60)
    assert "4.612E" in screen
    assert str(-(2**31)) in screen


def test_what_looks_like_markup_is_only_text() -> None:
    name = "ns/[bold red]x[/] [link=http://evil]y[/link] :smile:"
    screen = table.render(
        make_plan(
            preemptor=name,
            cluster_queue=name,
            explanation=name,
            victims=[make_victim(name, cluster_queue=name, reason=name)],
            demand=[make_demand(resource=name, flavor=name)],
            greedy=make_greedy(victims=[make_victim(f"{name}2")]),
        ),
        width=400,
    )
    assert screen.count(name) >= 8


@pytest.mark.parametrize("color", [False, True])
def test_no_name_can_steer_the_terminal(color: bool) -> None:  # noqa: FBT001
    evil = "ns/\x1b[2J\x1b]0;title\x07\r\n\u202e\x9b1m"
    plan = make_plan(
        preemptor=evil,
        cluster_queue=evil,
        objective=evil,
        explanation=evil,
        victims=[make_victim(evil, cluster_queue=evil, reason=evil)],
        demand=[make_demand(resource=evil, flavor=evil)],
        greedy=make_greedy(victims=[make_victim(f"{evil}2")]),
        certificate=make_certificate(solver=evil, digest=evil),
    )
    screen = table.render(plan, width=120, color=color)
    screen = re.sub(r"\x1b\[[0-9;]*m", "", screen) if color else screen
    assert screen.replace("\n", "").isprintable()


def test_color_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.setenv(name, "1")
    assert "\x1b" not in table.render(make_plan(), color=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;32mPROVED OPTIMAL" in table.render(make_plan(), color=True)


def test_width_is_that_asked_for_whatever_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = table.render(make_plan(), width=108)
    monkeypatch.setenv("COLUMNS", "40")
    assert table.render(make_plan(), width=108) == table.render(make_plan()) == wide


def test_hundreds_of_victims_are_told_by_queue() -> None:
    victims = [
        make_victim(f"ns/v{i:03}", cluster_queue=f"queue-{i % 3}", priority=i // 3 % 2)
        for i in range(783)
    ]
    plan = make_plan(victims=victims, greedy=None)
    screen = table.render(plan, width=80)
    for queue in range(3):
        assert re.search(rf"queue-{queue} +261 +0 to 1 +208\.80\n", screen)
    assert re.search(r"3 queues +783 +626\.40\n", screen)
    assert "... 763 more, use --format json" in screen
    assert "ns/v019" in screen
    assert "ns/v020" not in screen
    assert "783 victims" in screen
    page = html.render(plan)
    folded = page.index("<details><summary>All 783 victims</summary>")
    assert page.index("Victims by queue") < folded < page.index("ns/v000") < page.index("ns/v782")


def test_long_lists_of_spared_workloads_are_counted() -> None:
    greedy = make_greedy(victims=[make_victim(f"ns/g{i:03}") for i in range(50)])
    screen = words(table.render(make_plan(greedy=greedy), width=108))
    assert "ns/g019 ... 30 more, use --format json" in screen


def test_the_same_victims_are_said_once() -> None:
    plan = make_plan(greedy=make_greedy(victims=make_plan().victims))
    screen = table.render(plan, width=108)
    assert "Kueue itself would evict the same 2 workloads." in screen
    assert "spared" not in screen


def test_scheduler_without_victims() -> None:
    screen = table.render(make_infeasible(), width=108)
    assert "PROVED INFEASIBLE" in screen
    assert "Kueue itself finds nobody to evict here." in screen
    assert "8 nvidia.com/gpu in flavor h200 are asked for" in screen
    assert "Disruption" not in screen


@pytest.mark.parametrize(
    ("status", "shown"),
    [("feasible", "LEGAL, NOT PROVED OPTIMAL"), ("unknown", "UNKNOWN"), ("optimal", "PROVED")],
)
def test_status_in_words(status: str, shown: str) -> None:
    assert shown in table.render(make_plan(status=status))


def test_gap_is_visible_when_a_level_is_open() -> None:
    levels = make_certificate().levels
    open_level = levels[2].model_copy(update={"bound": 1})
    certificate = make_certificate(levels=(*levels[:2], open_level))
    screen = table.render(make_plan(status="feasible", certificate=certificate), width=108)
    assert "value = bound on 2 of 3 levels" in screen


def test_broken_laws_are_named() -> None:
    verdicts = [
        verdict.model_copy(update={"holds": verdict.law != "KQ-07", "detail": "cq team-b"})
        for verdict in make_certificate().verdicts
    ]
    screen = table.render(make_plan(certificate=make_certificate(verdicts=verdicts)), width=108)
    assert "laws 7/8 hold" in screen
    assert "KQ-07 other queues and cohorts give only while over their quota: cq team-b" in words(
        screen
    )


def test_costs_have_a_column_only_when_they_are_the_objective() -> None:
    assert "Cost" not in table.render(make_plan(), width=108)
    screen = table.render(make_plan(objective="min-cost"), width=108)
    assert re.search(r"Lost acc-h  Cost\n", screen)


def test_only_flavor_resources_that_matter_have_a_column() -> None:
    screen = table.render(make_plan(), width=108)
    assert re.search(r"^ +gpu\n Victim", screen, re.MULTILINE)
    short = [make_demand(f"example.com/r{i}") for i in range(5)]
    wide = table.render(make_plan(demand=short), width=160)
    assert all(f" r{i}" in wide.split("Victim")[0].split("\n")[-2] for i in range(3))


@pytest.mark.parametrize(
    ("width", "reason", "amounts"), [(160, True, 3), (108, False, 3), (80, False, 2)]
)
def test_columns_are_left_out_before_a_line_gets_too_long(
    width: int,
    reason: bool,  # noqa: FBT001
    amounts: int,
) -> None:
    short = [make_demand(f"example.com/r{i}", flavor="on-demand") for i in range(3)]
    victim = make_victim("namespace/workload", reason="InCohortReclaimWhileBorrowing")
    screen = table.render(make_plan(demand=short, victims=[victim]), width=width)
    lines = screen.split("\n")
    assert max(map(cell_len, lines)) <= width
    head = next(i for i, line in enumerate(lines) if " Priority" in line)
    assert ("Reason" in lines[head]) == reason
    assert sum(f" r{i}" in lines[head - 1] for i in range(3)) == amounts


def test_amounts_read_like_quantities() -> None:
    demand = [make_demand("memory", 40 * 2**30, shortfall=2**30, available=39 * 2**30)]
    screen = table.render(make_plan(demand=demand), width=108)
    assert re.search(r"memory +h200 +40Gi +39Gi +1Gi +Preempt", screen)


def test_a_greedy_plan_by_itself() -> None:
    screen = table.render(make_greedy(), width=108)
    assert "team-b/sweep-13" in screen
    assert "itself" not in screen
    assert "CERTIFICATE" not in screen


def test_several_plans_have_a_line_between_them() -> None:
    screen = table.render_all([make_plan(), make_infeasible()], width=80)
    plans, _, overview = screen.partition(" Overview ")
    assert plans.count("Preemptor") == 2
    assert "2 pending: 1 proved optimal, 1 proved infeasible" in overview
    assert "─" * 80 in screen.split("\n")


def test_shares_under_fair_sharing() -> None:
    screen = words(table.render(make_fair(), width=108))
    assert "Kueue, fair sharing" in screen
    assert "FS-07 InCohortFairSharing: the preemptor's side is no more unfair" in screen
    assert "team-b ClusterQueue 0 inf inf 0" in screen
    assert "research Cohort 1.5 250 375.5 125" in screen
    assert f"Kueue's own answer is outside its own rules: {OUTSIDE}" in screen


def test_shares_are_explained() -> None:
    assert "thousandths of what the parent could lend" in table.render(make_fair(), width=108)
    assert "thousandths" not in table.render(make_plan(), width=108)


def test_shares_after_a_plan_only_where_there_is_one() -> None:
    assert "After plan" in table.render(make_fair(), width=108)
    assert "After plan" not in table.render(make_fair(status="infeasible"), width=108)


def test_fair_sharing_has_no_attempts_to_tell_apart() -> None:
    assert "with borrowing" not in table.render(make_fair(), width=108)
    assert "without borrowing" in table.render(make_plan(), width=108)


def test_words_for_one_level_are_enough() -> None:
    """JSON has them all; on a screen they would say nearly the same."""
    levels = make_certificate().levels
    for terms, shown in (
        (("priority_weight", "workloads", "queues"), "workloads"),
        (("priority_weight", "queues"), "priority_weight"),
    ):
        said = [
            one.model_copy(update={"says": f"about {one.term}" if one.term in terms else ""})
            for one in levels
        ]
        screen = table.render(make_plan(certificate=make_certificate(levels=said)), width=108)
        assert re.findall(r"about \w+", screen) == [f"about {shown}"]


def test_cut_off_sets_are_counted_where_there_are_any() -> None:
    screen = table.render(make_plan(certificate=make_certificate(cut_off=1)), width=108)
    assert "Cut off      1 set of victims that the model permits" in screen
    assert "Cut off" not in table.render(make_plan(), width=108)
