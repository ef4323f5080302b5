"""Run many inputs by hand: ``python -m tests.fuzz --inputs 100000 --seed 7``."""

import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import click

import planner
from tests.fuzz.campaign import Tally, campaign
from tests.fuzz.prepare import prepared
from tests.fuzz.seeds import stock

PROGRESS = 1000
"""Inputs after which a line says how far it is."""


@click.command()
@click.option("--inputs", type=click.IntRange(min=1), default=1000, help="How many inputs.")
@click.option("--first", type=int, default=0, help="The number of the first one.")
@click.option("--only", type=int, multiple=True, help="Only the input of this number.")
@click.option("--seed", type=int, default=0, help="Which inputs: another seed makes others.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    default=Path("fuzz-failed"),
    help="The folder for inputs that fail.",
)
def main(*, inputs: int, first: int, only: tuple[int, ...], seed: int, keep: Path) -> None:
    """Run inputs and say what they ended with; exit with 1 if one of them fails."""
    # All that a command may load is loaded once, before there are processes.
    for module in walk_packages(planner.__path__, "planner."):
        import_module(module.name)
    numbers = only or range(first, first + inputs)
    tally = Tally()
    try:
        for tally in campaign(numbers, seed, prepared(stock()), keep):
            if tally.total % PROGRESS == 0:
                click.echo(f"{tally.total} inputs, {len(tally.failed)} failed", err=True)
    except KeyboardInterrupt:
        click.echo("stopped")
    click.echo(tally.table())
    for report, folder in tally.failed:
        said = "; ".join(report.faults)
        click.echo(f"\ninput {report.number} of seed {seed}: {folder}\n  {said}")
    click.echo(f"\n{tally.total} inputs, {len(tally.failed)} failed")
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    main()
