"""``planner mcp``, asked by the client of the protocol's own SDK, over a process and its pipes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from planner.operations.cli.kueue_mcp_answer import TOOLS
from tests.cli.running import call, cluster, command, environment, refused
from tests.conftest import FOR_EVER_S, QUICKSTART, ROOT, YUNIKORN
from tests.page import blocks
from tests.published import validator
from tests.stand_in import StandIn, forbidden
from tests.told import told

if TYPE_CHECKING:
    from mcp import Client

GUIDE = ROOT / "docs/how-to/mcp.md"
PENDING = "nlp/jobset-train-translator-8974c"
EDIT = "clusterqueue/nlp.preemption.reclaimWithinCohort=LowerPriority"
CALLS: dict[str, Mapping[str, Any]] = {
    "pending_workloads": {},
    "plan": {"pending": PENDING},
    "explain": {"pending": PENDING},
    "whatif": {"edits": [EDIT]},
    "lint": {},
}


class Server(NamedTuple):
    """A process of ``planner mcp``, by its client."""

    portal: BlockingPortal
    client: "Client"

    def tools(self) -> list[Any]:
        """Return the tools that it lists."""
        listed = self.portal.start_task_soon(self.client.list_tools)
        return list(listed.result(FOR_EVER_S).tools)

    def said(self, tool: str, **arguments: Any) -> tuple[bool, str, Any]:
        """Return whether a result is an error, its text and its structured content."""
        called = self.portal.start_task_soon(self.client.call_tool, tool, arguments)
        result = called.result(FOR_EVER_S)
        (content,) = result.content
        assert content.type == "text"
        assert "Traceback" not in content.text
        return result.is_error, content.text, result.structured_content


@contextmanager
def started(*words: str | Path, path: str = "") -> Iterator[Server]:
    """Start ``planner mcp`` with these words, and end it."""
    # Two seconds, which no process that collects the tests of others has to spend.
    from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415

    program, *arguments = command("mcp", *words)
    how = environment({"PATH": path} if path else {})
    server = StdioServerParameters(command=program, args=arguments, env=how, cwd=ROOT)
    with start_blocking_portal() as portal:
        client = portal.wrap_async_context_manager(Client(stdio_client(server)))
        with client as connected:
            yield Server(portal, connected)


@pytest.fixture(scope="module")
def main(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the file that the server names first."""
    folder = tmp_path_factory.mktemp("main")
    (folder / "dumps" / "deep").mkdir(parents=True)
    return Path(shutil.copy(QUICKSTART, folder / "main.json"))


@pytest.fixture(scope="module")
def server(main: Path) -> Iterator[Server]:
    """Give one that may read a file, a folder beside it, and a state of YuniKorn."""
    with started(main, main.parent / "dumps", YUNIKORN) as found:
        yield found


def test_every_tool_answers_by_its_schema_and_as_the_command_does(
    server: Server, main: Path
) -> None:
    tools = server.tools()
    assert {one.name for one in tools} == set(CALLS) == set(TOOLS)
    assert all(one.annotations and one.annotations.read_only_hint for one in tools)
    for one in tools:
        assert TOOLS[one.name].published in (one.description or "")
        assert set(CALLS[one.name]) <= set(one.input_schema["properties"])
    answers = {tool: server.said(tool, **arguments) for tool, arguments in CALLS.items()}
    for tool, (wrong, text, value) in answers.items():
        assert not wrong, text
        validator(TOOLS[tool].published).validate(value)
    _, text, plan = answers["plan"]
    printed = json.loads(call("solve", main, "--format", "json").stdout)
    for value in (plan, printed):
        value["certificate"]["wall_time_s"] = 0
    assert plan == printed
    assert all(one["workload"] in text for one in plan["victims"])
    _, text, lint = answers["lint"]
    assert lint == json.loads(call("lint", main, "--format", "json").stdout)
    assert text == call("lint", main, "--format", "table", env={"COLUMNS": "100"}).stdout


WRONG: list[tuple[str, Mapping[str, Any], str]] = [
    ("plan", {"pending": "a/b"}, "there is no workload a/b"),
    ("plan", {"pendign": PENDING}, "pendign: the arguments: there is no such key"),
    ("plan", {"objective": "../own.toml"}, "objective"),
    ("whatif", {}, "edits: the arguments: is missing"),
    ("whatif", {"edits": []}, "edits"),
    ("whatif", {"edits": ["x=1"]}, "x=1"),
    ("lint", {"ignore": ["KL-5"]}, 'ignore: "KL-5" is no code'),
    ("plam", {}, 'did you mean "plan"?'),
]


def test_what_is_wrong_is_said_in_a_result(server: Server) -> None:
    for tool, arguments, expected in WRONG:
        wrong, text, value = server.said(tool, **arguments)
        assert (wrong, value) == (True, None)
        assert expected in text
        assert "--" not in text


def test_only_what_was_named_is_read(server: Server, main: Path, tmp_path: Path) -> None:
    secret, allowed = tmp_path / "one.json", main.parent / "dumps"
    for path in (secret, allowed / "deep" / "one.json", main.with_name("beside.json")):
        path.write_text(json.dumps(cluster()))
    (allowed / "link.json").symlink_to(secret)
    bad = ["link.json", os.path.relpath(secret, allowed), str(secret), "beside.json"]
    bad += ["no.json", "", "/etc/passwd", "\x00", "-"]
    names = {"main.json": "kueue", "deep/one.json": "kueue", str(YUNIKORN): "yunikorn"}
    got = {one: server.said("pending_workloads", state=one) for one in (*names, *bad)}
    answers = {one: found["scheduler"] for one, (wrong, _, found) in got.items() if not wrong}
    assert answers == names


def test_without_a_state_every_call_takes_a_snapshot(tmp_path: Path) -> None:
    stand_in = StandIn.make(tmp_path / "bin", cluster()["items"])
    path = f"{stand_in.folder}{os.pathsep}{os.environ['PATH']}"
    with started("--context", "here", path=path) as server:
        assert not any("state" in one.input_schema["properties"] for one in server.tools())
        wrong, _, plan = server.said("plan")
        assert not wrong
        assert [one["workload"] for one in plan["victims"]]
        assert server.said("plan", state="x")[0]
        resource = "clusterqueues.kueue.x-k8s.io"
        stand_in.answer(resource, code=1, said=forbidden(resource))
        wrong, text, _ = server.said("plan")
    assert wrong
    assert "forbidden" in text
    assert all("get" in words for words in stand_in.calls())
    assert all("--context=here" in words for words in stand_in.calls())


def test_time_and_size_are_bounded(tmp_path: Path) -> None:
    with started(QUICKSTART, "--max-size", "1000") as server:
        wrong, text, _ = server.said("pending_workloads")
    assert wrong
    assert "larger" in text or "more than" in text
    with started(QUICKSTART, "--memory", "64Mi") as server:
        wrong, text, _ = server.said("plan")
    assert wrong
    assert "--memory" in text
    fifo = tmp_path / "never"
    os.mkfifo(fifo)  # whose reader would wait for ever
    stuck = tmp_path / "kubectl"
    stuck.write_text(f"#!/bin/sh\nread x <{fifo}\n")
    stuck.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    with started("--seconds", "1", path=path) as server:
        wrong, text, _ = server.said("plan")
    assert wrong
    told(text)


def test_it_ends_with_its_input() -> None:
    done = subprocess.run(
        command("mcp", QUICKSTART),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        timeout=FOR_EVER_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_told_though_its_input_stays_open(number: signal.Signals) -> None:
    with subprocess.Popen(
        command("mcp", QUICKSTART),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        version: dict[str, object] = {"protocolVersion": "2025-03-26", "capabilities": {}}
        version["clientInfo"] = {"name": "a test", "version": "1"}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": version}
        process.stdin.write(f"{json.dumps(hello)}\n")
        process.stdin.flush()
        assert '"id":1' in process.stdout.readline()
        process.send_signal(number)
        assert process.wait(FOR_EVER_S) == 130


def test_a_state_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    assert "nothing.json" in refused("mcp", tmp_path / "nothing.json")
    told(refused("mcp", ""))  # as from a shell variable that is not set: not this folder


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    text = refused("mcp")
    told(text)


def test_the_guide_has_the_tools_and_a_configuration_that_works(tmp_path: Path) -> None:
    page = GUIDE.read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*)\| `(\w+)`", page, re.MULTILINE)
    assert {name: schema for name, _, schema in rows} == {
        name: tool.published for name, tool in TOOLS.items()
    }
    for name, arguments, _ in rows:
        fields = set(TOOLS[name].model_fields) - {"state"}
        assert set(re.findall(r"`(\w+)`", arguments)) == fields
    (block,) = blocks(GUIDE, "json")
    server = json.loads(block.content)["mcpServers"]["preemption-planner"]
    assert (server["command"], server["args"][0]) == ("planner", "mcp")
    words = [word.replace("/srv/dumps", str(tmp_path)) for word in server["args"][1:]]
    (tmp_path / "cluster.json").write_text(json.dumps(cluster()))
    with started(*words) as server:
        assert server.said("pending_workloads")[0] is False
