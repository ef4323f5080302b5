"""The page to work in, in a real browser and by keys alone: what it shows, says, and never runs."""

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

import planner
from planner.operations.cli import serve
from planner.operations.serve import app, work
from planner.operations.serve.answering import Bounds, Ended
from planner.operations.serve.app import Files, service
from planner.research.generate import generate_objects
from tests.browser import BROWSER, SHIFT, Tab, browsing
from tests.cli.running import another_pending, call, cluster
from tests.conftest import FOR_EVER_S
from tests.operations.serve.asking import Answer, ask, serving_at
from tests.told import told

pytestmark = pytest.mark.skipif(not BROWSER, reason="no chromium on PATH to work in the page")

EXAMPLE = generate_objects("small", serve.EXAMPLE, {})
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}\u202e"
SHOWN = EVIL.replace("\u202e", "\\u202e")
BOUNDS = Bounds(max_bytes=10**6, seconds=FOR_EVER_S, memory=2**30, at_once=1)
STATE = cluster(another_pending("other"))
DONE = "document.getElementById('answer').getAttribute('aria-busy') === 'false'"
LINES = """(() => {
  const lines = [];
  for (const one of document.querySelectorAll("main article .names")) {
    const names = [...one.querySelectorAll("li")].map((each) => each.textContent.trim());
    lines.push([one.querySelector(".label").textContent.trim(), ...names]);
  }
  return lines;
})()"""
CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [r, g, b] = rgba(color).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    for (let each = one; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if (rgba(color)[3] === 255) return color;
    }
    return "white";
  };
  const poor = [];
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !one.checkVisibility() || one.closest("svg, noscript")) continue;
    const pair = [light(getComputedStyle(one).color), light(ground(one))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) poor.push(`${one.tagName} ${one.className} ${ratio.toFixed(2)}`);
  }
  return poor;
})()"""
FREE = """(() => {
  const field = document.activeElement.getBoundingClientRect();
  return field.bottom <= document.getElementById("error").getBoundingClientRect().top;
})()"""
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


async def in_this_process(words: Sequence[str], dump: bytes, bounds: Bounds, plans: int) -> Ended:
    """Answer without a process: what one is good for, other tests look at."""
    del bounds, plans
    result = call(*words, stdin=dump.decode())
    return Ended(result.exit_code, result.stdout.encode(), result.stderr)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Give the address of the service, which answers one request after the other."""
    files = work.read_files(json.dumps(EXAMPLE).encode())
    served, turn = service(BOUNDS, "1", Files(files, work.policy())), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.pass_on("GET", b"")

        def do_POST(self) -> None:
            self.pass_on("POST", self.rfile.read(int(self.headers["content-length"])))

        def pass_on(self, method: str, data: bytes) -> None:
            path, _, query = self.path.partition("?")
            given: Any = parse_qs(query, keep_blank_values=True)
            with turn:
                answer = asyncio.run(ask(served, path, data, method=method, **given))
            with suppress(ConnectionError):  # whoever asked something else does not wait
                self.reply(answer)

        def reply(self, answer: Answer) -> None:
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.data)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(app, "answer", in_this_process)
        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/"
            server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browsing(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


@pytest.fixture
def tab(browser: Tab, address: str) -> Tab:
    """Give the page as it is at first, 1,280 pixels wide."""
    browser.said.clear()
    browser.look(1280)
    browser.go(address)
    return browser


def drop(tab: Tab, text: str) -> None:
    """Drop a file on the page, and wait until it was read."""
    let_go(tab, text, "cluster.json")
    tab.wait("!document.getElementById('loaded').hidden")


def let_go(tab: Tab, text: str, name: str) -> None:
    """Drop a file of some name on the page."""
    tab.run(
        f"""(() => {{
          const carried = new DataTransfer();
          carried.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));
          const options = {{ dataTransfer: carried, bubbles: true, cancelable: true }};
          document.body.dispatchEvent(new DragEvent("drop", options));
        }})()"""
    )


def answered(tab: Tab, *kinds: str) -> None:
    """Wait until the page shows answers of some kinds, and nothing is under way."""
    shown = "[...document.querySelectorAll('article .kind')].map((one) => one.textContent)"
    tab.wait(f"{DONE} && {shown}.join() === {json.dumps(','.join(kinds))}")


def status(tab: Tab) -> str:
    found: str = tab.run("document.getElementById('status').textContent")
    return found


def victims(tab: Tab) -> list[str]:
    """Return whom the plan on the page evicts."""
    found: list[str] = tab.run(
        "[...document.querySelector('#plan-plan table caption').closest('article')"
        ".querySelectorAll('table')].filter((one) => one.caption.textContent === 'Whom to evict')"
        "[0].querySelectorAll('tbody tr td:first-child').values()"
        ".map((one) => one.textContent.trim()).toArray()"
    )
    return found


def test_drop_choose_plan_and_change_a_quota_by_keys(tab: Tab) -> None:
    drop(tab, json.dumps(STATE))
    told(status(tab))
    # What was read takes the focus to what comes next.
    assert tab.run("document.activeElement.value") == "ns/pending"
    tab.press(" ")
    answered(tab, "Preemption plan", "Explanation")
    plan = planner.solve(planner.read(STATE), "ns/pending")
    assert victims(tab) == list(plan.keys) == ["ns/big"]
    assert status(tab) == f"Proved optimal: {plan.explanation}."
    tab.press("ArrowDown")
    tab.wait(f"{DONE} && document.querySelector('article .title').textContent === 'ns/other'")
    tab.press("ArrowUp")
    tab.wait(f"{DONE} && document.querySelector('article .title').textContent === 'ns/pending'")
    answered(tab, "Preemption plan", "Explanation")

    # Its own queue stands first. With less quota the preemptor has nothing to reclaim.
    tab.tab_to("[data-target='clusterqueue/lender.quota.default/gpu.nominal']")
    tab.write("2")
    answered(tab, "What an edit changes")
    edit = "clusterqueue/lender.quota.default/gpu.nominal=2"
    changed = planner.whatif(planner.read(STATE), [edit], "ns/pending")
    assert changed.optimum.no_longer == ("ns/big",)
    told(tab.run(LINES)[0])
    told(status(tab))
    assert changed.after.explanation in status(tab)

    tab.tab_to("[aria-label='Undo Nominal quota of lender']")
    tab.press("Enter")
    answered(tab, "Preemption plan", "Explanation")
    assert victims(tab) == ["ns/big"]
    assert tab.run("document.activeElement.id") == "object"
    assert tab.said == []


def test_a_priority_and_a_policy_and_all_back(tab: Tab) -> None:
    drop(tab, json.dumps(cluster()))
    answered(tab, "Preemption plan", "Explanation")
    tab.tab_to("[data-target='clusterqueue/lender.preemption.reclaimWithinCohort']")
    tab.press("ArrowUp")
    assert tab.run("document.activeElement.value") == "LowerPriority"
    answered(tab, "What an edit changes")
    assert tab.run("document.querySelector('.edited .was').textContent") == "was Any"
    assert tab.run("document.querySelectorAll('#edits li').length") == 1
    tab.tab_to("#undo-all")
    tab.press("Enter")
    answered(tab, "Preemption plan", "Explanation")
    # The tree leads to what can be changed.
    tab.tab_to(".gauges .depth-1 .who button")
    tab.press("Enter")
    name = tab.run("document.querySelector('.gauges .depth-1 .who button').textContent")
    assert tab.run("document.activeElement.dataset.target").split("/")[1].startswith(f"{name}.")


def test_a_dump_that_is_pasted_and_what_is_wrong_in_words(tab: Tab) -> None:
    tab.tab_to("#paste summary")
    tab.press("Enter")
    tab.tab_to("#pasted")
    tab.write("{")
    tab.tab_to("#take")
    tab.press("Enter")
    said = tab.wait("document.getElementById('error').textContent")
    told(said)
    tab.press("Tab", SHIFT)
    tab.write(json.dumps(cluster()))
    tab.tab_to("#take")
    tab.press("Enter")
    answered(tab, "Preemption plan", "Explanation")
    assert tab.run("document.getElementById('error').textContent") == ""

    tab.tab_to("[data-target='clusterqueue/lender.quota.default/gpu.nominal']")
    tab.write("many")
    said = tab.wait("document.getElementById('error').textContent")
    first, expected = said.split("\n")
    told(first)
    told(expected)
    assert tab.run("document.activeElement.getAttribute('aria-invalid')") == "true"
    told(status(tab))
    shown = "[...document.querySelectorAll('main article .kind')].map((one) => one.textContent)"
    assert tab.run(shown) == ["Preemption plan", "Explanation"]
    tab.write("2")
    answered(tab, "What an edit changes")
    assert tab.run("document.activeElement.getAttribute('aria-invalid')") is None


def test_a_dump_that_cannot_be_read_leaves_the_one_before(tab: Tab) -> None:
    let_go(tab, "[]", "empty.json")
    said = tab.wait("document.getElementById('error').textContent")
    told(said)
    assert tab.run("document.getElementById('example').checkVisibility()")
    drop(tab, json.dumps(cluster()))
    answered(tab, "Preemption plan", "Explanation")
    tab.tab_to("[data-target='clusterqueue/lender.quota.default/gpu.nominal']")
    tab.write("2")
    answered(tab, "What an edit changes")
    let_go(tab, "x" * (BOUNDS.max_bytes + 1), "large.json")
    said = tab.wait("document.getElementById('error').textContent")
    told(said)
    told(status(tab))
    answered(tab, "What an edit changes")
    assert tab.run("document.querySelector('#loaded .name').textContent") == "cluster.json"
    assert tab.run("document.querySelectorAll('#edits li').length") == 1


def test_an_example_can_be_tried(tab: Tab) -> None:
    tab.tab_to("#example")
    tab.press("Enter")
    answered(tab, "Preemption plan", "Explanation")
    assert tab.run("document.getElementById('loaded').textContent").startswith("an example: ")
    kueue = planner.greedy(planner.read(json.dumps(EXAMPLE).encode()))
    assert len(kueue.victims) == 4
    assert f"Kueue itself: {len(kueue.victims)}" in tab.run("document.body.textContent")


def test_the_page_begins_with_a_state(browser: Tab, tmp_path: Path) -> None:
    """As `planner serve cluster.json` does."""
    file = tmp_path / "a <b> cluster.json"
    file.write_text(json.dumps(cluster()), encoding="utf-8")
    with serving_at(str(file)) as (_, (host, port)):
        browser.said.clear()
        browser.go(f"http://{host}:{port}/")
        answered(browser, "Preemption plan", "Explanation")
        assert f"{file}: " in browser.run("document.getElementById('loaded').textContent")
        assert browser.said == []


def test_the_later_of_two_files_counts(tab: Tab) -> None:
    """The first takes longer to read from the disk."""
    tab.run(
        """(() => {
          const whole = File.prototype.arrayBuffer;
          File.prototype.arrayBuffer = function () {
            if (this.name !== "slow.json") return whole.call(this);
            return new Promise((done) => { globalThis.release = () => done(whole.call(this)); });
          };
        })()"""
    )
    let_go(tab, json.dumps(cluster()), "slow.json")
    drop(tab, json.dumps(STATE))
    tab.run("globalThis.release()")
    rest(tab)
    assert tab.run("document.querySelector('#loaded .name').textContent") == "cluster.json"
    told(status(tab))


def rest(tab: Tab) -> None:
    """Wait until all that the page puts off by now was done: its timers run in order."""
    tab.run("setTimeout(() => { globalThis.rested = true; }, 1000)")
    tab.wait("globalThis.rested && (globalThis.rested = false, true)")
    tab.wait(DONE)


def test_an_edit_of_one_dump_asks_nothing_of_the_next(tab: Tab) -> None:
    drop(tab, json.dumps(cluster()))
    answered(tab, "Preemption plan", "Explanation")
    tab.tab_to("[data-target='clusterqueue/lender.quota.default/gpu.nominal']")
    tab.write("2")
    let_go(tab, json.dumps(STATE), "next.json")
    rest(tab)
    assert tab.run("document.querySelector('#loaded .name').textContent") == "next.json"
    told(status(tab))


def test_an_emptied_field_shows_what_holds(tab: Tab) -> None:
    drop(tab, json.dumps(cluster()))
    answered(tab, "Preemption plan", "Explanation")
    tab.tab_to("[data-target='clusterqueue/lender.quota.default/gpu.nominal']")
    before = tab.run("document.activeElement.value")
    tab.run(
        """(() => {
          const field = document.activeElement;
          field.value = "";
          for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind));
        })()"""
    )
    assert tab.run("document.activeElement.value") == before != ""
    assert tab.run("document.querySelectorAll('#edits li').length") == 0


def test_a_service_that_is_gone(tab: Tab) -> None:
    tab.run("window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
    tab.run("(() => { document.getElementById('pasted').value = '{}'; })()")
    tab.run("document.getElementById('take').click()")
    said = tab.wait("document.getElementById('error').textContent")
    told(said)


def test_hostile_names_are_text(tab: Tab) -> None:
    text = json.dumps(cluster())
    for name in ("all", "big", "pending", "small-1"):
        text = text.replace(json.dumps(name), json.dumps(EVIL + name))
    # An edit ends its target with the first "=", which no name of Kubernetes has.
    text = text.replace('"lender"', json.dumps(EVIL.replace("=", "-") + "lender"))
    tab.run("window.alert = () => { window.wasRun = true; }")
    drop(tab, text)
    answered(tab, "Preemption plan", "Explanation")
    assert victims(tab) == [f"ns/{SHOWN}big"]
    assert tab.run("document.querySelector('.choice .name').textContent") == f"ns/{SHOWN}pending"
    tab.tab_to("[data-target$='gpu.nominal']")
    tab.write("2")
    answered(tab, "What an edit changes")
    assert tab.run(LINES)[0][1:] == [f"ns/{SHOWN}big"]
    assert (
        tab.run("document.querySelector('#edits .name').textContent")
        == f"{SHOWN.replace('=', '-')}lender"
    )
    for width in (1280, 390):
        tab.look(width)
        assert not tab.run(WIDER)
    assert tab.run("document.images.length") == 0
    assert tab.run("document.scripts.length") == 1
    assert tab.run("window.wasRun") is None
    assert tab.said == []


@pytest.mark.parametrize("dark", [False, True])
def test_every_state_is_narrow_enough_and_easy_to_read(tab: Tab, *, dark: bool) -> None:
    def looks_well() -> None:
        for width in (1280, 390):
            tab.look(width, dark=dark)
            assert not tab.run(WIDER), width
            assert tab.run(CONTRAST) == []

    looks_well()
    drop(tab, json.dumps(STATE))
    looks_well()
    tab.press(" ")
    answered(tab, "Preemption plan", "Explanation")
    looks_well()
    tab.tab_to("[data-target='clusterqueue/lender.quota.default/gpu.nominal']")
    tab.write("2")
    answered(tab, "What an edit changes")
    looks_well()
    tab.write("many")
    tab.wait("document.getElementById('error').textContent")
    looks_well()
    # The last width is that of a phone, where the error lies over the end of the page.
    tab.write("more")
    tab.run("scrollBy(0, document.activeElement.getBoundingClientRect().bottom - innerHeight)")
    tab.wait("document.getElementById('error').textContent.includes('more')")
    assert tab.run(FREE)


def test_all_that_takes_the_focus_has_a_name_and_ids_are_unique(tab: Tab) -> None:
    drop(tab, json.dumps(cluster()))
    answered(tab, "Preemption plan", "Explanation")
    tab.tab_to("[data-target='clusterqueue/lender.quota.default/gpu.nominal']")
    tab.write("2")
    answered(tab, "What an edit changes")
    tab.call("Accessibility.enable")
    nodes = tab.call("Accessibility.getFullAXTree")["nodes"]
    tab.call("Accessibility.disable")
    taking = {
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"]
        and any(one["name"] == "focusable" for one in node.get("properties", ()))
    }
    assert ("textbox", "Nominal quota") in taking
    assert ("combobox", "Objective") in taking
    assert {role for role, name in taking if not name} <= {"generic"}
    ids = tab.run("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    levels = tab.run("[...document.querySelectorAll('h1')].length")
    assert levels == 1


def test_the_files_and_what_they_may_load() -> None:
    found = work.read_files(b"{}", work.Dump('"<b>', b"[]"))
    policy = work.policy()
    assert b'data-state="&quot;&lt;b&gt;"' in found["/"][0]
    for path, (data, kind) in found.items():
        text = data.decode()
        answer = asyncio.run(ask(service(BOUNDS, "1", Files(found, policy)), path, method="GET"))
        assert (answer.status, answer.headers["content-type"]) == (200, kind)
        assert answer.headers["content-security-policy"] == policy
        assert "://" not in text
        assert "@import" not in text
        assert not any(word in text for word in ("innerHTML", "insertAdjacentHTML", "eval("))
    assert "unsafe" not in policy
    told(policy)
