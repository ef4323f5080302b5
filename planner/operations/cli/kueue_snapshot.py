"""``planner snapshot``: what kubectl can read of a cluster, in one dump; or YuniKorn's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from planner.cli import option, value
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import CommandLine, define
from planner.cli.output import LINE, say, warn
from planner.cli.value import Option
from planner.operations.cli.yunikorn_snapshot import dump_over_rest, yunikorn_option
from planner.operations.kubectl.kueue_resource import (
    CONFIGURATION,
    OPTIONAL,
    cluster_role,
    configuration_role,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from planner.operations.kubectl.call import Kubectl
    from planner.operations.kubectl.kueue_dump import Dump


def folded(command: str) -> str:
    """Write each option of a command on a line of its own, as a shell can read it."""
    return command.replace(",", " --resource=").replace(" --", " \\\n    --")


RIGHTS: Final = f"""\
What RBAC must permit, and how an administrator grants it:
  {folded(cluster_role())}
  {folded(configuration_role())}
and likewise with `kubectl create clusterrolebinding` and `kubectl create rolebinding`.
"""


class OfCluster(CommandLine):
    """What is given on which cluster is read, and what of it."""

    context = value.one("--context NAME", str, "The context of kubectl; by default its current.")
    kubeconfig = value.one("--kubeconfig FILE", str, "The configuration file of kubectl.")
    impersonated = value.one("--as NAME", str, "Whom kubectl is to ask as.")
    request_timeout = value.one(
        "--request-timeout TIME", str, "For one request of kubectl, such as 30s."
    )
    namespace = value.one(
        "-n, --namespace NAME",
        str,
        "The namespace of the pending workload: LimitRanges and ResourceClaimTemplates are "
        "read there only. Workloads and LocalQueues are always read in all namespaces, for all of "
        "them use quota.",
    )
    configuration = value.one(
        "--configuration NAMESPACE/NAME",
        str,
        "The ConfigMap that holds the Configuration of Kueue's manager.",
        default=CONFIGURATION,
    )
    without = value.several(
        "--without KIND",
        click.Choice(OPTIONAL),
        f"What not to ask for, if you may not read it: {', '.join(OPTIONAL)}. May be repeated.",
    )
    timeout_s = value.one(
        "--timeout SECONDS",
        value.seconds,
        "For all calls together; none: as long as they take.",
        default="120",
    )


OF_CLUSTER: Final = tuple(name for name, one in vars(OfCluster).items() if isinstance(one, Option))
"""The names of these options."""


class Answers(option.Saved):
    """What a dump is written with."""

    service = yunikorn_option
    max_bytes = option.Sized.max_bytes


class Options(OfCluster, Answers):
    """What `planner snapshot` is given."""


@define(Options, rights=RIGHTS)
def command(given: Options) -> int:
    """Write the objects of Kueue in a cluster, and all that matters beside them, as one dump.

    The dump is a List as kubectl prints it, or with --yunikorn a state dump as YuniKorn's core
    writes it, and what the other commands read as STATE. It goes to standard output unless -o
    names a file; how many objects there are of each kind goes to standard error.

      planner snapshot -o cluster.json
      planner snapshot --context production | planner solve - --pending team-a/train-llm
      planner snapshot -n team-a --without limitranges --without configmaps -o cluster.json
      planner snapshot --yunikorn http://localhost:9080 -o yunikorn.json

    {rights}

    Exit code 0 means that the dump is written; nothing is written otherwise.
    """
    bounds = (given.timeout_s, given.limit_of_bytes)
    dump = dump_over_rest(given.service, *bounds) if given.service else dump_by_kubectl(given)
    given.target.emit(dump.text())
    return OPTIMAL


def connect(given: OfCluster) -> Kubectl:
    """Return a kubectl that asks the cluster of the options, for as long as they permit."""
    from planner.operations.kubectl.call import Kubectl

    named = {name: given.values[name] for name in ("context", "kubeconfig", "request_timeout")}
    limits = given.of(Kubectl, max_bytes=given.limit_of_bytes)
    return Kubectl(**named, **limits, **{"as": given.values["impersonated"]})


def dump_of(given: OfCluster, on_call: Callable[[float, str], None] | None = None) -> Dump:
    """Run kubectl as the options say; see `take_dump`."""
    from planner.operations.kubectl.kueue_dump import take_dump

    return take_dump(connect(given), **given.of(take_dump), on_call=on_call)


def dump_by_kubectl(given: OfCluster) -> Dump:
    """Return a dump as the options say; warn of what is missing, and say what there is."""
    dump = dump_of(given, LINE.update)
    warn(dump.notes)
    parts = [f"{name} {count}" for name, count in dump.counts.items() if count]
    say("snapshot", ", ".join(parts) or "no objects")
    return dump
