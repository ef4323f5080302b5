"""``planner serve``: plans for other programs, over HTTP."""

from __future__ import annotations

import os
import socket
from importlib import import_module
from typing import Any, Final

import click

from planner.cli.exit_code import OPTIMAL
from planner.cli.given import Given, define
from planner.cli.option import address, size
from planner.errors import InputError

SLOW: Final = 8
"""Connections beside those that are answered: to these it is said that they come again."""

EPILOG: Final = """\b
Examples:
  planner serve
  planner serve --listen :9000 --seconds 120 --at-once 4
  curl --data-binary @cluster.json 'http://127.0.0.1:8080/v1/plan?pending=team-a/train'

POST /v1/plan, /v1/explanation and /v1/page take a dump and give an answer; GET /openapi.json
describes them, GET /healthz says that the service is there. Each request is answered by a process
of its own, which is killed when its time is over. Nothing is kept and nothing is written.

There is no login and no TLS: whoever reaches the port may use the service. It listens on loopback
unless a host is given.

"""


@define(
    click.option(
        "--listen",
        metavar="[HOST]:PORT",
        type=address,
        default=":8080",
        show_default=True,
        help="Where to listen, on loopback unless a host is given.",
    ),
    click.option(
        "--seconds",
        type=click.FloatRange(1, 3600),
        default=60,
        show_default=True,
        help="For one request, from its first byte to the answer.",
    ),
    click.option(
        "--at-once",
        type=click.IntRange(1, 256),
        default=2,
        show_default=True,
        help="Requests that are answered at once; more are told to come again.",
    ),
    click.option(
        "--max-size",
        metavar="BYTES",
        type=size,
        default="64Mi",
        show_default=True,
        help="How large a dump may be, also unpacked.",
    ),
    click.option(
        "--memory",
        metavar="BYTES",
        type=size,
        default="4Gi",
        show_default=True,
        help="Address space of the process that answers a request, on Linux.",
    ),
    epilog=EPILOG,
)
def command(given: Given) -> int:
    """Answer other programs over HTTP: they post a dump, and get a plan, its reasons or a page."""
    uvicorn = _library()
    from planner.cli.output import say
    from planner.commands.serve.app import Service
    from planner.commands.serve.record import Bounds

    bounds = given.of("max_bytes=max_size seconds memory at_once")
    service = Service(Bounds(**bounds), description)
    config = uvicorn.Config(
        service,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        limit_concurrency=given.at_once + SLOW,
    )
    with _listening(*given.listen) as listener:
        host, port = listener.getsockname()[:2]
        say("serve", f"http://{f'[{host}]' if ':' in host else host}:{port}")
        uvicorn.Server(config).run(sockets=[listener])
    return OPTIMAL


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(f"--listen {host}:{port}", f"cannot listen there: {said}") from None


def _library() -> Any:  # noqa: ANN401 - a module that may not be there
    try:
        return import_module("uvicorn")
    except ModuleNotFoundError as error:
        hint = "pip install 'preemption-planner[serve]', or '.[serve]' in a checkout"
        raise InputError("planner serve", f"{error.name} is not installed", hint=hint) from None


def description() -> dict[str, Any]:
    """Return what is offered, as OpenAPI."""
    from planner import __version__
    from planner.cli.schemas import SCHEMAS
    from planner.commands.serve.openapi import openapi

    return openapi(__version__, lambda name: SCHEMAS[name].make())
