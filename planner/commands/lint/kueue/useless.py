"""Useless: settings that change nothing where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from planner.commands.lint.kueue.search import MAX_SIMILAR, boosted, grid, idle, shown, worlds
from planner.commands.lint.kueue.world import BOOST, Change, Facts, Object, configured, policies
from planner.commands.lint.lint import Example, Finding, finding
from planner.quantity import NANO

_NO_BORROW: Object = {"borrowWithinCohort": {"policy": "Never"}}
_NO_RECLAIM: Object = {"reclaimWithinCohort": "Never", **_NO_BORROW}
_CONFIGURATION = "configmap/kueue-manager-config"


def alone_in_cohort(facts: Facts) -> Iterator[Finding]:
    """KL-11: policies towards others of the cohort, where there are none."""
    lonely = [q for q in facts.queues if facts.reclaims(q) and not facts.others(q)]
    for queue in lonely:
        example = _without(facts, [queue], "reclaimWithinCohort", _NO_RECLAIM, others=[queue])
        if example is not None:
            name = facts.name(queue)
            cohort = facts.snapshot.queues[queue].spec.cohort_name
            where = f"is the only ClusterQueue of cohort {cohort}" if cohort else "has no cohort"
            yield finding(
                "KL-11",
                (name,),
                f"{name} {where}: reclaimWithinCohort and borrowWithinCohort concern nobody.",
                f"a cohort that others are in, too, or both at Never in {name}",
                example,
            )


def fair_sharing_ignores_borrow(facts: Facts) -> Iterator[Finding]:
    """KL-12: under fair sharing preemption while borrowing goes by shares."""
    group = _forceful(facts) if facts.fair else []
    for queue in group[:MAX_SIMILAR]:
        example = _without(facts, [queue], "borrowWithinCohort", _NO_BORROW)
        if example is not None:
            name = facts.called(group)
            yield finding(
                "KL-12",
                facts.names(group),
                f"{name} has borrowWithinCohort, and fair sharing is on: shares decide who is "
                "preempted while borrowing, and maxPriorityThreshold protects nobody.",
                f"no borrowWithinCohort in {name}",
                example,
            )
            return


def cannot_borrow(facts: Facts) -> Iterator[Finding]:
    """KL-13: preemption while borrowing, where limits leave nothing to borrow."""
    bound = [
        queue
        for queue in _forceful(facts)
        if not facts.fair
        and facts.others(queue)
        and not any(facts.can_borrow(queue, fr) for fr in facts.frs(queue))
    ]
    show = partial(_without, facts, field="borrowWithinCohort", off=_NO_BORROW)
    for group, name, example in shown(facts, bound, show):
        yield finding(
            "KL-13",
            facts.names(group),
            f"{name} has borrowWithinCohort, but can borrow nothing: its borrowingLimit is 0, "
            "or nobody lends.",
            f"a borrowingLimit above 0, or no borrowWithinCohort, in {name}",
            example,
        )


def nobody_borrows(facts: Facts) -> Iterator[Finding]:
    """KL-14: only who uses more than its nominal quota is reclaimed from, and nobody can."""
    for tree in facts.trees:
        borrowers: dict[int, set[int]] = {}
        for queue in tree:
            for fr in facts.frs(queue):
                if facts.can_borrow(queue, fr):
                    borrowers.setdefault(fr, set()).add(queue)
        idle_ones = [
            queue
            for queue in facts.active(tree)
            if facts.reclaims(queue)
            and len(tree) > 1
            and all(borrowers.get(fr, set()) <= {queue} for fr in facts.frs(queue))
        ]
        show = partial(_without, facts, field="reclaimWithinCohort", off=_NO_RECLAIM)
        for group, name, example in shown(facts, idle_ones, show):
            yield finding(
                "KL-14",
                facts.names(group),
                f"{name} may reclaim, but borrowing and lending limits keep every other queue "
                "of its cohort within its nominal quota: there is nobody to reclaim from.",
                f"a borrowingLimit above 0 for others, or reclaimWithinCohort: Never in {name}",
                example,
            )


def threshold_above_all(facts: Facts) -> Iterator[Finding]:
    """KL-15: a threshold that spares nobody there is."""
    if facts.fair or not facts.priorities:
        return
    highest = facts.priorities[-1]
    high = [q for q in _forceful(facts) if facts.threshold(q, highest - 1) >= highest]
    off = {"borrowWithinCohort": {"policy": "LowerPriority"}}
    show = partial(_without, facts, field="maxPriorityThreshold", off=off, priority=highest)
    for group, name, example in shown(facts, high, show):
        yield finding(
            "KL-15",
            facts.names(group),
            f"maxPriorityThreshold of {name} is {facts.threshold(group[0], highest)}, and the "
            f"highest priority is {highest}: it spares nobody.",
            f"a threshold below {highest}, or none, in {name}",
            example,
        )


def weights_without_fair_sharing(facts: Facts) -> Iterator[Finding]:
    """KL-16: weights count under fair sharing only."""
    tree = facts.snapshot.tree
    for queues in () if facts.fair else facts.trees:
        above = {node for queue in queues for node in tree.path(queue)}
        weighted = sorted(node for node in above if tree.nodes[node].weight_nano != NANO)
        active = facts.active(queues if weighted else ())
        example = next(_unweighted_examples(facts, active), None)
        if example is not None:
            kinds = {True: "clusterqueue", False: "cohort"}
            yield finding(
                "KL-16",
                [f"{kinds[tree.nodes[n].is_queue]}/{tree.nodes[n].name}" for n in weighted],
                "Weights for fair sharing are set, and Kueue's Configuration does not turn it on.",
                "fairSharing in the Configuration, or no weights",
                example,
            )


def nobody_reclaims(facts: Facts) -> Iterator[Finding]:
    """KL-17: fair sharing preempts only for queues that may reclaim."""
    shared = [queue for queue in facts.queues if facts.active(facts.others(queue))]
    if not facts.fair or any(map(facts.reclaims, facts.queues)):
        return
    off = configured(fairSharing=None)
    for queue in shared[:MAX_SIMILAR]:
        example = _unchanged(facts, queue, facts.others(queue), off, "fair sharing off")
        if example is not None:
            yield finding(
                "KL-17",
                (_CONFIGURATION, *facts.names(shared)),
                "Fair sharing is on, and reclaimWithinCohort is Never everywhere: its strategies "
                "never preempt anybody, shares only order admissions.",
                "reclaimWithinCohort: LowerPriority or Any where shares are to be restored",
                example,
            )
            return


def boosts_without_gate(facts: Facts) -> Iterator[Finding]:
    """KL-18: the annotation counts only with the feature gate PriorityBoost."""
    state = facts.state
    marked = [one.key for one in state.workloads.unfinished() if one.boost is not None]
    if not marked or state.configuration.gate("PriorityBoost"):
        return
    for queue in facts.queues[:MAX_SIMILAR]:
        for world, _ in worlds(facts, queue, [queue]):
            jobs = boosted(grid(world, queue, queue))
            example = idle(world, jobs, _without_annotations, "no annotation")
            if example is not None:
                yield finding(
                    "KL-18",
                    [f"workload/{key}" for key in marked],
                    f"The annotation {BOOST} is set, and the feature gate PriorityBoost is off: "
                    "Kueue does not read it.",
                    "featureGates: {PriorityBoost: true} in the Configuration",
                    example,
                )
                return


def _forceful(facts: Facts) -> list[int]:
    return [q for q in facts.queues if facts.borrows_by_force(q) and facts.reclaims(q)]


def _unweighted_examples(facts: Facts, queues: Sequence[int]) -> Iterator[Example]:
    for queue in queues[:MAX_SIMILAR]:
        others = [one for one in queues if one != queue] or [queue]
        example = _unchanged(facts, queue, others, _unweighted, "all weights 1")
        if example is not None:
            yield example


def _without(  # noqa: PLR0913 - what an example is made of
    facts: Facts,
    group: Sequence[int],
    field: str,
    off: Object,
    priority: int = 0,
    *,
    others: Sequence[int] | None = None,
) -> Example | None:
    """Find an example in which policies of a ClusterQueue change nothing.

    The ``others`` in it are those of its cohort, if none are given.
    """
    queue = group[0]
    others = facts.others(queue) if others is None else others
    change = policies([facts.snapshot.queue_name(queue)], **off)
    words = f"no {field} in {facts.name(queue)}"
    return _unchanged(facts, queue, others, change, words, priority)


def _unchanged(  # noqa: PLR0913, PLR0917 - what an example is made of
    facts: Facts, queue: int, others: Iterable[int], off: Change, words: str, priority: int = 0
) -> Example | None:
    for world, other in worlds(facts, queue, facts.active(others)):
        jobs = chain.from_iterable(grid(world, queue, one, priority) for one in (other, queue))
        example = idle(world, jobs, off, words)
        if example is not None:
            return example
    return None


def _unweighted(items: list[Object]) -> None:
    for item in items:
        item.get("spec", {}).pop("fairSharing", None)


def _without_annotations(items: list[Object]) -> None:
    for item in items:
        item.get("metadata", {}).pop("annotations", None)
