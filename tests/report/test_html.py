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
from tests.told import told

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
    base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    (policy,) = (
        meta.attributes["content"]
        for meta in read.all("meta")
        if meta.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    told(policy)
    assert "url(" not in style.text
    assert "@import" not in style.text


def test_hostile_names_are_text() -> None:
    text = html.render(evil_plan())
    read, fair = Page.of(text), Page.of(html.render(make_plan()))
    assert {element.tag for element in read.elements} <= {element.tag for element in fair.elements}
    assert text.replace("\n", "").isprintable()
    assert read.texts("h1") == [SHOWN]
    assert [row[:2] for row in rows(read, "Whom to evict")[1:2]] == [[SHOWN, SHOWN]]
    told(read.texts("p", "answer")[0])
    assert EVIL not in text
    assert "49" not in read.texts("h1")[0]


def test_hostile_allocations_are_text() -> None:
    victim = make_allocation(EVIL, pod=EVIL, application=EVIL, queue=EVIL, node=EVIL)
    text = html.render(make_yunikorn(pod=EVIL, queue=EVIL, node=EVIL, victims=[victim]))
    read = Page.of(text)
    assert text.replace("\n", "").isprintable()
    assert rows(read, "Whom to preempt")[1][:3] == [SHOWN, SHOWN, SHOWN]


def test_without_a_plan_nothing_is_after_it() -> None:
    read = Page.of(html.render(make_infeasible(tree=make_plan().tree)))
    assert not read.all("rect", "after")


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
