"""``planner snapshot``: what kubectl can read of a cluster, in one dump."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.cli.exit_code import OPTIMAL, epilog
from planner.cli.option import max_size_option, output_option, seconds
from planner.kubectl.resource import CONFIGURATION, OPTIONAL, cluster_role, configuration_role

if TYPE_CHECKING:
    from planner.kubectl.dump import Dump


def _folded(command: str) -> str:
    """Break a command after each option, as a shell can read it."""
    return command.replace(",", " --resource=").replace(" --", " \\\n    --")


RIGHTS: Final = f"""\b
What RBAC must permit, and how an administrator grants it:
  {_folded(cluster_role())}
  {_folded(configuration_role())}
and likewise with `kubectl create clusterrolebinding` and `kubectl create rolebinding`.
"""

EPILOG: Final = f"""\b
Examples:
  planner snapshot -o cluster.json
  planner snapshot --context production | planner solve - --pending team-a/train-llm
  planner snapshot -n team-a --without limitranges --without configmaps -o cluster.json

kubectl does the work: it must be on PATH and logged in. Nothing but `kubectl get` is run, one
kind of objects after the other, and Secrets are never asked for. Of all objects only the fields
that the planner reads are kept: no env, command or args of containers, no volumes, no copies.

{RIGHTS}
Exit code 0 means that the dump is written; nothing is written otherwise.

""" + epilog()


@click.command(epilog=EPILOG, short_help="Write what kubectl can read of a cluster into one dump.")
@click.option("--context", metavar="NAME", help="The context of kubectl; by default its current.")
@click.option("--kubeconfig", metavar="FILE", help="The configuration file of kubectl.")
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    help="The namespace of the pending workload: LimitRanges are read there only. "
    "Workloads are always read in all namespaces, for all of them use quota.",
)
@click.option(
    "--configuration",
    metavar="NAMESPACE/NAME",
    default=CONFIGURATION,
    show_default=True,
    help="The ConfigMap that holds the Configuration of Kueue's manager.",
)
@click.option(
    "--without",
    metavar="KIND",
    multiple=True,
    type=click.Choice(OPTIONAL),
    help=f"What not to ask for, if you may not read it: {', '.join(OPTIONAL)}. May be repeated.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=seconds,
    default="120",
    show_default=True,
    help="For all calls of kubectl together; none: as long as it takes.",
)
@max_size_option
@output_option
def command(  # noqa: PLR0913 - one parameter an option
    *,
    context: str | None,
    kubeconfig: str | None,
    namespace: str | None,
    configuration: str,
    without: Sequence[str],
    timeout: float | None,
    max_size: int | None,
    output: Path | None,
) -> int:
    """Write the objects of Kueue in a cluster, and all that matters beside them, as one dump.

    The dump is a List as kubectl prints it, and what the other commands read as STATE. It goes to
    standard output unless -o names a file; how many objects there are of each kind goes to
    standard error.
    """
    from planner.cli.output import Target

    target = Target.choose(None, output)
    dump = take(
        context=context,
        kubeconfig=kubeconfig,
        namespace=namespace,
        configuration=configuration,
        without=without,
        timeout=timeout,
        max_size=max_size,
    )
    target.emit(dump.text())
    return OPTIMAL


def take(  # noqa: PLR0913 - one parameter an option
    *,
    context: str | None,
    kubeconfig: str | None,
    namespace: str | None,
    configuration: str,
    without: Sequence[str],
    timeout: float | None,
    max_size: int | None,
) -> Dump:
    """Run kubectl as the options say; warn of what is missing, and say what there is."""
    from planner.cli.message import say, warn
    from planner.cli.progress import Progress
    from planner.kubectl.call import Kubectl
    from planner.kubectl.dump import take_dump
    from planner.reader import MAX_BYTES

    kubectl = Kubectl(
        context=context,
        kubeconfig=kubeconfig,
        timeout_s=timeout,
        max_bytes=max_size or MAX_BYTES,
    )
    with Progress() as progress:
        dump = take_dump(
            kubectl,
            namespace=namespace,
            configuration=configuration,
            without=without,
            on_call=progress.update,
        )
    warn(dump.notes)
    parts = [f"{count} {name}" for name, count in dump.counts.items()]
    say("snapshot", ", ".join(parts))
    return dump
