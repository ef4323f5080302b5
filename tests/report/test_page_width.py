"""No page is wider than the window it is read in, and no table on a phone; all in one start.

A browser lays them out, with all that is folded opened.
"""

import html
import json
import subprocess
from pathlib import Path

import pytest

import planner
from planner.report.compare import render as render_comparison
from tests.browser import BROWSER, OPTIONS
from tests.conftest import FOR_EVER_S, ROOT
from tests.report.test_golden import COMMANDS, answer, state

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
    yunikorn = planner.read("instances/yunikorn/quickstart")
    every = {command: answer(command) for command in COMMANDS if command != "compare"}
    every["plan"] = planner.solve(state())
    every["plan-yunikorn"] = planner.solve(yunikorn)
    every["simulate-yunikorn"] = planner.simulate(yunikorn)
    found = {name: planner.render(one, "html") for name, one in every.items()}
    found["compare"] = render_comparison(answer("compare"), "html", width=108, color=False)
    return found


@pytest.mark.skipif(not BROWSER, reason="no chromium on PATH to lay pages out")
def test_no_page_is_wider_than_its_window_and_no_table_on_a_phone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    frames = [
        f'<iframe title="{name} at {width}" width="{width}" srcdoc="{html.escape(page)}"></iframe>'
        for name, page in pages().items()
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
    found = json.loads(html.unescape(measured))
    assert len(found) == len(frames)
    assert all(shown > 0 for sizes in found.values() for _, shown in sizes)
    for name, (page, *tables) in found.items():
        boxes = [page] if name.endswith(f"at {WIDTHS[0]}") else [page, *tables]
        assert [(wide, shown) for wide, shown in boxes if wide > shown] == [], name
