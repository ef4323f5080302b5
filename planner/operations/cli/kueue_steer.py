"""``planner steer``: Kueue evicts the victims of plans, as long as this runs."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, get_args

import click

from planner.cli import option, value
from planner.cli.exit_code import FINDINGS, OPTIMAL
from planner.cli.option import define
from planner.cli.output import print_parts, say
from planner.operations.cli import kueue_snapshot
from planner.operations.cli.kueue_watch import telling
from planner.operations.kubectl.kueue_resource import WATCHED
from planner.operations.steer.kueue.carry import LEASE
from planner.operations.steer.kueue.decide import Otherwise
from planner.operations.steer.kueue.setup import PolicyVersion, manifests
from planner.reader.parse import parse
from planner.reader.source import Text

if TYPE_CHECKING:
    from planner.operations.steer.kueue.carry import Lease
    from planner.operations.steer.kueue.loop import Cluster
    from planner.operations.steer.record import Line


class Options(kueue_snapshot.OfCluster, option.Dumps):
    """What `planner steer` is given."""

    objective = option.objective
    queues = value.several("--queue CLUSTERQUEUE", str, "Plan for this one only; may be repeated.")
    namespaces = value.several("--in NAMESPACE", str, "Plan for this one only; may be repeated.")
    patience = value.one(
        "--patience SECONDS",
        value.seconds,
        "How long a workload may take whose turn it is; none: as long as it takes.",
        "5",
    )
    otherwise = value.one(
        "--otherwise",
        click.Choice(get_args(Otherwise)),
        "Where Kueue cannot be made to choose as planned: let it choose by itself, or wait.",
        "kueue",
    )
    dry_run = value.flag(
        "--dry-run", "Say what would be done, and open each gate for Kueue's own choice."
    )
    check = value.flag(
        "--check", "Say whether the cluster has what this needs, and what to do if not."
    )
    all_back = value.flag("--release", "Take all boosts and gates of ours away, and end.")
    manifests = value.one(
        "--manifests VERSION",
        click.Choice(get_args(PolicyVersion)),
        "Print the objects of the set-up, the policy in this version of its API (v1).",
        is_flag=False,
        flag_value="v1",
    )
    lease = value.one(
        "--lease NAMESPACE/NAME", str, "The Lease by which one of several acts.", LEASE
    )
    layout = option.line_format("steer")
    metrics = option.metrics
    for_s = option.how_long("steer")


@define(Options)
def command(given: Options) -> int:
    """Make Kueue evict the victims of the least disruptive plans, as long as this runs.

    Kueue has to be 0.17 or newer, with two feature gates that are alpha: --check says what is
    missing. Nobody but the planned victims is evicted for a plan; where that cannot be had, Kueue
    chooses by itself, or the workload waits.

      planner steer --manifests | kubectl apply -f -
      planner steer --check
      planner steer --dry-run
      planner steer --objective min-lost-work --queue research --metrics :9100
      planner steer --release

    docs/how-to/steer.md has the set-up and the emergency switches.
    """
    back, check = given.all_back, given.check
    option.refuse(
        {
            "--release changes the cluster, so --dry-run cannot go with it": back and given.dry_run,
            "--release changes the cluster, so --check cannot go with it": back and check,
            "--manifests only prints, so --check and --release cannot go with it": given.manifests
            and (back or check),
        }
    )
    if given.manifests is not None:
        text = manifests(given.manifests)
        if given.layout == "jsonl":
            objects = parse(Text("manifests", text.encode(), named_yaml=True))
            text = "".join(f"{json.dumps(one.value)}\n" for one in objects)
        print_parts([text])
        return OPTIMAL
    if given.check:
        return _check(given)
    return _release(given) if given.all_back else _steer(given)


def _how(given: Options) -> dict[str, str]:
    return {"release": given.release, "requests": given.requests}


def cluster_of(given: kueue_snapshot.OfCluster, how: Mapping[str, str]) -> Cluster:
    """Return the cluster that kubectl talks to; ``how`` is with what its states are read."""
    from planner.operations.kubectl.watch import Streams
    from planner.operations.steer.kueue.carry import Hands
    from planner.operations.steer.kueue.loop import Cluster

    connect = partial(kueue_snapshot.connect, given)
    hands = Hands(connect)
    click.get_current_context().call_on_close(hands.close)
    take = partial(kueue_snapshot.dump_of, given)
    return Cluster(Streams(connect, WATCHED), take, how, hands)


def lease_of(cluster: Cluster, key: str, *, needed: bool) -> Lease | None:
    """Return the Lease of a cluster for this process; ``None`` if it is not needed, nor there."""
    from planner.operations.steer.kueue.carry import LEASES, Lease

    if not needed and cluster.hands.find(LEASES, key) is None:
        return None
    return Lease(cluster.hands, key, f"{socket.gethostname()}-{os.getpid()}", time.monotonic)


def _telling(given: Options, metrics: tuple[str, int] | None = None) -> Callable[[Line], None]:
    from planner.operations.report.steer import text_of
    from planner.operations.steer.record import SteerFigures

    return telling("steer", given.layout, text_of, metrics, SteerFigures())


def _check(given: Options) -> int:
    from planner.operations.steer.kueue.setup import findings
    from planner.reader import read_objects
    from planner.state.kueue import of_kueue

    cluster = cluster_of(given, _how(given))
    state = of_kueue(read_objects(cluster.take().value(), where="snapshot", **cluster.how))
    found, tell = [*findings(state, cluster.hands, given.lease)], _telling(given)
    for one in found:
        tell(one)
    return OPTIMAL if all(one.holds for one in found) else FINDINGS


def _release(given: Options) -> int:
    from planner.operations.steer.kueue.loop import released

    cluster = cluster_of(given, _how(given))
    changed, left = released(cluster.take, cluster.hands)
    say("steer", f"what was ours is taken away from {changed} workloads")
    for key in left:
        say("steer", f"{key} could not be changed: the cluster refuses it")
    return FINDINGS if left else OPTIMAL


def _steer(given: Options) -> int:
    from planner.objective.profile_file import find_profile
    from planner.operations.steer.kueue.decide import Policy
    from planner.operations.steer.kueue.loop import How, Scope, Steer
    from planner.operations.steer.kueue.propose import propose

    patience = float("inf") if given.patience is None else given.patience
    how = How(
        Policy(patience, given.otherwise),
        Scope(frozenset(given.queues), frozenset(given.namespaces)),
        given.dry_run,
    )
    profile, cluster = find_profile(given.objective), cluster_of(given, _how(given))
    lease = lease_of(cluster, given.lease, needed=True)
    tell = _telling(given, given.metrics)
    steer = Steer(cluster, partial(propose, profile=profile), tell, how, lease)
    with suppress(KeyboardInterrupt):  # it is how steering ends
        steer.run(given.for_s)
    if lease is not None:
        lease.leave()
    return OPTIMAL
