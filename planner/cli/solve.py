"""``planner solve``: the plan for one pending workload, for each, or for several together."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.exit_code import epilog, exit_code, worst
from planner.cli.joint import only_one, plan_together, refuse_for_joint
from planner.cli.option import (
    assignment_option,
    costs_option,
    front_measures,
    laws_option,
    max_size_option,
    now_option,
    objective_or_front_option,
    output_option,
    page_format_option,
    rules_option,
    several_pending_option,
    time_limit_option,
)
from planner.cli.proof import (
    certify_option,
    check_proof,
    printed,
    printed_fronts,
    proof_option,
    write_proof,
)
from planner.errors import PlannerError

if TYPE_CHECKING:
    from datetime import datetime

    from planner.cli.output import Target
    from planner.plan import AnyPlan, Front
    from planner.state import AnyState

EPILOG = """\b
Examples:
  planner solve cluster.json
  planner solve cluster.json --pending team-a/train-llm --objective min-lost-work
  planner solve cluster.json --objective min-cost --costs costs.json
  planner solve cluster.json --objective pareto:D2,D4+D5
  planner solve cluster.json --flavors optimal
  planner solve cluster.json --stability
  planner solve cluster.json --stable
  planner solve dump/ --all --format json -o plans.json
  planner solve cluster.json --pending team-a/train --pending team-b/tune --joint
  planner solve cluster.json --format html -o plan.html
  planner solve cluster.json --format json -o plan.json --certify --proof trees.jsonl
  planner solve cluster.json --rules kep83:order=ByLongestRuntime+ByLowestPriority,wait=300
  planner solve cluster.json --rules strict
  planner solve instances/yunikorn/quickstart --laws code
  kubectl get workloads,clusterqueues,... -A -o json | planner solve - --time-limit 10

`planner laws` lists the objectives; no-regret is the default. pareto:A,B lists plans that trade
measure A for measure B, proved to be all there are; 4 then means that there may be more.

\b
Options of --rules kep83, by default what the ClusterQueue says, or the text of the KEP:
  cohort=POLICY   withinCohort: Never, ReclaimFromLowerPriority, ReclaimFromAny, or
                  LowerPriority, which borrows while it preempts
  queue=POLICY    withinClusterQueue: Never or LowerPriority
  order=A+B+...   the order of candidates: ByLowestPriority, ByLowestRuntime,
                  ByLongestRuntime, ByLowestDisruptionCost (milestones)
  wait=SECONDS    how long a workload waits before it may preempt

With --all the exit code is the worst of all plans, from best to worst: 0 3 4 5 2 70.

""" + epilog()

MAX_LINES_IGNORED = 50


@click.command(epilog=EPILOG, short_help="Plan whom to evict for a pending workload, and prove it.")
@click.argument("state", metavar="STATE")
@several_pending_option
@click.option("--all", "each", is_flag=True, help="Plan for every pending workload by itself.")
@click.option(
    "--joint",
    is_flag=True,
    help="Kueue: one plan for all of --pending, or for --all, that admits as many as possible, "
    "served one after another.",
)
@objective_or_front_option
@costs_option
@time_limit_option(
    "For each plan or front, building the model included. 0: answer at once with what is known "
    "then; none: as long as it takes."
)
@now_option
@assignment_option
@click.option(
    "--flavors",
    type=click.Choice(["kueue", "optimal"]),
    default="kueue",
    help="Kueue: who chooses the flavors: its own flavor assignment (kueue, the default), or the "
    "objective, among all that the rules permit (optimal).",
)
@click.option(
    "--stability/--no-stability",
    default=None,
    help="Kueue: also say which victims would preempt again once they are pending, and count them "
    "(D11). By default they are named where up to 300 workloads hold quota.",
)
@click.option(
    "--stable",
    is_flag=True,
    help="Kueue: only plans after which no victim would preempt again once it is pending; 3 if "
    "it is proved that there is none.",
)
@laws_option
@rules_option
@certify_option
@proof_option
@max_size_option
@click.option("-v", "--verbose", is_flag=True, help="Say which fields and kinds were ignored.")
@page_format_option
@output_option
def command(state: str, *, max_size: int | None, **options: Any) -> int:  # noqa: ANN401
    """Plan whom to evict so that a pending workload can start.

    STATE is what kubectl prints of Kueue's objects as JSON or YAML, or YuniKorn's full state dump
    with its queues.yaml: a file, a folder of files, or - for standard input. The answer is the
    least disruptive set of victims that the scheduler's rules permit, with its proof, beside the
    set the scheduler itself would choose.
    """
    from planner.reader import MAX_BYTES, read

    return solve(partial(read, state, max_bytes=max_size or MAX_BYTES), **options)


def solve(  # noqa: PLR0913 - one parameter an option
    reading: Callable[..., AnyState],
    *,
    pending: Sequence[str],
    each: bool,
    joint: bool,
    profile: str,
    costs: Path | None,
    time_limit: float | None,
    now: datetime | None,
    assignment: Path | None,
    flavors: str,
    stability: bool | None,
    stable: bool,
    laws: str | None,
    rules: str | None,
    certify: bool | None,
    proof: Path | None,
    verbose: bool,
    style: str | None,
    output: Path | None,
) -> int:
    """Read a state, plan, and print; return the exit code.

    ``reading`` takes ``now`` and ``ignored``, as the reader does; all others are the values of
    the options. Whoever has a state from elsewhere than a file starts here.
    """
    if each and (pending or assignment):
        raise click.UsageError("--all goes neither with --pending nor with --assignment")
    alone = only_one(pending, joint=joint)
    if joint:
        others: dict[str, object] = {"--assignment": assignment, "--laws": laws, "--rules": rules}
        more = {"--stability": stability, "--stable": stable}
        more |= {"--proof": proof is not None, "--certify": certify is not None}
        refuse_for_joint(pending, profile, flavors, others | more, each=each)
    measures = front_measures(profile)
    if measures is not None:
        _refuse_for_front(flavors, stability=bool(stability) or stable)
    check_proof(proof, output, front=measures is not None, certify=certify)
    from planner import api
    from planner.cli.given import file_named, read_optional
    from planner.cli.output import Target

    target = Target.choose(style, output)
    known: dict[str, Any] = {"costs": read_optional(costs), "time_limit": time_limit}
    given = {**known, "assignment": read_optional(assignment), "rules": rules or laws}
    wanted = {**given, "flavors": flavors, "stability": stability, "stable": stable}
    read_state = _read(reading, now, verbose=verbose)
    # What was read stays until the end. Otherwise each later full collection walks it all, and
    # over a large dump that takes seconds.
    gc.freeze()
    named = partial(file_named, {"costs": costs, "assignment": assignment})

    def answer_for(key: str | None) -> AnyPlan | Front:
        with named():
            if measures is not None:
                return api.front(read_state, key, *measures, **given)
            return api.solve(read_state, key, profile, certify=certify, **wanted)

    if joint:
        several = None if each else pending
        with named():
            return plan_together(read_state, target, several, objective=profile, **known)
    keys = api.pending_workloads(read_state) if each else None
    show = partial(_print, proof=proof) if measures is None else _print_fronts
    return _answer(answer_for, partial(show, target=target), alone, keys)


def _refuse_for_front(flavors: str, *, stability: bool) -> None:
    if flavors != "kueue":
        raise click.UsageError("a front is drawn for the flavors that Kueue assigns")
    if stability:
        raise click.UsageError("stability is looked at for one plan: pareto:D2,D11 trades for it")


def _answer(
    answer_for: Callable[[str | None], AnyPlan | Front],
    show: Callable[..., None],
    pending: str | None,
    keys: Sequence[str] | None,
) -> int:
    """Answer for one pending workload, or for each of several, and return the exit code."""
    if keys is None:
        answer = answer_for(pending)
        show([answer], alone=True)
        return exit_code(answer)
    answers, codes = _answer_each(keys, answer_for)
    show(answers, alone=False)
    _summarise(keys, answers)
    return worst(codes)


def _read(reading: Callable[..., AnyState], now: datetime | None, *, verbose: bool) -> AnyState:
    from planner.cli.message import say
    from planner.reader import Ignored

    ignored = Ignored() if verbose else None
    found = reading(now=now, ignored=ignored)
    if ignored is not None:
        kinds = [f"{count} x kind {name}" for name, count in ignored.kinds.most_common()]
        fields = [f"{count} x field {name}" for name, count in ignored.fields.most_common()]
        lines = kinds + fields
        for line in lines[:MAX_LINES_IGNORED]:
            say("ignored", line)
        if len(lines) > MAX_LINES_IGNORED:
            say("ignored", f"... and {len(lines) - MAX_LINES_IGNORED} more kinds and fields")
    return found


def _answer_each(
    keys: Sequence[str], answer_for: Callable[[str], AnyPlan | Front]
) -> tuple[list[AnyPlan | Front], list[int]]:
    """Answer for every workload; one that cannot be planned for does not stop the others."""
    from planner.cli.message import say
    from planner.cli.progress import Progress

    answers, codes = [], []
    with Progress() as progress:
        for done, key in enumerate(keys):
            progress.update(done / len(keys), key)
            try:
                answer = answer_for(key)
            except PlannerError as error:
                progress.clear()
                say("error", f"{key}: {error}")
                codes.append(error.exit_code)
            else:
                answers.append(answer)
                codes.append(exit_code(answer))
    return answers, codes


def _print(
    plans: Sequence[AnyPlan], target: Target, *, alone: bool, proof: Path | None = None
) -> None:
    from importlib import import_module

    from planner.cli.message import warn
    from planner.report.caution import cautions

    warn(note for plan in plans for note in (*plan.notes, *cautions(plan)))
    if proof is not None:
        write_proof(plans, proof)
    plans = printed(plans, proof)
    renderer = import_module(f"planner.report.{target.style}")
    look = {"width": target.width, "color": target.color}
    target.emit(renderer.render(plans[0], **look) if alone else renderer.render_all(plans, **look))


def _print_fronts(fronts: Sequence[Front], target: Target, *, alone: bool) -> None:
    from planner.cli.message import warn
    from planner.report.front import render, render_all

    warn(note for front in fronts for note in front.notes)
    fronts = printed_fronts(fronts)
    draw = partial(render, fronts[0]) if alone else partial(render_all, fronts)
    target.emit(draw(target.style, width=target.width, color=target.color))


def _summarise(keys: Sequence[str], answers: Sequence[AnyPlan | Front]) -> None:
    from collections import Counter

    from planner.cli.message import write

    counts = Counter(answer.status for answer in answers)
    failed = len(keys) - len(answers)
    parts = [f"{count} {status}" for status, count in counts.items()]
    if failed:
        parts.append(f"{failed} failed")
    write(f"{len(keys)} pending: {', '.join(parts) or 'nothing to plan for'}\n")
