"""``planner boost``: priority boosts that make Kueue itself carry out a plan."""

from __future__ import annotations

from planner.cli import option, value
from planner.cli.exit_code import CONDITIONAL, INFEASIBLE, NO_PLAN, NOT_PROVED, OPTIMAL
from planner.cli.option import define
from planner.cli.output import warn


class Options(option.OfState):
    """What `planner boost` is given."""

    pending = value.one(
        "--pending NAMESPACE/NAME", str, "The pending workload of Kueue to plan for."
    )
    objective = option.objective
    time_limit = option.time_limit(
        "For the plan, half at most, and the boosts; none: as long as it takes."
    )


@define(Options)
def command(given: Options) -> int:
    """Find the smallest priority boosts after which Kueue itself evicts the planned victims.

    STATE is what kubectl prints of Kueue's objects, as for solve. The plan is made with the
    feature gate PriorityBoost on. Every answer was decided anew by the replay of Kueue's own
    algorithm, and is printed as commands that set the annotations; nothing is run.

      planner boost cluster.json
      planner boost cluster.json --pending team-a/train --objective min-lost-work
      planner boost cluster.json --format plain | grep ^kubectl > boosts.sh

    Smallest: the fewest workloads touched, then the least sum of changes. Exit code 0 means proved
    smallest for a plan proved optimal, 3 that no boosts can do it, 4 that these do and smaller ones
    may, 5 that none were found.
    """
    from planner.kueue_verbs import boost
    from planner.report.kueue.own import render_boosts
    from planner.report.words import remarks
    from planner.state.kueue import of_kueue

    found = of_kueue(given.read())
    answer = boost(found, given.pending, given.objective, time_limit=given.time_limit)
    warn(remarks(answer.plan))
    given.show(render_boosts, answer)
    # Boosts for a plan that is not proved best prove nothing.
    if answer.status == "smallest" and answer.plan.status != "optimal":
        return CONDITIONAL if answer.plan.claim == "optimal" else NOT_PROVED
    codes = {"smallest": OPTIMAL, "found": NOT_PROVED, "impossible": INFEASIBLE}
    return codes.get(answer.status, NO_PLAN)
