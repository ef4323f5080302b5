"""``planner solve``: the plan for one pending workload, for each, or for several together."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from planner.cli import option, value
from planner.cli.exit_code import BAD_INPUT, OUR_BUG, exit_code, worst
from planner.cli.option import define
from planner.cli.output import ASK_TO_REPORT, LINE, check_files, say, warn, write, write_file
from planner.cli.value import Option
from planner.errors import PlannerError
from planner.scheduler import Flavors, scheduler_of

if TYPE_CHECKING:
    from planner.plan import AnyPlan
    from planner.plan.front import Front, FrontPoint
    from planner.state import AnyState

MAX_LINES_IGNORED: Final = 50
MOST_STEPS: Final = 2000
"""Steps of trees that a printed plan holds at most, unless they go to a file of their own."""


class Options(option.OfState):
    """What `planner solve` is given."""

    pending = value.several(
        "--pending NAME", str, f"{option.PENDING} With --joint it may be repeated."
    )
    each = value.flag("--all", "Plan for every pending workload by itself.")
    joint: Option[bool] = option.own("joint")
    objective = option.objective_or_front
    costs = option.costs
    time_limit = option.time_limit(
        "For each plan or front, building the model included. 0: answer at once with what is known "
        "then; none: as long as it takes."
    )
    now = option.OfState.now
    assignment = option.assignment
    flavors: Option[Flavors] = option.own("flavors")
    stability: Option[bool | None] = option.own("stability")
    stable = option.stable
    quota = option.quota
    laws = option.laws
    rules = option.rules
    assume = option.assume
    certify = value.either(
        "certify",
        "Wait for the proof trees that planner check needs, within --time-limit, or search "
        "none: then nothing is proved. By default only short trees are searched.",
    )
    proof = value.file(
        "--proof",
        "Write the proof trees to a file, one step a line, whole or not at all; the plan is then "
        f"printed without them. Without it the JSON has up to {MOST_STEPS:,} steps.",
    )
    show_commands: Option[bool] = option.own("show_commands")
    release = option.Dumps.release
    core_release = option.core_release
    requests = option.Dumps.requests
    max_bytes = option.Sized.max_bytes
    verbose = value.flag("-v, --verbose", "Say which fields and kinds were ignored.")
    details = value.flag(
        "--details",
        "Say all that a page has in the table, too: every measure and level, the request, the "
        "laws and the solver.",
    )


@define(Options)
def command(given: Options) -> int:
    """Plan whom to evict so that a pending workload can start.

    STATE is what kubectl prints of Kueue's objects as JSON or YAML, or YuniKorn's full state dump
    with its queues.yaml: a file, a folder of files, or - for standard input. The answer is the
    least disruptive set of victims that the scheduler's rules permit, with its proof, beside the
    set the scheduler itself would choose.

      planner solve cluster.json
      planner solve cluster.json --pending team-a/train-llm --objective min-lost-work
      planner solve cluster.json --objective min-cost --costs costs.json
      planner solve cluster.json --objective pareto:workloads,lost_work+restart_cost
      planner solve cluster.json --flavors optimal
      planner solve cluster.json --stability
      planner solve cluster.json --stable
      planner solve dump/ --all -o plans.json
      planner solve cluster.json --pending team-a/train --pending team-b/tune --joint
      planner solve cluster.json -o plan.html
      planner solve cluster.json --show-commands
      planner solve cluster.json -o plan.json --certify --proof trees.jsonl
      {solve}
      kubectl get workloads,clusterqueues,... -A -o json | planner solve - --time-limit 10

    `planner laws` lists the objectives; no-regret is the default. pareto:A,B lists plans that trade
    measure A for measure B, proved to be all there are; 4 then means that there may be more.

    {rules}

    With --all the exit code is the worst of all plans, from best to worst: 0 3 6 4 5 2 70.
    """
    return solve(given)


def solve(given: Options) -> int:
    """Read a state, plan, and print; return the exit code."""
    _refuse(given)
    from planner import api

    read: dict[str, Any] = {one: given.read_file(one) for one in ("costs", "assignment")}
    read["rules"] = given.rules or given.laws
    state = _read(given)
    measures = option.front_measures(given.objective)
    commands: Callable[[Any, Any, Sequence[str]], Any] | None = None
    if given.show_commands:
        if measures is not None:
            raise click.UsageError("--show-commands is for plans, not for a front")
        commands = scheduler_of(state).with_commands
    if given.joint:
        return _plan_together(given, state, read["costs"])

    def answer_for(key: str | None) -> AnyPlan | Front:
        with given.naming("costs", "assignment"):
            if measures is not None:
                first, second = measures
                asked = given.of(api.front, pending=key, first=first, second=second, **read)
                return api.front(state, **asked)
            plan: AnyPlan = api.solve(state, **given.of(api.solve, pending=key, **read))
            return plan if commands is None else commands(state, plan, given.cluster_options)

    show: Callable[..., None] = _show_plans if measures is None else _show_fronts
    if given.each:
        return _plan_for_each(given, state.pending, answer_for, show)
    answer = answer_for(next(iter(given.pending), None))
    show(given, [answer], alone=True)
    _point_on(given, [answer])
    return exit_code(answer)


def _plan_for_each(
    given: Options,
    keys: Sequence[str],
    answer_for: Callable[[str], AnyPlan | Front],
    show: Callable[..., None],
) -> int:
    answers, codes = [], []
    for done, key in enumerate(keys):
        LINE.update(done / len(keys), key)
        try:
            answer = answer_for(key)
        except PlannerError as error:
            say("error", f"{key}: {error}")  # the others are planned for all the same
            codes.append(error.exit_code)
        else:
            answers.append(answer)
            codes.append(exit_code(answer))
    show(given, answers, alone=False)
    if OUR_BUG in codes:
        write(ASK_TO_REPORT)
    counts = Counter(answer.status for answer in answers)
    parts = [f"{count} {status}" for status, count in counts.items()]
    parts += [f"{failed} failed"] if (failed := len(keys) - len(answers)) else []
    write(f"{len(keys)} pending: {', '.join(parts) or 'nothing to plan for'}\n")
    _point_on(given, answers)
    return worst(codes)


def _refuse(given: Options) -> None:
    """Refuse options that do not go together: the first pair of them is named."""
    whom = given.pending or given.each
    everybody = given.each and (given.pending or given.assignment)
    is_stable = given.stability or given.stable
    joint, front = given.joint, option.front_measures(given.objective) is not None
    flavors, quota = given.flavors == "optimal", given.quota is not None
    proof = {"proof": given.proof is not None, "certify": given.certify is not None}
    names = ("assignment", "details", "laws", "rules", "stability", "stable", "show_commands")
    alone = {name.replace("_", "-"): given.values[name] for name in names} | proof
    alone["flavors optimal"] = flavors
    first = next((name for name, is_asked in alone.items() if is_asked), "")
    trades = "pareto:workloads,unstable trades for it"
    wrong: dict[str, object] = {
        "--all goes neither with --pending nor with --assignment": everybody,
        option.BOTH: given.rules and given.laws,
        "--quota is for a queue: neither --pending nor --all goes with it": quota and whom,
        "several --pending are planned for together: add --joint": given.pending[1:] and not joint,
        "--joint wants to know for whom: --pending, repeated, or --all": joint and not whom,
        "a front is drawn for one workload, not with --joint": joint and front,
        f"--{first} goes not with --joint": joint and first,
        "a front is drawn for the flavors that the scheduler assigns": front and flavors,
        f"stability is looked at for one plan: {trades}": front and is_stable,
        "--certify and --proof are for one plan, not for a front": front and any(proof.values()),
        "a front is drawn for one ask, not for --quota": front and quota,
        "--details are those of a plan, not of a front": front and given.details,
    }
    option.refuse(wrong)
    check_files({"-o": given.target.path, "--proof": given.proof})


def _plan_together(given: Options, state: AnyState, costs: Mapping[str, int] | None) -> int:
    scheduler, several = scheduler_of(state), None if given.each else given.pending
    with given.naming("costs"):
        solve = scheduler.solve_joint
        plan = solve(state, **given.of(solve, pending=several, costs=costs))
    warn(plan.notes)
    for one in plan.skipped:
        say("error", f"{one.workload}: {one.explanation}")
    given.show(scheduler.renderers[type(plan)], plan)
    return worst([exit_code(plan), *([BAD_INPUT] if plan.skipped else [])])


def _read(given: Options) -> AnyState:
    from planner.reader import Ignored

    ignored = Ignored() if given.verbose else None
    found = given.read(ignored=ignored)
    if ignored is not None:
        kinds = [f"{count} x kind {name}" for name, count in ignored.kinds.most_common()]
        fields = [f"{count} x field {name}" for name, count in ignored.fields.most_common()]
        lines = kinds + fields
        for line in lines[:MAX_LINES_IGNORED]:
            say("ignored", line)
        if len(lines) > MAX_LINES_IGNORED:
            say("ignored", f"... and {len(lines) - MAX_LINES_IGNORED} more kinds and fields")
    return found


def _show_plans(given: Options, plans: Sequence[AnyPlan], *, alone: bool) -> None:
    from planner.report.plan import render
    from planner.report.words import remarks

    warn(remarks(*plans))
    if given.proof is not None:
        from planner.cli.plan_file import proof_text

        write_file("--proof", given.proof, proof_text(plans))
    most = MOST_STEPS if given.proof is None else 0
    shown = [within(plan, most) for plan in plans]
    given.show(render, shown, alone=alone, details=given.details)


def _show_fronts(given: Options, fronts: Sequence[Front], *, alone: bool) -> None:
    from planner.report.front import render

    def printed(point: FrontPoint) -> FrontPoint:
        return point.model_copy(update={"plan": within(point.plan)})

    warn(note for front in fronts for note in front.notes)
    shown = []
    for front in fronts:
        left = None if front.unproved is None else printed(front.unproved)
        update = {"points": tuple(map(printed, front.points)), "unproved": left}
        shown.append(front.model_copy(update=update))
    given.show(render, shown, alone=alone)


def _point_on(given: Options, answers: Sequence[AnyPlan | Front]) -> None:
    """Print the command that says why there is no plan, for the first workload without any.

    Where the plan was asked for with what that command knows nothing of, it has another answer.
    """
    nobody = [one for one in answers if one.status == "infeasible"]
    chosen = given.flavors == "optimal"
    others = chosen or given.rules or given.stable or given.quota
    if nobody and given.names_state and not others:
        words = ["planner", "explain", str(given.state), "--pending", nobody[0].preemptor]
        say("note", f"{shlex.join([*words, *_as_given(given)])} says what is in the way")


def _as_given(given: Options) -> Iterator[str]:
    """Yield the options of this run that ``planner explain`` has, too, but where results go."""
    from planner.cli.explain import command as explain
    from planner.report.text import moment

    omitted = {"state", "pending", "style", "output"}
    if option.front_measures(given.objective) is not None:
        omitted.add("objective")
    theirs = {one.name for one in explain.params if one.name} - omitted
    for one in option.written(theirs):
        found = given.values[one.name or ""]
        said = moment(found) if isinstance(found, datetime) else str(found)
        yield from (one.opts[0], value.NO_LIMIT if found is None else said)


def within(plan: AnyPlan, most: int = MOST_STEPS) -> AnyPlan:
    """Return a plan with trees of at most so many steps; the certificate says what is left out.

    Each tree is kept whole, or left out.
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
