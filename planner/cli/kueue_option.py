"""The options that only Kueue has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

from planner.cli import value
from planner.cli.value import Option
from planner.errors import SchemaError


def rules(text: str) -> str:
    """Check the text of rules to plan by, and return it without options at their defaults."""
    from planner.wing import find_rules

    try:
        return find_rules(text).read(text)
    except SchemaError as error:
        raise click.BadParameter(f"{error.found}: expected {error.expected}") from None


def release(text: str) -> str:
    """Return the name of a known release of Kueue, or the word auto."""
    from planner.state import AUTO
    from planner.state.kueue_release import find_release

    if text == AUTO:
        return text
    try:
        return find_release(text).name
    except ValueError as error:
        raise click.BadParameter(f"{error}; {AUTO} takes the one that STATE tells") from None


EVICTION: Final = 30
"""Seconds that a victim keeps its quota."""
OPTIONS: Final[Mapping[str, Option[Any]]] = {
    "release": value.one(
        "--kueue-release X.Y.Z",
        release,
        "Kueue: the release whose rules hold, such as 0.18.6, or main for the newest that are "
        "known. auto: the one that STATE tells, else the newest.",
        default="auto",
    ),
    "requests": value.one(
        "--requests",
        click.Choice(["template", "recorded"]),
        "Kueue: what pending workloads ask for: what their pods and the Configuration make "
        "(template), or what Kueue itself wrote into their status.resourceRequests "
        "(recorded).",
        default="template",
    ),
    "show_commands": value.flag(
        "--show-commands",
        "Kueue: end each plan with the calls of kubectl that carry it out, for a workload behind "
        "its gate, as `planner apply --dry-run` prints them, or with why there are none.",
    ),
    "joint": value.flag(
        "--joint",
        "Kueue: one plan for all of --pending, or for --all, that admits as many as possible, "
        "served one after another.",
    ),
    "flavors": value.one(
        "--flavors",
        click.Choice(["kueue", "optimal"]),
        "Kueue: who chooses the flavors: its own flavor assignment (kueue, the default), or "
        "the objective, among all that the rules permit (optimal).",
        default="kueue",
        show_default=False,
    ),
    "stability": value.either(
        "stability",
        "Kueue: also say which victims would preempt again once they are pending, and count "
        "them (unstable). By default they are named where up to 300 workloads hold quota.",
    ),
    "stable": value.flag(
        "--stable",
        "Kueue: only plans after which no victim would preempt again once it is pending; 3 if "
        "it is proved that there is none.",
    ),
    "message": value.one(
        "--message TEXT",
        str,
        "Take apart the text of Kueue's event Preempted or PreemptedWorkload, or of the "
        "condition Evicted or Preempted, and name the workloads that STATE knows; - for standard "
        "input.",
    ),
    "workloads": value.several(
        "--workload FILE",
        str,
        "Kueue: preemptors that are not there yet, as manifests in YAML or JSON, instead of "
        "those; may be repeated.",
    ),
    "workload": value.one(
        "--workload FILE",
        str,
        "A workload that is not there yet, as a manifest in YAML or JSON; it is the one to "
        "plan for unless --pending names another.",
    ),
    "eviction": value.one(
        "--eviction SECONDS",
        value.Whole(1, 2**31, of="seconds"),
        "Kueue: how long a victim keeps its quota.",
        default=EVICTION,
    ),
    "apart": value.one(
        "--apart SECONDS",
        value.Whole(0, 2**31, of="seconds"),
        "Kueue: how much longer each victim of a decision takes than the one before.",
        default=0,
    ),
    "queue": value.one(
        "--queue NAMESPACE/NAME",
        str,
        "The LocalQueue that --workload is submitted to, whatever the file says.",
    ),
    "rules": value.one(
        "--rules RULES",
        rules,
        "Kueue: plan by other rules than its own: NAME, or NAME:OPTION=VALUE,...; planner solve "
        "--help lists those that are there.",
    ),
    "assignment": value.file(
        "--assignment",
        "Kueue: JSON object that fixes the flavors, in the form of a plan's assignment; modes may "
        "be left out, for they follow from STATE.",
    ),
}
