"""``planner mcp``: answers for agents over the Model Context Protocol, on standard input.

Each call is answered by a process of its own (`kueue_mcp_answer`), which is killed when its time is
over or the client is gone.

Source: Model Context Protocol, revision 2025-11-25, Tools; its Python SDK, version 2.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner.cli import value
from planner.cli.exit_code import INTERRUPTED, OPTIMAL
from planner.cli.option import define
from planner.errors import InputError
from planner.operations.cli.kueue_snapshot import OF_CLUSTER, OfCluster
from planner.operations.cli.serve import WithinBounds

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
    )

AT_ONCE: Final = 2
"""Calls that are answered at once; others wait for their turn, which is part of their time."""
BOUNDED: Final = "planner.operations.serve.child"
CHILD: Final = "planner.operations.cli.kueue_mcp_answer"


class Options(WithinBounds, OfCluster):
    """What `planner mcp` is given."""

    states = value.arguments("[STATE]...")


@define(Options)
def command(given: Options) -> int:
    """Answer agents over the Model Context Protocol, on standard input and output.

      planner mcp cluster.json
      planner mcp dumps/
      planner mcp --context production

    docs/how-to/mcp.md has the tools, and the configuration of a client.
    """
    try:
        anyio = import_module("anyio")
        import_module("mcp.server")
    except ModuleNotFoundError as error:
        hint = "pip install 'preemption-planner[operations]', or '.[operations]' in a checkout"
        raise InputError("planner mcp", f"{error.name} is not installed", hint=hint) from None
    roots = tuple(map(_root, given.states))
    bounds = {name: given.values[name] for name in ("seconds", "max_bytes", "memory")}
    cluster = {name: given.values[name] for name in OF_CLUSTER}
    anyio.run(_Service(roots, bounds, cluster).answer_calls)
    return OPTIMAL


def _root(state: str) -> Path:
    path = Path(state)
    if not (state and path.exists()):
        raise InputError(state, "there is no such file or directory")
    return path.resolve()


async def _end_when_told() -> None:
    """End at once after Ctrl-C or SIGTERM, and with this process those that answer."""
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            # A thread waits for the next line of standard input, and nothing would end that.
            os._exit(INTERRUPTED)


class _Service:
    """The tools, on some files or folders or, without any, on a cluster."""

    def __init__(
        self, roots: tuple[Path, ...], bounds: Mapping[str, Any], cluster: Mapping[str, Any]
    ) -> None:
        import anyio

        self.roots, self.bounds, self.cluster = roots, bounds, cluster
        self.turns = anyio.Semaphore(AT_ONCE)

    async def answer_calls(self) -> None:
        """Answer until standard input ends."""
        import anyio
        from mcp.server import Server
        from mcp.server.stdio import stdio_server

        from planner import __version__

        server: Server[Any] = Server(
            "preemption-planner",
            version=__version__,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )
        async with stdio_server() as (received, sent), anyio.create_task_group() as tasks:
            tasks.start_soon(_end_when_told)
            await server.run(received, sent, server.create_initialization_options())
            tasks.cancel_scope.cancel()

    async def list_tools(
        self, _: ServerRequestContext[Any], __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Describe the tools."""
        from mcp_types import ListToolsResult, Tool, ToolAnnotations

        from planner.operations.cli.kueue_mcp_answer import TOOLS

        only = ToolAnnotations(read_only_hint=True, open_world_hint=not self.roots)
        tools = []
        for name, tool in TOOLS.items():
            schema = tool.model_json_schema()
            if self.roots:
                said = f"What to answer from: {self._which()}. By default the first."
                schema["properties"]["state"]["description"] = said
            else:
                del schema["properties"]["state"]
            said = (
                f"{tool.summary} Structured content: the schema {tool.published!r} of the planner."
            )
            tools.append(Tool(name=name, description=said, input_schema=schema, annotations=only))
        return ListToolsResult(tools=tools)

    def _which(self) -> str:
        return f"one of {', '.join(map(str, self.roots))}, or a file below it"

    async def call_tool(
        self, _: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        """Answer a call; what is wrong with it is said in the result."""
        from mcp_types import CallToolResult, TextContent

        try:
            answer = await self._answer(params.name, params.arguments or {})
        except InputError as error:
            answer = {"error": str(error)}
        wrong = answer.get("error")
        return CallToolResult(
            content=[TextContent(text=wrong or answer["text"])],
            structured_content=answer.get("structured"),
            is_error=wrong is not None,
        )

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        import anyio

        from planner.operations.cli.kueue_mcp_answer import asked

        question = asked(name, arguments)
        state = self._state(question.state)
        request = {"tool": name, "arguments": arguments, "state": state, **self.bounds}
        limits = (os.getpid(), self.bounds["memory"], math.ceil(self.bounds["seconds"]))
        words = [sys.executable, "-P", "-m", BOUNDED, *map(str, limits), CHILD]
        text = json.dumps({**request, "cluster": self.cluster}).encode()
        with anyio.move_on_after(self.bounds["seconds"]):
            async with self.turns:
                done = await anyio.run_process(words, input=text, check=False)
            if done.returncode:
                last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
                said = f"the process that answers ended with {done.returncode}: {last}"
                return {"error": f"{said}\n  --memory or --seconds may be too little for this"}
            answer: dict[str, Any] = json.loads(done.stdout)
            return answer
        return {"error": f"no answer within {self.bounds['seconds']:g} s, which --seconds sets"}

    def _state(self, named: str | None) -> str | None:
        """Return the path to answer from; raises an InputError if it is not among the roots."""
        if not self.roots:
            if named is not None:
                raise InputError("state", "there is none to choose: the cluster itself is read")
            return None
        if named is None:
            return str(self.roots[0])
        for root in self.roots:
            path = ((root if root.is_dir() else root.parent) / named).resolve()
            if (path == root or root in path.parents) and path.exists():
                return str(path)
        raise InputError("state", f"{named!r} is not there, or may not be read", self._which())
