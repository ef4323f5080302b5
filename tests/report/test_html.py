"""Plans as pages: well-formed, alone, harmless, and with everything a plan says."""

import base64
import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from html import escape
from pathlib import Path

import pytest

from planner.plan import AnyPlan
from planner.plan.kueue import Plan
from planner.report.words import ALL_TERMS
from tests.conftest import FOR_EVER_S
from tests.report.factory import (
    OUTSIDE,
    make_certificate,
    make_fair,
    make_greedy,
    make_infeasible,
    make_node,
    make_plan,
    make_victim,
)
from tests.report.page import Page
from tests.report.rendering import html
from tests.report.test_flavors import make_chosen
from tests.report.yunikorn_factory import (
    make_allocation,
    make_core_plan,
    make_no_yunikorn,
    make_yunikorn,
)

PLANS: list[AnyPlan] = [
    make_plan(),
    make_infeasible(),
    make_fair(),
    make_chosen(),
    make_plan(status="unknown", certificate=None, victims=(), demand=(), tree=(), greedy=None),
    make_plan(victims=[make_victim("team-b/gone", evicted=True)], notes=["one\ntwo"]),
    make_greedy(outside_rules=(OUTSIDE,)),
    make_yunikorn(),
    make_no_yunikorn(),
    make_core_plan(),
]
EVIL = "ns/<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}\x1b[2J\u202e\x00"
SHOWN = "ns/<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}\\x1b[2J\\u202e\\x00"


def evil_plan() -> Plan:
    """Return a plan in which everything that may come from a dump is hostile."""
    victim = make_victim(EVIL, cluster_queue=EVIL, reason=EVIL)
    node = make_node(EVIL, (0, 16, 13, 13), kind="Cohort", parent=None)
    return make_plan(
        preemptor=EVIL,
        cluster_queue=EVIL,
        explanation=EVIL,
        objective=EVIL,
        victims=[victim],
        tree=[node, make_node(EVIL, (4, 4, 4, 4), parent=EVIL)],
        notes=[EVIL],
        greedy=make_greedy(outside_rules=[EVIL]),
        certificate=make_certificate(removal_order=[EVIL], digest=EVIL, solver=EVIL),
    )


def rows(read: Page, caption: str) -> list[list[str]]:
    """Return the cells of the table with a caption, row by row, titles first."""
    text = [element for element in read.elements if element.tag in {"caption", "tr", "td", "th"}]
    found: list[list[str]] = []
    inside = False
    for element in text:
        if element.tag == "caption":
            inside = element.text == caption
        elif inside and element.tag == "tr":
            found.append([])
        elif inside:
            found[-1].append(" ".join(element.text.split()))
    return found


@pytest.mark.parametrize("plan", PLANS)
def test_page_is_well_formed_and_needs_nothing_from_elsewhere(plan: AnyPlan) -> None:
    text = html.render(plan)
    read = Page.of(text)
    assert text.startswith("<!DOCTYPE html>")
    assert "://" not in text
    tags = {element.tag for element in read.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    names = {name for element in read.elements for name in element.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not names & {"src", "srcset", "style", "href", "action"}


@pytest.mark.parametrize("plan", PLANS)
def test_ids_are_unique_and_labels_name_them(plan: AnyPlan) -> None:
    read = Page.of(html.render_all([plan, plan]))
    ids = [element.attributes["id"] for element in read.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    labels = {e.attributes["aria-labelledby"] for e in read.elements if e.tag == "section"}
    assert labels <= set(ids)
    targets = {element.attributes["href"] for element in read.all("a")}
    assert targets == {"#plan-1", "#plan-2"}
    assert {target.removeprefix("#") for target in targets} <= set(ids)


def test_policy_allows_the_own_style_and_nothing_else() -> None:
    read = Page.of(html.render(make_plan()))
    (style,) = read.all("style")
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    (policy,) = (
        meta.attributes["content"]
        for meta in read.all("meta")
        if meta.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in style.text
    assert "@import" not in style.text


def test_hostile_names_are_text() -> None:
    text = html.render(evil_plan())
    read, fair = Page.of(text), Page.of(html.render(make_plan()))
    assert {element.tag for element in read.elements} <= {element.tag for element in fair.elements}
    assert text.replace("\n", "").isprintable()
    assert read.texts("h1") == [SHOWN]
    assert [row[:2] for row in rows(read, "Whom to evict")[1:2]] == [[SHOWN, SHOWN]]
    assert SHOWN in read.texts("p", "answer")[0]
    assert EVIL not in text
    assert "49" not in read.texts("h1")[0]


def test_hostile_allocations_are_text() -> None:
    victim = make_allocation(EVIL, pod=EVIL, application=EVIL, queue=EVIL, node=EVIL)
    text = html.render(make_yunikorn(pod=EVIL, queue=EVIL, node=EVIL, victims=[victim]))
    read = Page.of(text)
    assert text.replace("\n", "").isprintable()
    assert rows(read, "Whom to preempt")[1][:3] == [SHOWN, SHOWN, SHOWN]


@pytest.mark.parametrize(
    ("plan", "caption"), [(make_plan(), "Whom to evict"), (make_yunikorn(), "Whom to preempt")]
)
def test_victims_are_those_of_the_plan(plan: AnyPlan, caption: str) -> None:
    table = rows(Page.of(html.render(plan)), caption)
    # The scheduler's own victims have a table with the same caption, further down.
    shown = [row[0].partition("(")[0].strip() for row in table[1 : len(plan.victims) + 1]]
    known = [getattr(one, "pod", None) or getattr(one, "workload", "") for one in plan.victims]
    assert shown == known
    assert table[len(plan.victims) + 1][0] == f"{len(plan.victims)} victims"


def test_answer_and_numbers_come_first() -> None:
    read = Page.of(html.render(make_plan()))
    assert read.texts("h1") == ["team-a/train-llm"]
    assert read.texts("span", "badge") == ["Proved optimal"]
    # `lost_work` + `restart_cost` of the plan: 4 * (720 + 60) + 4 * (7500 + 60) = 33,360
    # accelerator-seconds; of Kueue's own: 4 * 780 + 1 * (90 + 60) + 1 * (111,600 + 60) = 114,930.
    assert [element.text.split("\n")[0] for element in read.all("li")[:3]] == [
        "2 workloads to evict Kueue itself: 3",
        "9.27 accelerator-hours lost, restarts included Kueue itself: 31.93",
        "7 of 7 levels of the objective proved",
    ]


def test_names_say_who_is_spared_who_is_in_both_and_who_goes_instead() -> None:
    read = Page.of(html.render(make_plan()))
    assert read.texts("p", "label") == ["Spared 2", "In both 1", "Only in this plan 1", "Remove 2"]
    named = [text for text in read.texts("li") if "/" in text and " " not in text]
    assert named[:4] == [
        "team-b/sweep-12",
        "team-b/sweep-13",
        "team-b/sweep-17",
        "team-a/notebook-3",
    ]


def test_every_term_has_its_unit_and_the_scheduler_beside_it() -> None:
    table = rows(Page.of(html.render(make_plan())), "Disruption, the levels of the objective first")
    assert table[0] == ["Level", "Term", "Disruption", "This plan", "Kueue", "Bound", "Unit"]
    assert [row[3:] for row in table if row[1] == "lost_work+restart_cost"] == [
        ["9.27", "31.93", "9.27", "accelerator-hours"]
    ]
    exact = rows(Page.of(html.render(make_plan())), ALL_TERMS)
    by_term = {row[1]: row for row in exact[1:]}
    assert by_term["workloads"] == [
        "3",
        "workloads",
        "workloads evicted",
        "2",
        "3",
        "2",
        "workloads",
    ]
    assert by_term["lost_work+restart_cost"][3:] == [
        "33,360 9.27".replace(" ", ""),
        "114,93031.93",
        "33,3609.27",
        "accelerator-secondsaccelerator-hours",
    ]
    assert {
        "last_resort",
        "highest_priority",
        "priority_weight",
        "excess_freed",
        "queues",
    } <= by_term.keys()


def test_page_says_how_work_is_counted() -> None:
    assert "An accelerator-hour is one hour of a GPU or the like, or of 32 CPU cores" in (
        html.render(make_plan())
    )


def test_certificate_has_verdicts_sums_and_order() -> None:
    plan = make_plan()
    assert plan.certificate is not None
    read = Page.of(html.render(plan))
    laws = rows(read, "The plan, law by law")[1:]
    assert [row[0] for row in laws] == [verdict.law for verdict in plan.certificate.verdicts]
    assert {row[1] for row in laws} == {"holds"}
    folds = read.texts("summary")
    assert "A legal order of removals" in folds
    assert "Levels that one sum proves" in folds
    facts = dict(zip(read.texts("dt"), read.texts("dd"), strict=True))
    assert facts["Optimality"] == "value = bound on 7 of 7 levels"
    assert facts["Input"] == plan.certificate.digest
    assert facts["By hand"].startswith("3 of 7 levels: ")
    said = [f"{one.term} ≥ {one.bound}: {one.says}" for one in plan.certificate.levels if one.says]
    assert len(said) == 2
    assert {*said} <= {*read.texts("p")}


def test_a_broken_law_is_seen_without_opening_anything() -> None:
    verdict = {"law": "KQ-02", "title": "fits", "holds": False, "detail": "it does not"}
    plan = make_plan(certificate=make_certificate(verdicts=[verdict]))
    read = Page.of(html.render(plan))
    assert read.texts("p", "bad") == ["KQ-02 fits: it does not"]


def test_tree_is_told_in_words_too() -> None:
    read = Page.of(html.render(make_plan()))
    said = [picture.attributes["aria-label"] for picture in read.all("svg")]
    assert said[:3] == [
        "research: 13 used today, 13 after the plan, quota 16",
        "team-a: 4 used today, 8 after the plan, quota 8",
        "team-b: 9 used today, 5 after the plan, quota 4",
    ]
    assert read.texts("p", "figures")[:4] == ["13 of 16", "4 → 8 of 8", "9 → 5 of 4", "0 of 4"]
    assert read.texts("p", "change")[:4] == ["", "+4", "−4", ""]  # noqa: RUF001 - a minus sign
    assert read.texts("p", "who")[:2] == [
        "research Cohort, 2 not shown",
        "team-a ClusterQueue, asks here",
    ]


def test_without_a_plan_nothing_is_after_it() -> None:
    read = Page.of(html.render(make_infeasible(tree=make_plan().tree)))
    assert read.texts("span", "badge") == ["Proved infeasible"]
    assert not read.all("rect", "after")
    assert not read.texts("p", "change")
    assert all("after the plan" not in e.attributes["aria-label"] for e in read.all("svg"))


def test_flavors_stand_beside_kueues_own() -> None:
    read = Page.of(html.render(make_chosen()))
    assert rows(read, "The flavors chosen for least disruption")[1][-2:] == ["h200", "l4"]
    costs = rows(read, "What Kueue's own flavors would cost")
    assert ["workloads", "workloads evicted", "2", "3", "workloads"] in costs


def test_several_plans_have_a_list_of_contents() -> None:
    read = Page.of(html.render_all([make_plan(), make_infeasible()]))
    assert read.texts("h1") == ["2 preemption plans"]
    assert len(read.all("article")) == 2
    assert Page.of(html.render_all([])).texts("p") == ["Nobody is pending."]


@pytest.mark.parametrize("plan", PLANS)
def test_page_is_the_same_every_time(plan: AnyPlan) -> None:
    again = type(plan).model_validate_json(plan.model_dump_json(by_alias=True))
    assert html.render(plan) == html.render(again)


def luminance(color: str) -> float:
    """Return the relative luminance of a colour such as ``#1c2127`` (WCAG 2.2)."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_texts_have_enough_contrast_light_and_dark() -> None:
    """4.5 to 1 is what WCAG 2.2 asks of texts, 3 to 1 of bars and marks."""
    style = Page.of(html.render(make_plan())).all("style")[0].text
    found = re.findall(r":root \{([^}]*)\}", style)
    assert len(found) == 2
    for colors in (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", theme)) for theme in found):
        pairs = [(text, "paper", 4.5) for text in ("ink", "dim", "good", "warn", "bad", "link")]
        pairs += [(text, f"{text}-ground", 4.5) for text in ("good", "warn", "bad")]
        pairs += [("ink", "ground", 4.5)]
        pairs += [(bar, "paper", 3) for bar in ("after", "after-over", "mark")]
        for text, ground, least in pairs:
            dark, light = sorted((luminance(colors[text]), luminance(colors[ground])))
            assert (light + 0.05) / (dark + 0.05) >= least, f"{text} on {ground}"


FRAME = """<!DOCTYPE html><title></title>
<iframe width="390" height="800" style="border: 0" srcdoc="{page}"></iframe>
<script>
addEventListener("load", () => {{
  const page = document.querySelector("iframe").contentDocument;
  const grid = getComputedStyle(page.querySelector(".facts")).display;
  document.title = page.documentElement.scrollWidth + " " + grid;
}});
</script>
"""


def seen_in_chromium(text: str, folder: Path) -> tuple[int, str]:
    """Return how wide a page is in a frame of 390 px, and whether its style took effect.

    It is wider than the frame if it scrolls sideways; facts are a grid only by its own style.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on PATH")
    file = folder / "frame.html"
    file.write_text(FRAME.format(page=escape(text)), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    here = [f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()]
    done = subprocess.run(
        [chromium, *options, *here], capture_output=True, text=True, timeout=FOR_EVER_S, check=True
    )
    width, display = done.stdout.partition("<title>")[2].partition("</title>")[0].split()
    return int(width), display


@pytest.mark.parametrize("plans", [[make_plan()], [evil_plan()], [make_yunikorn()], PLANS])
def test_page_does_not_scroll_sideways_on_a_phone(plans: Sequence[AnyPlan], tmp_path: Path) -> None:
    width, display = seen_in_chromium(html.render_all(plans), tmp_path)
    assert width <= 390
    assert display == "grid"
