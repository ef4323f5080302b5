"""No page is wider than the window it is read in, as a browser lays it out; all in one start."""

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
  found[frame.title] = [page.scrollWidth, page.clientWidth];
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
def test_no_page_is_wider_than_its_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert {name: sizes for name, sizes in found.items() if sizes[0] > sizes[1]} == {}
