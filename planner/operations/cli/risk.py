"""``planner risk``: how often everything that runs would be a victim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from planner.cli import option, value
from planner.cli.exit_code import NO_PLAN, NOT_PROVED, OPTIMAL
from planner.cli.option import define
from planner.cli.output import LINE, warn
from planner.cli.value import Option

if TYPE_CHECKING:
    from planner.operations.risk.measure import Shapes

SHAPES: Final[click.Choice[Shapes]] = click.Choice(["pending", "running", "all"])


class Options(option.OfState):
    """What `planner risk` is given."""

    core_release = option.core_release
    shapes: Option[Shapes | None] = value.one(
        "--shapes",
        SHAPES,
        "Which preemptors: what is pending, what runs submitted once more, or, by default, all.",
    )
    workloads: Option[tuple[str, ...]] = option.own("workloads")
    queue = option.queue
    limit = value.one(
        "--limit N", value.Whole(1), "How many preemptors at most: the first ones.", 50
    )
    objective = option.objective
    time_limit = option.time_limit("For all preemptors together; none: as long as it takes.")
    laws = option.laws


@define(Options)
def command(given: Options) -> int:
    """Count for how many preemptors everything that runs would be a victim.

    STATE is the same as for solve. Over a set of preemptors that may come, the answer says how
    often each running workload would go: by the scheduler's own choice, and by the least
    disruptive plan. Nothing in the cluster changes.

      planner risk cluster.json
      planner risk cluster.json --shapes running --limit 200 --time-limit none
      planner risk cluster.json --workload jobs.yaml --format json
      planner risk dump/ --objective min-lost-work

    docs/how-to/what-if.md says who may come, unless --workload says it.

    The exit code is 0 if every preemptor asked about has a proved answer, that no plan exists
    among them; 4 if one has none, or the time did not suffice for all; 5 if it sufficed for none.
    """
    if given.shapes is not None and given.workloads:
        raise click.UsageError("--shapes goes not with --workload, which says who comes")
    if given.queue is not None and not given.workloads:
        raise click.UsageError("--queue says where --workload is submitted; it needs one")
    from planner.commands.whatif.edit import ANY_NUMBER, read_submissions
    from planner.operations.report.risk import render
    from planner.operations.risk import Question, risk
    from planner.scheduler import scheduler_of

    found, keys = given.read(), None
    if given.workloads:
        add_workloads = scheduler_of(found).add_workloads
        items = [one for source in given.workloads for one in read_submissions(source)]
        found, keys = add_workloads(found, items, given.queue, ANY_NUMBER)
    shapes = given.shapes or "all"
    question = Question(**given.of(Question, pending=keys, shapes=shapes, rules=given.laws))
    answer = risk(found, question, lambda done, total, key: LINE.update(done / total, key))
    said = [f"{one.preemptor} cannot be planned for: {one.reason}" for one in answer.skipped]
    if answer.beyond_limit:
        more = _were(answer.beyond_limit, "more preemptor")
        said.append(f"{more} left out; --limit sets how many")
    if answer.unanswered:
        missing = _were(answer.unanswered, "preemptor")
        said.append(f"the time was over before {missing} asked about")
    warn([*said, *answer.notes])
    given.show(render, answer)
    if answer.is_proved:
        return OPTIMAL
    answered = any(one.status != "unknown" for one in answer.preemptors)
    return NOT_PROVED if answered else NO_PLAN


def _were(count: int, noun: str) -> str:
    from planner.quantity import plural

    return f"{plural(count, noun)} {'was' if count == 1 else 'were'}"
