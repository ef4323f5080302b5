"""Whole screens, compared with stored ones, and pages in windows of their own width.

``--update-goldens`` stores screens anew. No page is wider than the window it is read in, and no
table on a phone: a browser lays all of them out in one start, with all that is folded opened.
"""

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from functools import cache, partial
from html import escape, unescape
from pathlib import Path
from typing import Any, Literal

import pytest

import planner
from planner.commands.compare import compare
from planner.report.audit import render as render_audit
from planner.report.compare import render as render_comparison
from planner.report.text import cells
from tests.browser import BROWSER, OPTIONS
from tests.conftest import FOR_EVER_S, ROOT, YUNIKORN
from tests.report.audit_factory import make_audit
from tests.report.factory import make_infeasible, make_plan
from tests.report.page import Page
from tests.report.plans import PLANS
from tests.report.rendering import brief, html, markdown, plain, table
from tests.report.yunikorn_factory import make_yunikorn
from tests.told import is_as_stored

COMMANDS = (*("explain", "spared", "front", "joint", "audit", "whatif", "compare"),)
GOLDEN = Path(__file__).parent / "golden"
FILES = tuple(
    f"{kind}-{width}.txt"
    for kind, widths in {
        "plan": "60 80 120 200 plain",
        "infeasible": "108 plain",
        "evicting": "108",
        "kueue": "108 plain",
        "same": "108",
        "open": "108",
        "unknown": "108",
        "broken": "108",
        "unstable": "108 plain",
        "stable": "108 plain",
        "cut-off": "108 plain",
        "costs": "108",
        "cpu": "108",
        "memory": "108",
        "resources": "80 108 160",
        "long": "80",
        "huge": "80",
        "hundreds": "80",
        "many": "108",
        "flavors": "120 plain",
        "fair": "108 plain",
        "fair-infeasible": "108",
        "yunikorn": "60 80 120 160 200 plain",
        "yunikorn-infeasible": "108 plain",
        "yunikorn-core": "108 plain",
        "yunikorn-same": "108",
        "yunikorn-one": "80 100 160",
        "yunikorn-bare": "108",
        "yunikorn-types": "80 200",
        "yunikorn-nodes": "80 160",
        "yunikorn-limits": "60 80 108",
        "yunikorn-room": "108",
        "yunikorn-costs": "160",
        "yunikorn-hundreds": "120",
    }.items()
    for width in widths.split()
)
"""Plans of ``plans.py``, each at the widths at which it is worth a look."""
QUICKSTART = Path("instances/quickstart/cluster.json")


@cache
def state() -> planner.AnyState:
    return planner.read(QUICKSTART)  # from the root, so that no screen has a place of its own


@cache
def answer(command: str) -> Any:
    """Return what a command finds in the quickstart cluster, times of its own left out."""
    edit = "clusterqueue/nlp.preemption.reclaimWithinCohort=Never"
    asked: dict[str, Callable[[], Any]] = {
        "explain": lambda: planner.explain(state()),
        "spared": lambda: planner.explain(
            state(), victim="research/statefulset-notebook-ada-c9a6d"
        ),
        "front": lambda: planner.front(state()),
        "joint": lambda: planner.solve_joint(state()),
        "audit": lambda: planner.audit(state()),
        "whatif": lambda: planner.whatif(state(), [edit]),
        "compare": lambda: compare(state(), ["greedy", "optimum:no-regret"]),
    }
    found = asked[command]()
    if command == "joint":
        certificate = found.certificate.model_copy(update={"wall_time_s": 0.25})
        return found.model_copy(update={"certificate": certificate})
    if command == "compare":
        rows = tuple(row.model_copy(update={"seconds": 0.25}) for row in found.rows)
        return found.model_copy(update={"rows": rows})
    return found


def screen(command: str, width: int) -> str:
    """Return an answer as a table, or, of no width, in plain lines."""
    found = answer(command)
    style: Literal["table", "plain"] = "table" if width else "plain"
    if command == "compare":
        text = render_comparison(found, style, width=width, color=False)
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if not re.match(r" Seconds|.* seconds ", line))
    return planner.render(found, style, width=width or 108)


def planned(name: str) -> str:
    """Return a plan on a screen, by the name of its file: KIND-WIDTH, or KIND-plain."""
    kind, _, width = name.partition(".")[0].rpartition("-")
    if width == "plain":
        return plain.render(PLANS[kind]())
    return table.render(PLANS[kind](), width=int(width))


def told(page: str) -> str:
    return Page.of(page).told()


def page_of(kind: str) -> str:
    return told(html.render(PLANS[kind]()))


def markdown_of(kind: str) -> str:
    return markdown.render(PLANS[kind]())


def audited(style: str) -> str:
    return render_audit(make_audit(), style, width=120, color=False)


SCREENS: dict[str, Callable[[], str]] = {
    "brief-80.txt": lambda: brief.render(make_plan(), width=80),
    "brief-120.txt": lambda: brief.render(make_plan(), width=120),
    "brief-infeasible-108.txt": lambda: brief.render(make_infeasible(), width=108),
    "brief-yunikorn-80.txt": lambda: brief.render(make_yunikorn(), width=80),
    "brief-yunikorn-120.txt": lambda: brief.render(make_yunikorn(), width=120),
    "several-80.txt": lambda: table.render_all([make_plan(), make_infeasible()], width=80),
    **{name: partial(planned, name) for name in FILES},
    "page-several.txt": lambda: told(html.render_all([make_plan(), make_infeasible()])),
    "page-none.txt": lambda: told(html.render_all([])),
    **{
        f"page-{kind}.txt": partial(page_of, kind)
        for kind in ("plan", "infeasible", "broken", "flavors", "fair", "unstable", "yunikorn")
    },
    **{f"markdown-{kind}.txt": partial(markdown_of, kind) for kind in ("plan", "fair")},
    "page-audit.txt": lambda: told(audited("html")),
    "markdown-audit.txt": lambda: audited("markdown"),
    "made-audit-120.txt": lambda: audited("table"),
    "made-audit-plain.txt": lambda: audited("plain"),
    **{
        f"{command}-{width or 'plain'}.txt": partial(screen, command, width)
        for command in COMMANDS
        for width in (0, 80, 120, 200)
    },
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen_is_as_stored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    fits_and_is_as_stored(SCREENS[name](), GOLDEN / name)


def fits_and_is_as_stored(screen: str, file: Path) -> None:
    """Compare a screen with a file, whose name may end in the width, or store it anew."""
    width = file.stem.rpartition("-")[2]
    if width.isdigit():
        assert max(map(cells, screen.splitlines())) <= int(width)
        assert not [line for line in screen.splitlines() if line != line.rstrip()]
    is_as_stored(screen, file)


WIDTHS = (1280, 390)
MEASURE = """
const found = {};
for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument.documentElement;
  for (const fold of page.querySelectorAll("details")) fold.open = true;
  const boxes = [page, ...page.querySelectorAll(".scroll:has(table)")];
  found[frame.title] = boxes.map(box => [box.scrollWidth, box.clientWidth]);
}
document.title = "measured " + JSON.stringify(found);
"""


def pages() -> dict[str, str]:
    """Return a page of each kind, of both schedulers."""
    yunikorn = planner.read(YUNIKORN)
    every = {command: answer(command) for command in COMMANDS if command != "compare"}
    every["plan"] = planner.solve(state())
    every["plan-yunikorn"] = planner.solve(yunikorn)
    found = {name: planner.render(one, "html") for name, one in every.items()}
    found["compare"] = render_comparison(answer("compare"), "html", width=108, color=False)
    return found


@pytest.mark.skipif(not BROWSER, reason="no chromium on PATH to lay pages out")
def test_no_page_is_wider_than_its_window_and_no_table_on_a_phone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    fit_their_windows(pages(), tmp_path)


def fit_their_windows(pages: Mapping[str, str], tmp_path: Path) -> None:
    """Lay pages out, by their names, and compare their widths."""
    frames = [
        f'<iframe title="{name} at {width}" width="{width}" srcdoc="{escape(page)}"></iframe>'
        for name, page in pages.items()
        for width in WIDTHS
    ]
    script = f"<script>window.onload = () => {{{MEASURE}}};</script>"
    whole = tmp_path / "all.html"
    whole.write_text(f"<!DOCTYPE html><title>-</title>{''.join(frames)}{script}", "utf-8")
    options = (*OPTIONS, f"--user-data-dir={tmp_path}/profile")
    done = subprocess.run(
        [BROWSER, *options, "--dump-dom", whole.as_uri()],
        capture_output=True,
        text=True,
        timeout=FOR_EVER_S,
        check=True,
    )
    measured = done.stdout.partition("<title>measured ")[2].partition("</title>")[0]
    found = json.loads(unescape(measured))
    assert len(found) == len(frames)
    assert all(shown > 0 for sizes in found.values() for _, shown in sizes)
    for name, (page, *tables) in found.items():
        boxes = [page] if name.endswith(f"at {WIDTHS[0]}") else [page, *tables]
        assert [(wide, shown) for wide, shown in boxes if wide > shown] == [], name
