"""``planner serve``: a page to work in, and plans for other programs, over HTTP."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import Final

import click

from planner.cli import value
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import CommandLine, define
from planner.cli.output import say
from planner.errors import InputError

EXAMPLE: Final = 1
"""The seed of the small cluster that the page offers: Kueue evicts four there, and one would do."""


LEAST_MEMORY: Final = 64 * 2**20
"""Bytes of address space without which no process answers: Python itself takes as much."""


def _memory(text: str) -> int:
    """Read a number of bytes in which a process can answer."""
    found = value.size(text)
    if found < LEAST_MEMORY:
        raise click.BadParameter(f"{text!r} is less than any answer takes: 64Mi or more")
    return found


class WithinBounds(CommandLine):
    """The bounds of each answer to another program."""

    seconds = value.one(
        "--seconds",
        value.Number(1, 3600, of="seconds"),
        "For one request, from its first byte to the answer.",
        default=60,
    )
    max_bytes = value.one(
        "--max-size BYTES", value.size, "How large a dump may be, also unpacked.", "64Mi"
    )
    memory = value.one(
        "--memory BYTES", _memory, "Address space of the process that answers, on Linux.", "4Gi"
    )


class Options(WithinBounds):
    """What `planner serve` is given."""

    state = value.optional_argument("[STATE]")
    listen = value.one(
        "--listen [HOST]:PORT",
        value.address,
        "Where to listen, on loopback unless a host is given.",
        default=":8080",
    )
    allowed = value.several(
        "--allow-host NAME",
        str,
        "A name under which clients reach the service; localhost and addresses are allowed.",
    )
    at_once = value.one(
        "--at-once",
        value.Whole(1, 256),
        "Requests that are answered at once; more are told to come again.",
        default=2,
    )


@define(Options)
def command(given: Options) -> int:
    """Give a page to work in, and answer programs over HTTP: a dump comes in, a plan goes out.

    With STATE, a dump in one file, the page begins with it, as it is now.

      planner serve
      planner serve cluster.json
      planner serve --listen :9000 --seconds 120 --at-once 4
      curl --data-binary @cluster.json 'http://127.0.0.1:8080/v1/plan?pending=team-a/train'

    GET / is a page to work in, GET /openapi.json describes what programs may ask.

    There is no login and no TLS: whoever reaches the port may use the service. It listens on
    loopback unless a host is given.
    """
    from planner import __version__

    try:
        from planner.operations.serve.app import Files, service
        from planner.operations.serve.server import server
    except ModuleNotFoundError as error:
        hint = "pip install 'preemption-planner[operations]', or '.[operations]' in a checkout"
        raise InputError("planner serve", f"{error.name} is not installed", hint=hint) from None
    from planner.operations.serve.answering import Bounds
    from planner.operations.serve.work import Dump, policy, read_files
    from planner.reader.source import load_file
    from planner.research.generate import generate_objects

    host, port = given.listen
    bounds = Bounds(given.max_bytes, given.seconds, given.memory, given.at_once)
    state = None
    if given.state:
        text = load_file(given.state, bounds.max_bytes, "a dump in one file")
        state = Dump(text.where, text.data)
    example = json.dumps(generate_objects("small", EXAMPLE, {})).encode()
    files = Files(read_files(example, state), policy())
    app = service(bounds, __version__, files, {host, *given.allowed})
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        said = error.strerror or str(error)
        raise InputError(f"--listen {host}:{port}", f"cannot listen there: {said}") from None
    with listener:
        host, port = listener.getsockname()[:2]
        say("serve", f"http://{f'[{host}]' if ':' in host else host}:{port}")
        # uvicorn ends what it has begun, and raises the signal once more.
        with suppress(KeyboardInterrupt):
            server(app).run(sockets=[listener])
    return OPTIMAL
