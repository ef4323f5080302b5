"""The objects of a cluster as kubectl would print them, in one List."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Final

from planner.commands.generate import names
from planner.commands.generate.kueue.draw import lay_out
from planner.commands.generate.kueue.layout import (
    GPU,
    PRESETS,
    KueueKnobs,
    Layout,
    Place,
    Quota,
    Run,
    in_units,
    units_of,
)
from planner.commands.generate.kueue.nodes import TOPOLOGY, Placed, node_labels, placed_on
from planner.dump import kueue as dump
from planner.dump import listed
from planner.objective.annotation import PREFIX
from planner.stage import begin

__all__ = ["FOLDER", "KNOBS", "PRESETS", "made"]

KNOBS: Final = KueueKnobs
FOLDER: Final = ""

LOCAL_QUEUES: Final = ("training", "interactive")
STRATEGIES: Final = {
    "both": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
    "final-share": ["LessThanOrEqualToFinalShare"],
    "initial-share": ["LessThanInitialShare"],
}


def objects_of(layout: Layout, seed: int) -> dump.Object:
    """Return the List of a cluster's objects."""
    placed = (
        placed_on(layout, seed, partial(flavor_name, layout)) if layout.knobs.topology else None
    )
    begin("making objects")
    items = [
        *_queues(layout),
        *_cohorts(layout),
        *_local_queues(layout),
        *(_workload(layout, run, seed, placed) for run in (*layout.running, *layout.waiting)),
        *_flavors(layout),
        *(placed.objects if placed else ()),
        *_configuration(layout),
    ]
    return listed(items)


def team(queue: int) -> str:
    """Return the name of a ClusterQueue, which is also the namespace of its team."""
    return names.numbered(names.TEAMS, queue)


def cohort_name(tree: int, level: int, place: int) -> str:
    """Return the name of a cohort by its level and its place there."""
    root = names.numbered(names.ORGANISATIONS, tree)
    if level == 0:
        return root
    return f"{root}-{names.numbered(names.DEPARTMENTS, place)}" + (
        f"-l{level}" if level > 1 else ""
    )


def flavor_name(layout: Layout, flavor: int) -> str:
    """Return the name of a ResourceFlavor."""
    return (
        names.FLAVORS[flavor][0]
        if layout.contested == GPU
        else names.numbered(("default",), flavor)
    )


def _queues(layout: Layout) -> Iterator[dump.Object]:
    knobs = layout.knobs
    policies = dump.Policies(knobs.within, knobs.reclaim, knobs.borrow)
    for queue, quotas in enumerate(layout.quotas):
        above = ""
        if knobs.depth:
            above = cohort_name(layout.tree(queue), knobs.depth - 1, layout.leaf[queue])
        yield dump.cluster_queue(
            team(queue),
            above,
            _quotas(layout, quotas),
            policies,
            weight=layout.weights[queue],
            created=names.FOUNDED,
        )


def _quotas(layout: Layout, quotas: Mapping[Place, Quota]) -> dict[str, dict[str, dump.Quota]]:
    def of(resource: str, quota: Quota) -> dump.Quota:
        limits = (
            None if limit is None else in_units(resource, limit)
            for limit in (quota.borrowing, quota.lending)
        )
        return dump.Quota(in_units(resource, quota.nominal), *limits)

    return {
        flavor_name(layout, flavor): {
            resource: of(resource, quotas[flavor, resource]) for resource in layout.resources
        }
        for flavor in range(layout.knobs.flavors)
    }


def _cohorts(layout: Layout) -> Iterator[dump.Object]:
    knobs = layout.knobs
    for tree in layout.trees if knobs.depth else ():
        widths = [layout.leaves[tree]]
        for _ in range(knobs.depth - 1):
            widths.append(-(-widths[-1] // knobs.branches))
        pool = {key: Quota(amount) for key, amount in layout.pools[tree].items()}
        own = _quotas(layout, pool) if knobs.pool else None
        yield dump.cohort(cohort_name(tree, 0, 0), quotas=own, created=names.FOUNDED)
        for level, width in enumerate(reversed(widths[:-1]), start=1):
            for place in range(width):
                above = cohort_name(tree, level - 1, place // knobs.branches)
                yield dump.cohort(cohort_name(tree, level, place), above, created=names.FOUNDED)


def _local_queues(layout: Layout) -> Iterator[dump.Object]:
    for queue in range(layout.knobs.queues):
        for name in LOCAL_QUEUES:
            yield dump.local_queue(team(queue), name, team(queue), created=names.FOUNDED)


def _workload(layout: Layout, run: Run, seed: int, placed: Placed | None) -> dump.Object:
    owner = names.OWNERS[run.number % len(names.OWNERS)]
    end = names.uid(seed, run.number)[:5]
    requests = units_of(run.shape)
    pods = dump.PodSet(run.shape.pods, requests)
    held, admission = run.waited_s, None
    if run.age_s is not None:
        held += run.age_s
        flavors = dict.fromkeys(requests, flavor_name(layout, run.flavor))
        since = names.NOW - timedelta(seconds=run.age_s)
        admission = dump.Admission(team(run.queue), flavors, since)
    made = dump.workload(
        team(run.queue),
        f"{owner.lower()}-{run.task}-{run.number}-{end}",
        LOCAL_QUEUES[run.number // len(names.OWNERS) % len(LOCAL_QUEUES)],
        layout.classes[run.level].value,
        [pods if placed is None else placed.of(run, pods)],
        created=names.NOW - timedelta(seconds=held),
        admission=admission,
        annotations=_annotations(run),
    )
    if run.evicted_s is not None:
        made["status"]["conditions"].append(
            {
                "type": "Evicted",
                "status": "True",
                "reason": "Preempted",
                "message": "Preempted to accommodate another workload",
                "lastTransitionTime": names.ago(run.evicted_s),
            }
        )
    return made


def _annotations(run: Run) -> dict[str, str]:
    annotations = {}
    if run.checkpoint_s is not None:
        annotations[f"{PREFIX}last-checkpoint"] = names.ago(run.checkpoint_s)
    if run.last_tier:
        annotations[f"{PREFIX}tier"] = "last"
    return annotations


def _flavors(layout: Layout) -> Iterator[dump.Object]:
    for flavor in range(layout.knobs.flavors):
        labels = node_labels(flavor) if layout.contested == GPU else None
        topology = TOPOLOGY if layout.knobs.topology else ""
        name = flavor_name(layout, flavor)
        yield dump.resource_flavor(name, labels, topology, created=names.FOUNDED)


def _configuration(layout: Layout) -> Iterator[dump.Object]:
    if layout.knobs.fair:
        strategies = STRATEGIES[layout.knobs.strategies]
        yield dump.configuration(fairSharing={"preemptionStrategies": strategies})


def made(knobs: KueueKnobs, seed: int) -> dump.Object:
    """Return what is printed of a cluster."""
    return objects_of(lay_out(knobs, seed), seed)
