"""``planner mcp``: the answers of its tools, and a client that asks it."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from planner.operations.cli import kueue_mcp_answer
from planner.operations.cli.kueue_mcp import _Service as Answering
from planner.operations.cli.kueue_mcp_answer import TOOLS
from tests.cli.running import call, cluster, command, environment, refused
from tests.conftest import FOR_EVER_S, QUICKSTART, ROOT, YUNIKORN, some
from tests.page import blocks
from tests.published import validator
from tests.stand_in import StandIn, forbidden
from tests.told import told

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

SESSION: Any = None
"""With whom the tools talk, which none of them looks at."""


class Service(NamedTuple):
    """What ``planner mcp`` answers with, without the pipes."""

    answering: Answering

    def tools(self) -> list[Any]:
        """Return the tools that it lists."""
        return list(anyio.run(self.answering.list_tools, SESSION, None).tools)

    def said(self, tool: str, **arguments: Any) -> tuple[bool, str, Any]:
        """Return whether a result is an error, its text and its structured content."""
        from mcp_types import CallToolRequestParams  # noqa: PLC0415 - as below

        asked = CallToolRequestParams(name=tool, arguments=arguments)
        return said(anyio.run(self.answering.call_tool, SESSION, asked))


def said(result: Any) -> tuple[bool, str, Any]:
    (content,) = result.content
    assert content.type == "text"
    assert "Traceback" not in content.text
    return result.is_error, content.text, result.structured_content


def serving(*words: str | Path) -> Service:
    """Return what would answer if ``planner mcp`` were started with these words."""
    caught = []

    async def answer_calls(answering: Answering) -> None:
        caught.append(answering)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Answering, "answer_calls", answer_calls)
        done = call("mcp", *words)
    assert done.exit_code == 0, done.stderr
    (answering,) = caught
    return Service(answering)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls be answered in this process: one of their own for each takes much longer."""

    async def run_process(words: Sequence[str], **how: Any) -> subprocess.CompletedProcess[bytes]:
        with monkeypatch.context() as patched, redirect_stdout(io.StringIO()) as out:
            patched.setattr(sys, "stdin", io.StringIO(how["input"].decode()))
            kueue_mcp_answer.main()
        return subprocess.CompletedProcess(words, 0, out.getvalue().encode(), b"")

    monkeypatch.setattr(anyio, "run_process", run_process)


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """Give the file that is named first."""
    (tmp_path / "main" / "dumps" / "deep").mkdir(parents=True)
    return Path(shutil.copy(QUICKSTART, tmp_path / "main" / "main.json"))


@pytest.fixture
def service(main: Path, here: None) -> Service:
    """Give one that may read a file, a folder beside it, and a state of YuniKorn."""
    del here
    return serving(main, main.parent / "dumps", YUNIKORN)


def test_a_client_lists_calls_and_is_told_what_is_wrong() -> None:
    """By the protocol's own SDK, over a process and its pipes."""
    # Two seconds, which no process that collects the tests of others has to spend.
    from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415

    program, *arguments = command("mcp", QUICKSTART)
    how = StdioServerParameters(command=program, args=arguments, env=environment(), cwd=ROOT)

    async def asked() -> tuple[Any, ...]:
        async with Client(stdio_client(how)) as client:
            listed = await client.list_tools()
            plan = await client.call_tool("plan", {"pending": PENDING})
            return listed.tools, plan, await client.call_tool("plan", {"pendign": PENDING})

    tools, plan, wrong = anyio.run(asked)
    assert {one.name for one in tools} == set(TOOLS)
    is_error, text, value = said(plan)
    assert not is_error, text
    printed = json.loads(call("solve", QUICKSTART, "--format", "json").stdout)
    for one in (value, printed):
        one["certificate"]["wall_time_s"] = 0
    assert value == printed
    assert all(one["workload"] in text for one in value["victims"])
    is_error, text, value = said(wrong)
    assert (is_error, value) == (True, None)
    assert "pendign: the arguments: there is no such key" in text


def test_every_tool_answers_by_its_schema_and_as_the_command_does(
    service: Service, main: Path
) -> None:
    tools = service.tools()
    assert {one.name for one in tools} == set(CALLS) == set(TOOLS)
    assert all(one.annotations and one.annotations.read_only_hint for one in tools)
    for one in tools:
        assert TOOLS[one.name].published in (one.description or "")
        assert set(CALLS[one.name]) <= set(one.input_schema["properties"])
    answers = {tool: service.said(tool, **arguments) for tool, arguments in CALLS.items()}
    for tool, (wrong, text, value) in answers.items():
        assert not wrong, text
        validator(TOOLS[tool].published).validate(value)
    _, text, lint = answers["lint"]
    assert lint == json.loads(call("lint", main, "--format", "json").stdout)
    assert text == call("lint", main, "--format", "table", env={"COLUMNS": "100"}).stdout


WRONG: list[tuple[str, Mapping[str, Any], str]] = [
    ("plan", {"pending": "a/b"}, "there is no workload a/b"),
    ("plan", {"objective": "../own.toml"}, "objective"),
    ("whatif", {}, "edits: the arguments: is missing"),
    ("whatif", {"edits": []}, "edits"),
    ("whatif", {"edits": ["x=1"]}, "x=1"),
    ("lint", {"ignore": ["KL-5"]}, 'ignore: "KL-5" is no code'),
    ("plam", {}, 'did you mean "plan"?'),
]


def test_what_is_wrong_is_said_in_a_result(service: Service) -> None:
    for tool, arguments, expected in WRONG:
        wrong, text, value = service.said(tool, **arguments)
        assert (wrong, value) == (True, None)
        assert expected in text
        assert "--" not in text


def test_only_what_was_named_is_read(service: Service, main: Path, tmp_path: Path) -> None:
    secret, allowed = tmp_path / "one.json", main.parent / "dumps"
    for path in (secret, allowed / "deep" / "one.json", main.with_name("beside.json")):
        path.write_text(json.dumps(cluster()))
    (allowed / "link.json").symlink_to(secret)
    bad = ["link.json", os.path.relpath(secret, allowed), str(secret), "beside.json"]
    bad += ["no.json", "", "/etc/passwd", "\x00", "-"]
    names = {"main.json": "kueue", "deep/one.json": "kueue", str(YUNIKORN): "yunikorn"}
    got = {one: service.said("pending_workloads", state=one) for one in (*names, *bad)}
    answers = {one: found["scheduler"] for one, (wrong, _, found) in got.items() if not wrong}
    assert answers == names


@pytest.mark.usefixtures("here")
def test_without_a_state_every_call_takes_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = StandIn.make(tmp_path / "bin", cluster()["items"])
    monkeypatch.setenv("PATH", f"{stand_in.folder}{os.pathsep}{os.environ['PATH']}")
    service = serving("--context", "here")
    assert not any("state" in one.input_schema["properties"] for one in service.tools())
    wrong, _, plan = service.said("plan")
    assert not wrong
    assert [one["workload"] for one in plan["victims"]]
    assert service.said("plan", state="x")[0]
    resource = "clusterqueues.kueue.x-k8s.io"
    stand_in.answer(resource, code=1, said=forbidden(resource))
    wrong, text, _ = service.said("plan")
    assert wrong
    assert "forbidden" in text
    assert all("get" in words for words in stand_in.calls())
    assert all("--context=here" in words for words in stand_in.calls())


def test_time_and_size_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, text, _ = serving(QUICKSTART, "--max-size", "1000").said("pending_workloads")
    assert wrong
    assert "larger" in text or "more than" in text
    wrong, text, _ = serving(QUICKSTART, "--memory", "64Mi").said("plan")
    assert wrong
    assert "--memory" in text
    fifo = tmp_path / "never"
    os.mkfifo(fifo)  # whose reader would wait for ever
    stuck = tmp_path / "kubectl"
    stuck.write_text(f"#!/bin/sh\nread x <{fifo}\n")
    stuck.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    wrong, text, _ = serving("--seconds", "1").said("plan")
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


@pytest.mark.parametrize("number", some([signal.SIGTERM, signal.SIGINT], 2))
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


@pytest.mark.usefixtures("here")
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
    assert serving(*words).said("pending_workloads")[0] is False
