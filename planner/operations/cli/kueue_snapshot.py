"""``planner snapshot``: what kubectl can read of a cluster, in one dump; or YuniKorn's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from planner.cli import option, value
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import Given, define
from planner.cli.output import LINE, say, warn
from planner.operations.cli.yunikorn_snapshot import take as take_of_yunikorn
from planner.operations.cli.yunikorn_snapshot import yunikorn_option
from planner.operations.kubectl.kueue_resource import (
    CONFIGURATION,
    OPTIONAL,
    cluster_role,
    configuration_role,
)

if TYPE_CHECKING:
    from planner.operations.kubectl.call import Kubectl
    from planner.operations.kubectl.kueue_dump import Dump


def folded(command: str) -> str:
    """Write each option of a command on a line of its own, as a shell can read it."""
    return command.replace(",", " --resource=").replace(" --", " \\\n    --")


RIGHTS: Final = f"""\b
What RBAC must permit, and how an administrator grants it:
  {folded(cluster_role())}
  {folded(configuration_role())}
and likewise with `kubectl create clusterrolebinding` and `kubectl create rolebinding`.
"""

EPILOG: Final = f"""\b
Examples:
  planner snapshot -o cluster.json
  planner snapshot --context production | planner solve - --pending team-a/train-llm
  planner snapshot -n team-a --without limitranges --without configmaps -o cluster.json
  planner snapshot --yunikorn http://localhost:9080 -o yunikorn.json

{RIGHTS}
Exit code 0 means that the dump is written; nothing is written otherwise.

"""


cluster_options: Final = (
    value.one("--context NAME", str, "The context of kubectl; by default its current."),
    value.one("--kubeconfig FILE", str, "The configuration file of kubectl."),
    value.one("--as NAME", str, "Whom kubectl is to ask as.", into="impersonated"),
    value.one("--request-timeout TIME", str, "For one request of kubectl, such as 30s."),
    value.one(
        "-n, --namespace NAME",
        str,
        "The namespace of the pending workload: LimitRanges and ResourceClaimTemplates are "
        "read there only. Workloads and LocalQueues are always read in all namespaces, for all of "
        "them use quota.",
    ),
    value.one(
        "--configuration NAMESPACE/NAME",
        str,
        "The ConfigMap that holds the Configuration of Kueue's manager.",
        default=CONFIGURATION,
    ),
    value.several(
        "--without KIND",
        "without",
        f"What not to ask for, if you may not read it: {', '.join(OPTIONAL)}. May be repeated.",
        click.Choice(OPTIONAL),
    ),
    value.one(
        "--timeout SECONDS",
        value.seconds,
        "For all calls together; none: as long as they take.",
        default="120",
    ),
)
"""The options that say which cluster is read, and what of it."""


@define(*cluster_options, yunikorn_option, option.max_size, option.output, epilog=EPILOG)
def command(given: Given) -> int:
    """Write the objects of Kueue in a cluster, and all that matters beside them, as one dump.

    The dump is a List as kubectl prints it, or with --yunikorn a state dump as YuniKorn's core
    writes it, and what the other commands read as STATE. It goes to standard output unless -o
    names a file; how many objects there are of each kind goes to standard error.
    """
    dump = take(given) if given.service is None else take_of_yunikorn(given)
    given.target.emit(dump.text())
    return OPTIMAL


def connect(given: Given) -> Kubectl:
    """Return a kubectl that asks the cluster of the options, for as long as they permit."""
    from planner.operations.kubectl.call import Kubectl

    how = given.of("context kubeconfig request_timeout timeout_s=timeout max_bytes=limit_of_bytes")
    return Kubectl(**how, **{"as": given.impersonated})


def take(given: Given) -> Dump:
    """Run kubectl as the options say; warn of what is missing, and say what there is."""
    from planner.operations.kubectl.kueue_dump import take_dump

    what = given.of("namespace configuration without")
    dump = take_dump(connect(given), **what, on_call=LINE.update)
    warn(dump.notes)
    parts = [f"{count} {name}" for name, count in dump.counts.items() if count]
    say("snapshot", ", ".join(parts) or "no objects")
    return dump
