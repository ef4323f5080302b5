"""``planner solve --proof FILE``, and how much of the trees a printed plan holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from planner.plan import AnyPlan, Front

MOST_STEPS: Final = 2000
"""Steps of trees that a printed plan holds at most, unless they go to a file of their own."""

proof_option = click.option(
    "--proof",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the proof trees to a file, one step a line, whole or not at all; the plan is then "
    f"printed without them. Without it the JSON has up to {MOST_STEPS:,} steps.",
)
certify_option = click.option(
    "--certify/--no-certify",
    default=None,
    help="Wait for the proof trees that planner check needs, within --time-limit, or search none "
    "and let two engines agree on every level. By default only short trees are searched.",
)


def check_proof(
    proof: Path | None, output: Path | None, *, front: bool, certify: bool | None
) -> None:
    """Refuse what cannot be done with trees: a front has none, and they need a file of their own.

    Raises
    ------
    click.UsageError
        If they are asked for a front, or into no file of their own.
    InputError
        If it cannot be written.
    """
    if front and (proof is not None or certify is not None):
        raise click.UsageError("--certify and --proof are for one plan, not for a front")
    if proof is None:
        return
    from planner.cli.output import STDOUT, check_file

    if proof == STDOUT or (output is not None and proof.resolve() == output.resolve()):
        raise click.UsageError("--proof wants a file of its own, apart from the result")
    check_file("--proof", proof)


def write_proof(plans: Sequence[AnyPlan], proof: Path) -> None:
    """Write the trees of plans to a file, whole or not at all.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    from planner.cli.output import write_file
    from planner.cli.plan_file import proof_text

    write_file("--proof", proof, proof_text(plans))


def printed(plans: Sequence[AnyPlan], proof: Path | None) -> Sequence[AnyPlan]:
    """Return plans with as much of their trees as is printed."""
    return [within(plan, MOST_STEPS if proof is None else 0) for plan in plans]


def printed_fronts(fronts: Sequence[Front]) -> Sequence[Front]:
    """Return fronts whose plans have as much of their trees as is printed."""
    return [_printed_front(front) for front in fronts]


def _printed_front(front: Front) -> Front:
    points = [one.model_copy(update={"plan": within(one.plan)}) for one in front.points]
    one = front.unproved
    left = None if one is None else one.model_copy(update={"plan": within(one.plan)})
    return front.model_copy(update={"points": tuple(points), "unproved": left})


def within(plan: AnyPlan, most: int = MOST_STEPS) -> AnyPlan:
    """Return a plan with trees of at most so many steps; the certificate says what is left out.

    Each tree stays whole, or goes.
    """
    certificate = plan.certificate
    if certificate is None or not certificate.trees:
        return plan
    kept, steps, omitted = [], 0, certificate.trees_omitted
    for tree in certificate.trees:
        if steps + len(tree.steps) <= most:
            kept.append(tree)
            steps += len(tree.steps)
        else:
            omitted += len(tree.steps)
    update = {"trees": tuple(kept), "trees_omitted": omitted}
    return plan.model_copy(update={"certificate": certificate.model_copy(update=update)})
