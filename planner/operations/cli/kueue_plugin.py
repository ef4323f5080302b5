"""``kubectl preemption-plan``: a snapshot of the cluster, and the plan for it.

kubectl runs the program ``kubectl-preemption_plan`` on PATH for both ``kubectl preemption-plan``
and ``kubectl preemption_plan``, with the words that follow (Kubernetes documentation, Extend
kubectl with plugins, "Names with dashes and underscores").
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.cli import solve
from planner.cli.exit_code import epilog
from planner.cli.main import PlannerCommand, run
from planner.cli.main import main as planner
from planner.cli.value import Valued
from planner.operations.cli import kueue_snapshot
from planner.state.kueue_workload import API_GROUP

if TYPE_CHECKING:
    from planner.reader import Ignored
    from planner.state import AnyState

PROGRAM: Final = "kubectl preemption-plan"
SOURCE: Final = "snapshot"
"""What the state is called in messages."""

AS_KUBECTL: Final = ("json", "yaml", "name", "wide")
WIDE: Final = 240
"""Columns of a table that is to leave nothing out, however wide the terminal is."""

HELP: Final = """Plan whom Kueue must evict so that a pending workload can start.

This is `planner snapshot`, kept in memory, and `planner solve` of it: the options are those of
both. Nothing in the cluster changes; `kubectl preemption-plan apply` carries a plan out.
"""
EPILOG: Final = f"""\b
Examples:
  kubectl preemption-plan
  kubectl preemption-plan --pending team-a/train-llm --objective min-lost-work
  kubectl preemption-plan -n team-a --pending train-llm
  kubectl preemption-plan --context production -A -o yaml
  kubectl preemption-plan --all -o plans.json
  kubectl preemption-plan --pending team-a/train-llm -o plan.json
  kubectl preemption-plan apply plan.json --dry-run

\b
{kueue_snapshot.RIGHTS}
`planner solve --help` and `planner snapshot --help` say more.

""" + epilog()


class FromCluster(solve.Options, kueue_snapshot.OfCluster):
    """What was given to a command whose STATE is a snapshot."""

    def read(self, now: str | None = None, ignored: Ignored | None = None) -> AnyState:
        """Take a snapshot, and read it as if it stood in a file."""
        from hashlib import sha256

        from planner.reader import read_objects

        dump = kueue_snapshot.dump_by_kubectl(self)
        digest, at = sha256(dump.text().encode()).hexdigest(), now or self.now
        return read_objects(
            dump.value(), where=SOURCE, digest=digest, now=at, release=self.release, ignored=ignored
        )

    @property
    def cluster_options(self) -> Sequence[str]:
        """The options of kubectl that say which cluster it is."""
        return kueue_snapshot.connect(self).options

    def show(self, render: Callable[..., str], *answer: object, **more: object) -> None:
        """Write an answer in a format of kubectl's ``-o``, or as planner does."""
        target, kind = self.target, self.values["as_kubectl"]
        if kind is None or kind == "json":
            super().show(render, *answer, **more)
        elif kind == "wide":
            all_of_it = more | {"details": True} if "details" in more else more
            target.emit(render(*answer, "table", width=WIDE, color=target.color, **all_of_it))
        else:
            value = json.loads(render(*answer, "json", width=WIDE, color=False, **more))
            if kind == "name":  # the victims of plans as kubectl names them, each once
                plans = value.get("plans", [value])
                if not all("victims" in plan for plan in plans):
                    said = "-o name lists victims of plans: there are none of a front"
                    raise click.UsageError(said)
                keys = dict.fromkeys(one["workload"] for plan in plans for one in plan["victims"])
                names = (f"workload.{API_GROUP}/{key.partition('/')[2]}\n" for key in keys)
                target.emit("".join(names))
            else:
                import yaml

                target.emit(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))


def build() -> click.Command:
    """Make the command out of the options of ``planner snapshot`` and ``planner solve``."""
    context = click.Context(planner)
    of_snapshot = _options(context, "snapshot")
    del of_snapshot["service"]  # YuniKorn's, which kubectl does not ask
    of_solve = _options(context, "solve")
    own = [option for option in planner.params if option.name in {"debug", "quiet"}]
    everywhere = click.Option(
        ["-A", "--all-namespaces"], is_flag=True, help="Plan for what is pending in all of them."
    )
    output = Valued(
        ["-o", "--output"],
        metavar="FORMAT|FILE",
        is_eager=True,
        type=click.Path(path_type=Path),
        help=f"{', '.join(AS_KUBECTL)}, as kubectl has them (name: of the victims), or a file that "
        "the result goes to, whole or not at all.",
    )
    both = {**of_snapshot, **of_solve, "output": output, "all_namespaces": everywhere}

    def solved(**options: Any) -> int:  # noqa: ANN401
        namespace = options["namespace"]
        if options.pop("all_namespaces"):
            if namespace:
                raise click.UsageError("-A goes not with -n")
            options["each"] = True
        options["as_kubectl"] = None
        if str(options["output"]) in AS_KUBECTL:
            source = click.get_current_context().get_parameter_source("style")
            if source is click.core.ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--format goes not with -o {options['output']}")
            options["as_kubectl"], options["output"] = str(options["output"]), None
            options["style"] = "json" if options["as_kubectl"] == "json" else None
        if namespace:
            keys = options["pending"]
            named = (key if "/" in key else f"{namespace}/{key}" for key in keys)
            options["pending"] = tuple(named)
        return solve.solve(FromCluster(options))

    return PlannerCommand(
        "preemption-plan",
        context_settings=planner.context_settings,
        callback=solved,
        params=[*both.values(), *own],
        help=HELP,
        epilog=EPILOG,
    )


def main() -> None:
    """Run the command line; exit with its code. ``apply`` is that of planner."""
    run(planner if sys.argv[1:2] == ["apply"] else build(), PROGRAM)


def _options(context: click.Context, name: str) -> dict[str, click.Parameter]:
    """Return the options of a command of planner, with their environment variables."""
    command = planner.get_command(context, name)
    found = command.params if command else []
    return {each.name: each for each in found if each.name and isinstance(each, click.Option)}


if __name__ == "__main__":
    main()
