"""``planner solve --joint``: one plan for several pending workloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from planner.cli.exit_code import BAD_INPUT, exit_code, worst
from planner.cli.option import front_measures

if TYPE_CHECKING:
    from planner.cli.output import Target
    from planner.state import AnyState


def only_one(pending: Sequence[str], *, joint: bool) -> str | None:
    """Return the pending workload that is named, if one is; several are for --joint.

    Raises
    ------
    click.UsageError
        If several are named without it.
    """
    if len(pending) > 1 and not joint:
        raise click.UsageError("several --pending are planned for together: add --joint")
    return pending[0] if pending else None


def refuse_for_joint(
    pending: Sequence[str],
    profile: str,
    flavors: str,
    others: Mapping[str, object],
    *,
    each: bool,
) -> None:
    """Refuse what a joint plan does not answer; ``others`` are options that go not with it.

    Raises
    ------
    click.UsageError
        If nobody is named, or an option goes not with --joint.
    """
    if not pending and not each:
        raise click.UsageError("--joint wants to know for whom: --pending, repeated, or --all")
    if front_measures(profile) is not None:
        raise click.UsageError("a front is drawn for one workload, not with --joint")
    given = [name for name, value in others.items() if value]
    given += ["--flavors optimal"] * (flavors != "kueue")
    if given:
        raise click.UsageError(f"{given[0]} goes not with --joint")


def plan_together(
    state: AnyState,
    target: Target,
    pending: Sequence[str] | None,
    **question: Any,  # noqa: ANN401
) -> int:
    """Plan for several pending workloads at once and print; return the exit code.

    Parameters are as for ``planner.solve_joint``.
    """
    from planner.cli.message import say, warn
    from planner.joint import solve_joint
    from planner.report.kueue.joint import render

    plan = solve_joint(state, pending, **question)
    warn(plan.notes)
    for one in plan.skipped:
        say("error", f"{one.workload}: {one.explanation}")
    target.emit(render(plan, target.style, width=target.width, color=target.color))
    return worst([exit_code(plan), *([BAD_INPUT] if plan.skipped else [])])
