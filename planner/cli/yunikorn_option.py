"""The options that only YuniKorn has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

from planner.cli import value
from planner.cli.value import Option


def release(text: str) -> str:
    """Return the name of a release of YuniKorn whose rules are known."""
    from planner.state.yunikorn_release import is_known

    if is_known(text):
        return text
    raise click.BadParameter(f"{text} is no release from 1.6 on, such as 1.8.0")


OPTIONS: Final[Mapping[str, Option[Any]]] = {
    "core_release": value.one(
        "--yunikorn-release X.Y.Z",
        release,
        "YuniKorn: the release whose rules hold, such as 1.8.0. By default the one that STATE "
        "tells, else the newest that is known.",
    ),
    "quota": value.one(
        "--quota QUEUE",
        str,
        "YuniKorn: a queue that uses more than its max, in the place of an ask: whom to preempt so "
        "that it comes down to its max and every queue keeps its guaranteed.",
    ),
    "laws": value.one(
        "--laws",
        click.Choice(["design", "written", "code"]),
        "YuniKorn: the side to take where its written laws and its code differ; by default "
        "design. Of law 4 that takes the core's reading, written the words.",
    ),
}
