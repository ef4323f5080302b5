"""The service: a few paths, bounds on each request, and no state.

FastAPI routes, reads the query, and describes all of it as OpenAPI. Answers are the bytes that the
command line prints (`answering`), and have the schemas of its records.

Whatever page the same browser shows may send requests, too, or have its own name lead to this
address: `Guard` lets nothing in that another site began.
"""

import asyncio
import re
from collections.abc import Collection, Coroutine, Mapping
from ipaddress import ip_address
from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException as Failed
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner.commands.explain.record import CommonExplanation
from planner.commands.whatif.edit import Settings, WhatIf
from planner.errors import AT_MOST
from planner.operations.serve.answering import Bounds, Ended, run_command
from planner.operations.serve.asked import MOST_EDITS, Bounded, Edit, Who, Why
from planner.plan import AnyPlan
from planner.reader.source import STDIN


class Asked(Bounded):
    """The query of a request. It cannot name a file, and nothing is read from any."""

    now: str | None = Field(default=None, pattern="^[0-9TZtz.:+-]+$", max_length=40)

    def words(self) -> list[str]:
        """Return the fields as options, each in one word, so that no value passes for an option."""
        given = self.model_dump(exclude_none=True)
        return [
            f"--{name}={one}"
            for name, value in given.items()
            for one in (value if isinstance(value, list) else [value])
        ]


class AskedWho(Asked, Who):
    """As `Asked`, and for whom to plan, under which objective."""


class AskedWhy(Asked, Why):
    """As `AskedWho`, and the workload or allocation that the question is about."""


class AskedWhatIf(AskedWho):
    """As `AskedWho`, and edits of the state; ``set`` stands in the query once for each edit."""

    set: list[Edit] = Field(min_length=1, max_length=MOST_EDITS)


class Failure(BaseModel):
    """Why there is no answer."""

    error: str


class Health(BaseModel):
    """That the service is there."""

    status: Literal["ok"] = "ok"


class Files(NamedTuple):
    """The work page: contents and types of its files by path, and its content security policy."""

    contents: Mapping[str, tuple[bytes, str]]
    policy: str


NO_FILES: Final = Files({}, "")
HTML: Final = "text/html; charset=utf-8"
JSON: Final = "application/json"
EXIT_CODE: Final = "Planner-Exit-Code"
"""The header that says how good an answer is, as the exit code of the command line does."""
STATUSES: Final = {
    400: "An option that there is not, or a value that it cannot have.",
    403: "Another site began the request, or it asks for a host that this is not.",
    408: "The dump did not arrive, or the answer was not there, in time.",
    413: "The dump is too large, as it is sent or unpacked.",
    422: "The dump cannot be used, or no such workload is in it.",
    500: "A fault of the planner, or the answer takes more memory than it may.",
    503: "As many are answered as may be at once.",
}
"""What may go wrong, by HTTP status."""
_SAID: Final = {
    404: "there is nothing here; GET /openapi.json says what there is",
    405: "this path does not take that method",
}
"""What the framework says in a word."""
_ANSWERS: Final = frozenset({0, 3, 4, 5, 6})
"""Exit codes of the commands asked that are answers; Python itself ends with 1."""
_BAD_INPUT: Final = 2
_STATUS_OF: Final = {"input": 422, "option": 400, "too large": 413, "memory": 500}
"""The status of bad input by the kind of the error."""
READ_AT_ONCE: Final = 4
"""How many dumps are read for each that is answered: they take no place of an answer."""
SECONDS_TO_SEND: Final = 10
"""How long a dump may take, besides what it takes at the slowest."""
SLOWEST: Final = 2**16
"""Bytes a second at which a dump has to come."""
PORT: Final = re.compile(r":[0-9]+$")
_STRING: Final = {"type": "string"}
_CLOSED: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
}
"""Headers of every answer that has no others: no cache keeps it, and a page loads nothing."""


def service(
    bounds: Bounds, version: str, files: Files = NO_FILES, hosts: Collection[str] = ()
) -> FastAPI:
    """Return the service as an ASGI application.

    ``hosts`` are names under which clients reach it, besides localhost and any address.
    """
    # No pages about the description: they would load scripts from elsewhere.
    app = FastAPI(
        title="Preemption planner",
        version=version,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(Guard, hosts=hosts)
    for kind in (RequestValidationError, Failed, Exception):
        app.add_exception_handler(kind, _failed)
    _add_endpoints(app, Answering(bounds))
    for path, (data, media) in files.contents.items():
        headers = {"Content-Security-Policy": files.policy, "Content-Type": media}
        app.router.routes.append(Route(path, Response(data, headers=headers), methods=["GET"]))

    @app.get("/healthz", summary="Say that the service is there.", operation_id="health")
    async def health() -> Health:
        return Health()

    return app


def _add_endpoints(app: FastAPI, answering: "Answering") -> None:
    """Add what is asked by POST: each is a command line, without the options of a request."""

    @app.post("/v1/settings", **_described("settings", Settings))
    async def settings(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        """Say who is pending, which objectives there are, and what can be set."""
        return await answering.to(request, asked, "whatif", "--list", "--format=json")

    @app.post("/v1/plan", **_described("plan", AnyPlan))
    async def plan(request: Request, asked: Annotated[AskedWho, Query()]) -> Response:
        """Plan whom to evict so that a pending workload can start, with the proof."""
        return await answering.to(request, asked, "solve", "--format=json")

    @app.post("/v1/explanation", **_described("explanation", CommonExplanation))
    async def explanation(request: Request, asked: Annotated[AskedWhy, Query()]) -> Response:
        """Say why these victims, why not another one, or why none."""
        return await answering.to(request, asked, "explain", "--format=json")

    @app.post("/v1/whatif", **_described("whatif", WhatIf))
    async def whatif(request: Request, asked: Annotated[AskedWhatIf, Query()]) -> Response:
        """Say what edits of the state change: who is a victim no longer, and who is newly."""
        return await answering.to(request, asked, "whatif", "--format=json", plans=2)

    @app.post("/v1/page", **_described("plan_page"))
    async def plan_page(request: Request, asked: Annotated[AskedWho, Query()]) -> Response:
        """Show the plan as one page that needs nothing from elsewhere."""
        return await answering.to(request, asked, "solve", "--format=html")

    @app.post("/v1/page/explanation", **_described("explanation_page"))
    async def explanation_page(request: Request, asked: Annotated[AskedWhy, Query()]) -> Response:
        """Show the explanation as such a page."""
        return await answering.to(request, asked, "explain", "--format=html")

    @app.post("/v1/page/whatif", **_described("whatif_page"))
    async def whatif_page(request: Request, asked: Annotated[AskedWhatIf, Query()]) -> Response:
        """Show what edits change as such a page."""
        return await answering.to(request, asked, "whatif", "--format=html", plans=2)


def _described(name: str, record: object = None) -> dict[str, Any]:
    """Return what OpenAPI says of an operation; its answer is a record, or else a page."""
    code = {"description": "0 is proved optimal", "schema": {"type": "integer"}}
    shown = {"model": record} if record else {"content": {"text/html": {"schema": _STRING}}}
    body = {
        "description": "The dump of a cluster: JSON, YAML, or either with gzip.",
        "required": True,
        "content": {"application/octet-stream": {"schema": {**_STRING, "format": "binary"}}},
    }
    failures = {status: {"model": Failure, "description": of} for status, of in STATUSES.items()}
    return {
        "operation_id": name,
        "response_class": Response,
        "responses": {200: {"headers": {EXIT_CODE: code}, **shown}, **failures},
        "openapi_extra": {"requestBody": body},
    }


class Answering:
    """What answers the requests of a service, as many at once as its bounds permit."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._slots = asyncio.Semaphore(bounds.at_once)
        self._reading = asyncio.Semaphore(READ_AT_ONCE * bounds.at_once)

    async def to(self, request: Request, asked: Asked, *words: str, plans: int = 1) -> Response:
        """Answer a request with what a command prints; ``plans`` share its time."""
        bounds = self._bounds
        names = [name for name, _ in request.query_params.multi_items() if name != "set"]
        if len(names) > len(set(names)):
            raise HTTPException(400, "an option stands twice")
        command, *options = words
        whole = [command, "-", *options, *asked.words()]
        try:
            async with asyncio.timeout(bounds.seconds):
                self._refuse_if_busy()
                async with self._reading:
                    dump = await _body(request, bounds.max_bytes)
                self._refuse_if_busy()
                async with self._slots:
                    ended = await _while_waited_for(
                        run_command(whole, dump, bounds, plans), request
                    )
        except TimeoutError:
            said = f"there was no answer within {bounds.seconds:g} s"
            raise HTTPException(408, said) from None
        if ended.code in _ANSWERS:
            kind = JSON if "--format=json" in options else HTML
            headers = {EXIT_CODE: str(ended.code), "Content-Type": kind}
            return Response(ended.output, headers=headers)
        status = _STATUS_OF.get(ended.kind, 500) if ended.code == _BAD_INPUT else 500
        raise HTTPException(status, _in_words(ended.said) or f"the process ended with {ended.code}")

    def _refuse_if_busy(self) -> None:
        if self._slots.locked():
            said = f"{self._bounds.at_once} are answered already"
            raise HTTPException(503, said, {"Retry-After": "5"})


_STDIN: Final = re.compile(rf"(?:\A|(?<= at )){STDIN}: ")
"""How the place of an error begins."""


def _in_words(said: str) -> str:
    """Return what the command line says of an error, in the words of a request.

    The dump is what was sent, and there are no hints about options of the command line.
    """
    lines = _STDIN.sub("the dump: ", said.strip().removeprefix("error: ")).splitlines()
    return "\n".join(one for one in lines if not (one.startswith("  hint: ") and " --" in one))


async def _body(request: Request, max_bytes: int) -> bytes:
    """Return the body of a request, unless it is too large, or sent too slowly."""
    refused = HTTPException(413, f"more than the {max_bytes} bytes {AT_MOST}")
    promised = request.headers.get("content-length", "")
    if promised.isdigit() and int(promised[:20]) > max_bytes:
        raise refused
    data, begun = bytearray(), asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(SECONDS_TO_SEND) as limit:
            async for piece in request.stream():
                data += piece
                if len(data) > max_bytes:
                    raise refused
                limit.reschedule(begun + SECONDS_TO_SEND + len(data) / SLOWEST)
    except ClientDisconnect:
        raise HTTPException(400, "the dump broke off") from None
    except TimeoutError:
        raise HTTPException(408, "the dump comes too slowly") from None
    return bytes(data)


async def _while_waited_for(answering: Coroutine[Any, Any, Ended], request: Request) -> Ended:
    """Return an answer, unless the client disconnects before: then the work on it is cancelled."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    work, going = asyncio.create_task(answering), asyncio.create_task(gone())
    try:
        await asyncio.wait({work, going}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise HTTPException(400, "nobody waits for the answer any more")
        return await work
    finally:
        for task in (work, going):
            task.cancel()
        await asyncio.wait({work, going})


def _failure(status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": why}, status, headers)


async def _failed(_: Request, error: Exception) -> Response:
    """Say what went wrong, whatever it was, in one form."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return _failure(400, f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}")
    if not isinstance(error, Failed):
        return _failure(500, f"a fault of the planner: {type(error).__name__}")
    said = _SAID.get(error.status_code, error.detail)
    return _failure(error.status_code, said, error.headers)


class Guard:
    """Refuses what another site began, and closes answers to caches, frames and scripts.

    A browser says in Origin which site began a request, and in Host which name led it here. A name
    that is not this service's can be anybody's that leads to this address (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app, self._hosts = app, {"localhost", *(host.lower() for host in hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http":  # there are no WebSockets, and nothing to do at the start
            await self._app(scope, receive, send)
            return

        async def closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _CLOSED.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        app = self._app
        if why := self._why_not(headers):
            app = _failure(403, why)
        elif headers.get("upgrade", "").lower() == "websocket":
            app = _failure(426, "there are no WebSockets here")
        await app(scope, receive, closed)

    def _why_not(self, headers: Headers) -> str:
        host, origin = headers.get("host", ""), headers.get("origin")
        name = host.rpartition(":")[0] if PORT.search(host) else host
        name = name.lower().strip("[]")
        if name not in self._hosts and not _is_address(name):
            return f"{host!r} is not a host of this service: start it with --allow-host"
        if origin is not None and origin.partition("://")[2] != host:
            return f"the request comes from another site, {origin!r}"
        return ""


def _is_address(name: str) -> bool:
    try:
        return bool(ip_address(name))
    except ValueError:
        return False
