"""``planner lint``: what a configuration makes possible, impossible or pointless."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.cli import option, value
from planner.cli.exit_code import FINDINGS, OPTIMAL
from planner.cli.option import define
from planner.cli.output import warn, write_file
from planner.errors import InputError, SchemaError

if TYPE_CHECKING:
    from planner.operations.lint import Lint

SEVERITIES: Final = ("error", "warning", "note")
"""The severities of findings, from the worst to the least."""
SARIF: Final = "sarif"


class Options(option.Saved):
    """What `planner lint` is given."""

    state = option.OfState.state
    examples = value.one(
        "--examples FOLDER",
        click.Path(path_type=Path, file_okay=False),
        "Write the example of each finding to a file of this folder, which is made if need be.",
    )
    fatal = value.one(
        "--fail-on",
        click.Choice([*SEVERITIES, option.NEVER]),
        "End with exit code 1 from this severity on.",
        default=SEVERITIES[-1],
    )
    ignore = value.several(
        "--ignore CODE", str, "A code whose findings do not count; may be given several times."
    )
    baseline = value.file(
        "--baseline", "The JSON of an earlier run: findings that it has do not count again."
    )
    release = option.Dumps.release
    core_release = option.core_release
    max_bytes = option.Sized.max_bytes
    style = option.style(
        (*option.PAGE_FORMATS, SARIF),
        " html is one page that needs nothing from elsewhere, markdown goes into tickets, and "
        "sarif is SARIF 2.1.0, which code hosts show beside the lines of a change.",
    )


@define(Options)
def command(given: Options) -> int:
    """Find what a configuration makes possible, impossible or pointless in preemption.

    STATE is the same as for solve. Policies, limits, weights and thresholds of Kueue's queues,
    or guarantees, fences and properties of YuniKorn's, are looked at; what runs only says which
    priorities there are. Nothing in the cluster changes.

      planner lint cluster.json
      planner lint cluster.json --fail-on warning
      planner lint cluster.json -o findings.json
      planner lint cluster.json --examples examples/
      planner lint quota/ --ignore KL-16 --baseline accepted.json
      planner lint quota/ -o findings.sarif

    docs/how-to/lint.md leads to the page that says what each code means, and what helps. The exit
    code is 1 if something is found that --fail-on names, else 0.
    """
    from planner.operations.lint import lint
    from planner.operations.report.lint import render_lint

    baseline = _baseline(given)
    # No finding depends on the clock, and manifests without a status hold no time at all.
    answer = lint(given.read(now="2026-01-01T12:00:00Z"), given.ignore, baseline)
    if given.examples is not None:
        from planner.operations.lint.lint import files_of

        try:
            given.examples.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--examples {given.examples}", error.strerror or str(error)) from None
        for name, text in files_of(answer.findings):
            write_file("--examples", given.examples / name, text.encode("ascii"))
    warn(answer.notes)
    if given.target.style == SARIF:
        given.target.emit(_sarif(given, answer))
    else:
        given.show(render_lint, answer)
    counted = () if given.fatal == option.NEVER else SEVERITIES[: SEVERITIES.index(given.fatal) + 1]
    return FINDINGS if any(one.severity in counted for one in answer.findings) else OPTIMAL


def _baseline(given: Options) -> Lint | None:
    """Return the findings of an earlier run, if a file of them is given."""
    from planner.operations.lint import Lint
    from planner.reader.complaint import checked

    value, subject = given.read_file("baseline"), "the baseline"
    try:
        return None if value is None else checked(Lint, value, str(given.baseline), (), subject)
    except SchemaError as error:
        error.hint = error.hint or "planner lint --format json writes one"
        raise


def _sarif(given: Options, answer: Lint) -> str:
    """Return findings as SARIF; STATE is read once more for the lines, if it has a name."""
    from planner import __version__
    from planner.operations.lint.positions import positions
    from planner.operations.report.sarif import sarif
    from planner.reader.source import load

    if not given.names_state:
        return sarif(answer, {}, "", __version__)
    places = positions(load(given.state, given.limit_of_bytes))
    return sarif(answer, places, given.state, __version__)
