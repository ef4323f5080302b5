"""``planner check``: a plan made by anybody, checked on any machine, without a solver."""

from __future__ import annotations

from typing import Any

from planner.cli import option, value
from planner.cli.exit_code import FINDINGS, OPTIMAL, worst
from planner.cli.option import define
from planner.cli.output import say
from planner.errors import PlannerError


class Options(option.OfState):
    """What `planner check` is given."""

    core_release = option.core_release
    state = option.OfState.state
    plan = value.argument("PLAN", str)
    objective = option.objective_of_plan(
        "The objective that the plan was made under: needed if it was a file of your own, "
        "NAME.toml; by default the one that the plan names."
    )
    costs = option.costs
    proof = value.file(
        "--proof",
        "Proof trees that were written apart from the plan, by planner solve --proof.",
    )
    assignment = option.assignment
    stable = option.stable
    laws = option.laws
    rules = option.rules
    assume = option.assume
    time_limit = option.time_limit("For the proof trees of each plan; none: as long as it takes.")


@define(Options)
def command(given: Options) -> int:
    """Check a plan that anybody made: its laws, its values, and every proof tree.

    STATE is what `planner solve` read, PLAN the JSON that it wrote, also with --all; either may be
    - for standard input. Every level of the objective is certified if its tree holds, in exact
    integers, for the inequalities that the state itself gives. A plan is judged by the question
    that `planner solve STATE` answers with the same options, whatever it says itself.

      planner check cluster.json plan.json
      planner check cluster.json plans.json --format json
      planner check cluster.json plan.json --objective mine.toml
      planner check cluster.json plan.json --costs costs.json
      planner check cluster.json plan.json --proof trees.jsonl
      {check}
      planner solve cluster.json --format json | planner check cluster.json -

    It loads no solver, and takes nothing from the plan but what it can check on STATE. 1 means that
    something does not hold, or is not certified, or that the plan answers another question; a plan
    whose flavors were chosen for least disruption, a joint plan or a front ends in 2.
    """
    from planner.cli.plan_file import read_plans, with_trees
    from planner.commands.check.plan import Check, check
    from planner.report.checking import Checks, render_checks

    option.refuse({option.BOTH: given.rules and given.laws})
    read: dict[str, Any] = {one: given.read_file(one) for one in ("costs", "assignment")}
    read["rules"] = given.rules or given.laws
    file = read_plans(given.plan, given.max_bytes)
    plans = file.plans if given.proof is None else with_trees(file.plans, given.proof)
    state = given.read()
    with given.naming("costs", "assignment"):
        checks: list[Check] = []
        codes: list[int] = []
        for plan in plans:
            try:
                answer = check(state, **given.of(check, plan=plan, **read))
                if plan.certificate and (left := plan.certificate.trees_omitted):
                    note = f"{left:,} steps of trees were left out of the plan: give them with"
                    notes = (*answer.notes, f"{note} --proof FILE")
                    answer = answer.model_copy(update={"notes": notes})
                checks.append(answer)
            except PlannerError as error:
                # Of several, one that cannot be checked does not stop the others.
                if len(plans) == 1:
                    raise
                say("error", f"{plan.preemptor}: {error}")
                codes.append(error.exit_code)
    missing = file.missing(state.pending)
    for key in missing:
        say("error", f"{key} is pending, and the list has no plan for it")
    accepted = not (missing or codes) and all(one.accepted for one in checks)
    result = Checks(accepted=accepted, checks=tuple(checks), missing=missing)
    given.show(render_checks, result)
    return worst([*codes, OPTIMAL if accepted else FINDINGS])
