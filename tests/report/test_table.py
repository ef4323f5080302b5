"""What a table shows, whatever the width, and what it never does."""

import re

import pytest

from tests.report.factory import make_certificate, make_demand, make_greedy, make_plan, make_victim
from tests.report.plans import PLANS
from tests.report.rendering import html, table


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


def test_hundreds_of_victims_are_folded_on_a_page() -> None:
    page = html.render(PLANS["hundreds"]())
    folded = page.index("<details><summary>All 783 victims</summary>")
    assert page.index("Victims by queue") < folded < page.index("ns/v000") < page.index("ns/v782")


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
