"""``planner snapshot --yunikorn``: the state of YuniKorn, from the REST service of its core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from planner.cli import option, value
from planner.cli.output import say, warn

if TYPE_CHECKING:
    from planner.operations.rest.yunikorn_dump import Dump

OF_KUBECTL: Final = (
    *("context", "kubeconfig", "impersonated", "request_timeout"),
    *("namespace", "configuration", "without"),
)
"""Parameters that say how kubectl is called, and what it is asked for."""

yunikorn_option = value.one(
    "--yunikorn URL",
    str,
    "Ask the REST service of YuniKorn's core at this URL, such as http://localhost:9080, "
    "instead of kubectl; nothing else is asked, no proxy and no redirect.",
)


def dump_over_rest(url: str, timeout_s: float | None, max_bytes: int) -> Dump:
    """Ask the service at a URL, within bounds; warn of what is missing, and say what there is.

    Raises a UsageError if an option is for kubectl, an InputError if the service gives no state.
    """
    from planner.operations.rest.call import Service
    from planner.operations.rest.yunikorn_dump import OPEN, take_dump
    from planner.stage import begin

    for one in option.written(OF_KUBECTL):
        raise click.UsageError(f"{one.opts[-1]} is for kubectl, and goes not with --yunikorn")
    service = Service(
        url, option="--yunikorn", opened_by=OPEN, timeout_s=timeout_s, max_bytes=max_bytes
    )
    begin(f"reading {service.url}")
    dump = take_dump(service)
    warn(dump.notes)
    say("snapshot", ", ".join(f"{name} {count}" for name, count in dump.counts.items()))
    return dump
