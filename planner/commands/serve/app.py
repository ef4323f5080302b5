"""The service as an ASGI application: a few paths, bounds on each request, and no state.

First come the endpoints with their options and bounds, and their description as OpenAPI 3.1, in
which options and answers have the schemas of their classes.

Each answer is made in a process of its own, which can be ended at any time and leaves nothing.

Source: the ASGI specification, version 3, HTTP.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from planner.errors import AT_MOST, KIND, TELL_KIND

FOR_THE_PLAN: Final = 0.8
"""The share of the seconds that the plan itself may take: reading and writing take some, too."""
MOST_EDITS: Final = 100
_TEXT: Final = r"^[^\x00-\x1f]+$"
_NAME: Final = Field(default=None, pattern=_TEXT, max_length=600)
Edit = Annotated[str, Field(pattern=_TEXT, max_length=1200)]
"""An edit of a state, as `planner whatif --set` takes it."""


class Bounds(NamedTuple):
    """What one request may take, and how many are answered at once.

    ``max_bytes`` limits a dump, both as it is sent and unpacked; ``seconds`` go from the first
    byte of the request to its answer; ``memory`` is bytes of address space of the process that
    answers, where the system can limit it. Requests beyond ``at_once`` are refused, and told to
    come again.
    """

    max_bytes: int
    seconds: float
    memory: int
    at_once: int


class Asked(BaseModel):
    """The query of a request. It cannot name a file, and nothing is read from any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    now: str | None = Field(default=None, pattern="^[0-9TZtz.:+-]+$", max_length=40)

    def words(self) -> list[str]:
        """Return the fields as options, each in one word, so that no value passes for an option."""
        given = self.model_dump(exclude_none=True)
        return [
            f"--{name}={one}"
            for name, value in given.items()
            for one in (value if isinstance(value, tuple) else (value,))
        ]


class AskedWho(Asked):
    """As `Asked`, and for whom to plan, under which objective."""

    pending: str | None = _NAME
    objective: str = Field(default="no-regret", pattern="^[a-z-]+$", max_length=60)


class AskedWhy(AskedWho):
    """As `AskedWho`, and the workload or allocation that the question is about."""

    victim: str | None = _NAME


class AskedWhatIf(AskedWho):
    """As `AskedWho`, and edits of the state; ``set`` stands in the query once for each edit."""

    set: tuple[Edit, ...] = Field(min_length=1, max_length=MOST_EDITS)


class Endpoint(NamedTuple):
    """One path of the service; ``summary`` says what it answers.

    ``words`` are the command line that makes the answer, without options of a request. ``kind``
    is the type of the content, ``asked`` what may stand in the query, ``schema`` the published
    schema of the answer, empty if it is no JSON. ``plans`` is how many share a request's time.
    """

    summary: str
    words: tuple[str, ...]
    kind: str
    asked: type[Asked] = AskedWho
    schema: str = ""
    plans: int = 1


JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"
ENDPOINTS: Final = {
    "/v1/settings": Endpoint(
        "Who is pending, which objectives there are, and what can be set.",
        ("whatif", "-", "--list", "--format=json"),
        JSON,
        Asked,
        "settings",
    ),
    "/v1/plan": Endpoint(
        "Whom to evict so that a pending workload can start, with the proof.",
        ("solve", "-", "--format=json"),
        JSON,
        schema="plan",
    ),
    "/v1/explanation": Endpoint(
        "Why these victims, why not another one, or why none.",
        ("explain", "-", "--format=json"),
        JSON,
        AskedWhy,
        "explanation",
    ),
    "/v1/whatif": Endpoint(
        "What edits of the state change: who is a victim no longer, and who is newly.",
        ("whatif", "-", "--format=json"),
        JSON,
        AskedWhatIf,
        "whatif",
        plans=2,
    ),
    "/v1/page": Endpoint(
        "The plan as one page that needs nothing from elsewhere.",
        ("solve", "-", "--format=html"),
        HTML,
    ),
    "/v1/page/explanation": Endpoint(
        "The explanation as such a page.", ("explain", "-", "--format=html"), HTML, AskedWhy
    ),
    "/v1/page/whatif": Endpoint(
        "What edits change as such a page.",
        ("whatif", "-", "--format=html"),
        HTML,
        AskedWhatIf,
        plans=2,
    ),
}
"""What each path answers to POST."""


Json = dict[str, Any]
EXIT_CODE: Final = "Planner-Exit-Code"
"""The header that says how good an answer is, as the exit code of the command line does."""
STATUSES: Final = {
    400: "An option that there is not, or a value that it cannot have.",
    408: "The dump did not arrive, or the answer was not there, in time.",
    413: "The dump is too large, as it is sent or unpacked.",
    422: "The dump cannot be used, or no such workload is in it.",
    500: "A fault of the planner, or the answer takes more memory than it may.",
    503: "As many are answered as may be at once.",
}
"""What may go wrong, by HTTP status; the answer says in words under ``error`` what did."""


def openapi(version: str, schema_of: Callable[[str], Json]) -> Json:
    """Return the description of the service; ``schema_of`` makes a published schema by name."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Preemption planner", "version": version},
        "paths": {path: {"post": _operation(one)} for path, one in ENDPOINTS.items()},
        "components": {
            "schemas": {
                # With an ``$id`` of its own, its references are looked up within it.
                one.schema: {"$id": f"{one.schema}.schema.json", **schema_of(one.schema)}
                for one in ENDPOINTS.values()
                if one.schema
            }
        },
    }


def _operation(endpoint: Endpoint) -> Json:
    said = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    reference = f"#/components/schemas/{endpoint.schema}"
    shown: Json = {"schema": {"$ref": reference}} if endpoint.schema else {}
    code = {"description": "0 is proved optimal", "schema": {"type": "integer"}}
    return {
        "summary": endpoint.summary,
        "parameters": [
            {"name": name, "in": "query", "schema": schema}
            for name, schema in endpoint.asked.model_json_schema()["properties"].items()
        ],
        "requestBody": {
            "description": "The dump of a cluster: JSON, YAML, or either with gzip.",
            "required": True,
            "content": {"application/octet-stream": {}},
        },
        "responses": {
            "200": {
                "description": endpoint.summary,
                "headers": {EXIT_CODE: code},
                "content": {endpoint.kind.partition(";")[0]: shown},
            },
            **{
                str(status): {"description": words, "content": {JSON: {"schema": said}}}
                for status, words in STATUSES.items()
            },
        },
    }


PROGRAM: Final = "planner"
OURS: Final = "PLANNER_"
"""The prefix of environment variables that set options: a request does not inherit them."""


class Ended(NamedTuple):
    """How a process ended: its exit code, its standard output, and the text of standard error.

    ``kind`` is that of the error, where there was one.
    """

    code: int
    output: bytes
    said: str
    kind: str = ""


async def answer(words: Sequence[str], dump: bytes, bounds: Bounds, plans: int) -> Ended:
    """Run the command line on a dump, until it ends or this coroutine is cancelled.

    ``words`` are all but the limits, which are those of the bounds; ``plans`` share the time.
    """
    seconds = bounds.seconds * FOR_THE_PLAN / plans
    limits = (f"--time-limit={seconds}", f"--max-size={bounds.max_bytes}")
    process = await asyncio.create_subprocess_exec(
        # -P: whatever lies in the folder in which the service was started is not imported.
        *(sys.executable, "-P", "-m", PROGRAM, *words, *limits),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith(OURS)},
            TELL_KIND: "1",
        },
        start_new_session=True,
    )
    try:
        if sys.platform == "linux":  # no other system limits a process from outside
            with suppress(ProcessLookupError):
                limit = (bounds.memory, bounds.memory)
                resource.prlimit(process.pid, resource.RLIMIT_AS, limit)
        output, said = await process.communicate(dump)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    message, kind, last = said.decode(errors="replace").rstrip("\n").rpartition(f"\n{KIND}")
    return Ended(process.returncode or 0, output, message if kind else last, last if kind else "")


Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
POLICY: Final = "Content-Security-Policy"
HEALTH: Final = "/healthz"
DESCRIPTION: Final = "/openapi.json"
_ANSWERS: Final = frozenset({0, 3, 4, 5, 6})
"""Exit codes of the commands asked that are answers; Python itself ends with 1."""
_BAD_INPUT: Final = 2
_STATUS_OF: Final = {"input": 422, "option": 400, "too large": 413, "memory": 500}
"""The status of bad input by the kind of the error."""
EDITS: Final = "set"
"""The one option that may stand in a query several times."""
_CLOSED: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; img-src data:"),
)
"""Headers of every answer that has no others: no cache keeps it, and a page loads nothing."""


class Reply(NamedTuple):
    """An HTTP answer."""

    status: int
    data: bytes
    kind: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


class Refused(Exception):  # noqa: N818 - reads as a statement where it is raised
    """A request that gets no answer; says with which status, and why."""

    def __init__(self, status: int, why: str, *headers: tuple[str, str]) -> None:
        super().__init__(status, why, *headers)
        data = json.dumps({"error": why}).encode()
        self.reply = Reply(status, data, headers=headers)


class Files(NamedTuple):
    """The work page: contents and types of its files by path, and its content security policy."""

    contents: Mapping[str, tuple[bytes, str]]
    policy: str


NO_FILES: Final = Files({}, "")


class Service:
    """The service; ``description`` makes its OpenAPI when somebody asks for it."""

    def __init__(
        self, bounds: Bounds, description: Callable[[], Any], files: Files = NO_FILES
    ) -> None:
        self._bounds, self._description, self._files = bounds, description, files
        self._slots = asyncio.Semaphore(bounds.at_once)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, as an ASGI server asks for it."""
        try:
            reply = await self._reply(scope, receive)
        except Refused as refused:
            reply = refused.reply
        own = ((name.lower().encode(), value.encode()) for name, value in reply.headers)
        headers = {b"content-type": reply.kind.encode(), **dict(_CLOSED), **dict(own)}
        headers[b"content-length"] = str(len(reply.data)).encode()
        begin = {"type": "http.response.start", "status": reply.status}
        await send({**begin, "headers": [*headers.items()]})
        await send({"type": "http.response.body", "body": reply.data})

    async def _reply(self, scope: Message, receive: Receive) -> Reply:
        path, method = scope["path"], scope["method"]
        if path not in {*ENDPOINTS, *self._files.contents, HEALTH, DESCRIPTION}:
            raise Refused(404, f"there is nothing here; GET {DESCRIPTION} says what there is")
        allowed = "POST" if path in ENDPOINTS else "GET"
        if method != allowed:
            raise Refused(405, f"{path} takes {allowed}", ("Allow", allowed))
        if path in ENDPOINTS:
            return await self._answer(ENDPOINTS[path], scope, receive)
        if path in self._files.contents:
            data, kind = self._files.contents[path]
            return Reply(200, data, kind, ((POLICY, self._files.policy),))
        value = {"status": "ok"} if path == HEALTH else self._description()
        return Reply(200, json.dumps(value).encode())

    async def _answer(self, endpoint: Endpoint, scope: Message, receive: Receive) -> Reply:
        bounds = self._bounds
        words = [*endpoint.words, *_asked(endpoint, scope)]
        if self._slots.locked():
            raise Refused(503, f"{bounds.at_once} are answered already", ("Retry-After", "5"))
        try:
            async with self._slots, asyncio.timeout(bounds.seconds):
                dump = await _body(scope, receive, bounds.max_bytes)
                answering = answer(words, dump, bounds, endpoint.plans)
                ended = await _while_waited_for(answering, receive)
        except TimeoutError:
            raise Refused(408, f"there was no answer within {bounds.seconds:g} s") from None
        if ended.code in _ANSWERS:
            return Reply(200, ended.output, endpoint.kind, ((EXIT_CODE, str(ended.code)),))
        status = _STATUS_OF.get(ended.kind, 500) if ended.code == _BAD_INPUT else 500
        why = ended.said.strip().removeprefix("error: ")
        raise Refused(status, why or f"the process ended with {ended.code}")


def _asked(endpoint: Endpoint, scope: Message) -> list[str]:
    try:
        pairs = parse_qsl(
            scope["query_string"].decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=len(endpoint.asked.model_fields) + MOST_EDITS,
        )
        edits = [value for name, value in pairs if name == EDITS]
        others = [pair for pair in pairs if pair[0] != EDITS]
        given: dict[str, Any] = dict(others)
        if len(given) < len(others):
            raise Refused(400, "an option stands twice")
        if edits:
            given[EDITS] = edits
        return endpoint.asked.model_validate(given).words()
    except ValidationError as error:
        first = error.errors()[0]
        named = ".".join(map(str, first["loc"]))
        raise Refused(400, f"{named}: {first['msg']}") from None
    except ValueError as error:  # no UTF-8, or more fields than there are
        raise Refused(400, f"the query cannot be read: {error}") from None


async def _body(scope: Message, receive: Receive, max_bytes: int) -> bytes:
    """Return the body of a request, unless it is too large."""
    refused = Refused(413, f"more than the {max_bytes} bytes {AT_MOST}")
    promised = dict(scope["headers"]).get(b"content-length", b"")
    if promised.isdigit() and int(promised[:20]) > max_bytes:
        raise refused
    data = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the dump broke off")
        data += message.get("body", b"")
        more = message.get("more_body", False)
        if len(data) > max_bytes:
            raise refused
    return bytes(data)


async def _while_waited_for(answering: Coroutine[Any, Any, Ended], receive: Receive) -> Ended:
    """Return an answer, unless the client disconnects before: then the work on it is cancelled."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    work, going = asyncio.create_task(answering), asyncio.create_task(gone())
    try:
        await asyncio.wait({work, going}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise Refused(400, "nobody waits for the answer any more")
        return await work
    finally:
        for task in (work, going):
            task.cancel()
        await asyncio.wait({work, going})
