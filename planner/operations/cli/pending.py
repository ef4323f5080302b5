"""``planner pending``: who waits, and where."""

from __future__ import annotations

from planner.cli import option
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import define


class Options(option.OfState):
    """What `planner pending` is given."""


@define(Options)
def command(given: Options) -> int:
    """List who is pending in a state.

    STATE is the same as for solve. Each has its queue and its priority.

      planner pending cluster.json
      planner pending cluster.json --format json
    """
    from planner.operations.pending import list_pending
    from planner.operations.report.answers import RENDERERS

    found = list_pending(given.read())
    given.show(RENDERERS[type(found)], found)
    return OPTIMAL
