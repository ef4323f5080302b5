"""``planner steer``: Kueue evicts the victims of plans, as long as this runs."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, get_args

import click

from planner.cli import option, value
from planner.cli.exit_code import FINDINGS, OPTIMAL
from planner.cli.option import Given, define
from planner.cli.output import print_parts, say
from planner.operations.cli import kueue_snapshot
from planner.operations.kubectl.kueue_resource import WATCHED
from planner.operations.steer.kueue.carry import LEASE
from planner.operations.steer.kueue.decide import Otherwise
from planner.operations.steer.kueue.setup import PolicyVersion, manifests

if TYPE_CHECKING:
    from planner.operations.kubectl.kueue_dump import Dump
    from planner.operations.steer.kueue.carry import Lease
    from planner.operations.steer.kueue.loop import Cluster
    from planner.operations.steer.record import Line, SteerFigures

EPILOG: Final = """\b
Examples:
  planner steer --manifests | kubectl apply -f -
  planner steer --check
  planner steer --dry-run
  planner steer --objective min-lost-work --queue research --metrics :9100
  planner steer --release

docs/how-to/steer.md has the set-up and the emergency switches.

"""


@define(
    option.profile,
    value.several("--queue CLUSTERQUEUE", "queues", "Plan for this one only; may be repeated."),
    value.several("--in NAMESPACE", "namespaces", "Plan for this one only; may be repeated."),
    value.one(
        "--patience SECONDS",
        value.seconds,
        "How long a workload may take whose turn it is; none: as long as it takes.",
        "5",
    ),
    value.one(
        "--otherwise",
        click.Choice(get_args(Otherwise)),
        "Where Kueue cannot be made to choose as planned: let it choose by itself, or wait.",
        "kueue",
    ),
    value.flag("--dry-run", "Say what would be done, and open each gate for Kueue's own choice."),
    value.flag("--check", "Say whether the cluster has what this needs, and what to do if not."),
    value.flag("--release", "Take all boosts and gates of ours away, and end.", "all_back"),
    value.one(
        "--manifests VERSION",
        click.Choice(get_args(PolicyVersion)),
        "Print the objects of the set-up, the policy in this version of its API (v1).",
        is_flag=False,
        flag_value="v1",
    ),
    value.one("--lease NAMESPACE/NAME", str, "The Lease by which one of several acts.", LEASE),
    option.line_format("steer"),
    option.metrics,
    option.how_long("steer"),
    *kueue_snapshot.cluster_options,
    *option.own("release", "requests"),
    option.max_size,
    epilog=EPILOG,
)
def command(given: Given) -> int:
    """Make Kueue evict the victims of the least disruptive plans, as long as this runs.

    Kueue has to be 0.17 or newer, with two feature gates that are alpha: --check says what is
    missing. Nobody but the planned victims is evicted for a plan; where that cannot be had, Kueue
    chooses by itself, or the workload waits.
    """
    if given.manifests is not None:
        print_parts([manifests(given.manifests)])
        return OPTIMAL
    if given.check:
        return _check(given)
    return _release(given) if given.all_back else _steer(given)


def cluster_of(given: Given, how: Mapping[str, str]) -> Cluster:
    """Return the cluster that kubectl talks to; ``how`` is with what its states are read."""
    from planner.operations.kubectl.kueue_dump import take_dump
    from planner.operations.kubectl.watch import Streams
    from planner.operations.steer.kueue.carry import Hands
    from planner.operations.steer.kueue.loop import Cluster

    connect = partial(kueue_snapshot.connect, given)
    what = given.of("namespace configuration without")

    def take() -> Dump:
        return take_dump(connect(), **what)

    hands = Hands(connect)
    click.get_current_context().call_on_close(hands.close)
    return Cluster(Streams(connect, WATCHED), take, how, hands)


def lease_of(cluster: Cluster, key: str, *, needed: bool) -> Lease | None:
    """Return the Lease of a cluster for this process; ``None`` if it is not needed, nor there."""
    from planner.operations.steer.kueue.carry import LEASES, Lease

    if not needed and cluster.hands.find(LEASES, key) is None:
        return None
    return Lease(cluster.hands, key, f"{socket.gethostname()}-{os.getpid()}", time.monotonic)


def _shown(given: Given, lines: Iterable[Line]) -> None:
    from planner.operations.report.steer import text_of
    from planner.operations.report.watch import json_of

    print_parts(json_of(one) if given.layout == "jsonl" else text_of(one) for one in lines)


def _check(given: Given) -> int:
    from planner.operations.steer.kueue.setup import findings
    from planner.reader import read_objects
    from planner.state.kueue import of_kueue

    cluster = cluster_of(given, given.of("release requests"))
    state = of_kueue(read_objects(cluster.take().value(), where="snapshot", **cluster.how))
    found = [*findings(state, cluster.hands, given.lease)]
    _shown(given, found)
    return OPTIMAL if all(one.holds for one in found) else FINDINGS


def _release(given: Given) -> int:
    from planner.operations.steer.kueue.loop import released

    cluster = cluster_of(given, given.of("release requests"))
    changed, left = released(cluster.take, cluster.hands)
    say("steer", f"what was ours is taken away from {changed} workloads")
    for key in left:
        say("steer", f"{key} could not be changed: the cluster refuses it")
    return FINDINGS if left else OPTIMAL


def _steer(given: Given) -> int:
    from planner.objective.profile_file import find_profile
    from planner.operations.steer.kueue.decide import Policy
    from planner.operations.steer.kueue.loop import How, Scope, Steer
    from planner.operations.steer.kueue.propose import propose

    figures: SteerFigures | None = None

    def tell(line: Line) -> None:
        if figures is not None:
            figures.count(line)
        _shown(given, [line])

    if given.metrics is not None:
        from planner.operations.steer.record import SteerFigures
        from planner.operations.watch.endpoint import serve

        figures = SteerFigures()
        host = given.metrics[0]
        say("steer", f"metrics at http://{host}:{serve(figures, *given.metrics)}/metrics")
    patience = float("inf") if given.patience is None else given.patience
    how = How(
        Policy(patience, given.otherwise),
        Scope(frozenset(given.queues), frozenset(given.namespaces)),
        given.dry_run,
    )
    profile, cluster = find_profile(given.profile), cluster_of(given, given.of("release requests"))
    lease = lease_of(cluster, given.lease, needed=True)
    steer = Steer(cluster, partial(propose, profile=profile), tell, how, lease)
    with suppress(KeyboardInterrupt):  # it is how steering ends
        steer.run(given.for_s)
    if lease is not None:
        lease.leave()
    return OPTIMAL
