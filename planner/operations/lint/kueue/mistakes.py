"""Mistakes: names, limits, amounts and selectors that cannot be meant.

Source: docs/semantics/kueue.md §2 and §3; docs/semantics/kueue-features.md §1.5; kueue ff69552e
pkg/cache/scheduler/clusterqueue.go (``updateQueueStatus``) and
pkg/webhooks/clusterqueue_webhook.go (``validateLimit``, ``validateLendingLimit``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import deepcopy
from itertools import chain
from typing import Final, NamedTuple

from planner.dump import kueue as objects
from planner.dump import listed
from planner.operations.lint.kueue.absent import CHECK, COHORT, FLAVOR, QUEUE, Absent
from planner.operations.lint.kueue.alone import JOB, flavor_of, queue_alone, unless_cured
from planner.operations.lint.kueue.search import decided
from planner.operations.lint.kueue.world import (
    NAMESPACE,
    NOON,
    Facts,
    Object,
    read_example,
    spec_of,
)
from planner.operations.lint.lint import Example, Finding, finding
from planner.quantity import UNLIMITED, format_units, is_bytes, is_milli
from planner.quota.kueue.tree import NO_PARENT, Node
from planner.reference.kueue.cycle.nomination import why_not_nominated

_CORE: Final = 1000
"""Milli-cores in a core."""
_LEAST_CORES: Final = _CORE // 10
_MEBIBYTE: Final = 2**20
_GIBIBYTE: Final = 2**30
_STEPS: Final = tuple(base**power for base in (1024, 1000) for power in (1, 2, 3, 4))
"""What lies between two suffixes of a quantity of bytes, or between one and none."""
_NAMESPACE: Final[Object] = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": NAMESPACE},
}
_PODS: Final = (objects.PodSet(1, {"cpu": _CORE}),)
_FIELDS: Final = ("nominalQuota", "borrowingLimit", "lendingLimit")


def misspelt(facts: Facts) -> Iterator[Finding]:
    """KL-23: a name that nothing has, where something of its kind is called almost so."""
    for one in facts.absent:
        if one.meant:
            yield from _absent("KL-23", facts, one)


def not_in_the_input(facts: Facts) -> Iterator[Finding]:
    """KL-24: a name that nothing in the input has; what it names may stand elsewhere."""
    for one in facts.absent:
        if not one.meant:
            yield from _absent("KL-24", facts, one)


def _absent(code: str, facts: Facts, one: Absent) -> Iterator[Finding]:
    first, *others = one.named_by
    more = f" (and {len(others):,} more)" if others else ""
    whole = {FLAVOR: facts.whole.resource_flavors, CHECK: facts.whole.admission_checks}
    made_up = one.name in {there.name for there in whole.get(one.kind, ())}
    fate = "Kueue makes such a ClusterQueue inactive, and admits nothing there"
    if one.kind == QUEUE:
        fate = "whoever waits there is never admitted"
    elif first.startswith(COHORT):
        fate = "no ClusterQueue can have that quota"
    taken = "; all other rules looked at it as if it were there" if made_up else ""
    yield from finding(
        code,
        (one.object, *one.named_by),
        _unreachable_quota(one) if first.startswith(COHORT) else _without_it(one),
        name=f"{first}{more}",
        object=one.object,
        taken=taken,
        fate=fate,
        meant=one.meant,
    )


def _without_it(one: Absent) -> Example | None:
    """Return a workload that waits, and is admitted as soon as the name stands for something."""
    name = one.named_by[0].rpartition("/")[2] if one.kind != QUEUE else one.name
    flavor = one.name if one.kind == FLAVOR else "example"
    check = objects.admission_check(one.name, created=NOON)
    whole = queue_alone(name, flavor_of(flavor), _PODS, [check] if one.kind == CHECK else [])
    for item in whole["items"]:
        if one.kind == CHECK and item["kind"] == "ClusterQueue":
            checks = {"admissionChecks": [{"name": one.name}]}
            item["spec"]["admissionChecksStrategy"] = checks
    kept = [item for item in whole["items"] if item["kind"].lower() != one.kind]
    return unless_cured(listed(kept), whole, one.object)


def _unreachable_quota(one: Absent) -> Example | None:
    """Return a workload that waits for quota of a Cohort, in a flavor that its queue lacks."""
    name, own = one.named_by[0].rpartition("/")[2], f"{one.name}-2"
    found, cured = (
        queue_alone(
            "example",
            flavor_of(own),
            _PODS,
            [objects.cohort(name, quotas={flavor: {"cpu": objects.Quota(_CORE)}}, created=NOON)],
            objects.Quota(0),
        )
        for flavor in (one.name, own)
    )
    return unless_cured(found, cured, f"quota in {FLAVOR}/{own}, which the ClusterQueue has")


def refused_limits(facts: Facts) -> Iterator[Finding]:
    """KL-25: limits where there is no cohort to borrow from or lend to, or more lent than owned."""
    tree = facts.snapshot.tree
    for at, node in enumerate(tree.nodes):
        queue = facts.snapshot.queues.get(at)
        # A queue whose cohort is in a cycle of parents has no parent in the tree.
        alone = node.parent == NO_PARENT and not (queue and queue.spec.cohort_name)
        for fr, quota in node.quotas.items():
            limits = [name for name, n in zip(_FIELDS[1:], quota[1:], strict=True) if n is not None]
            lent = quota.lending_limit
            if alone and limits:
                above = "cohort" if node.is_queue else "parent"
                why = f"has {' and '.join(limits)} and no {above}: nobody lends to it or borrows"
                hint = f"a {above}, or no limits"
            elif node.is_queue and lent is not None and lent > quota.nominal:
                why = "has a lendingLimit above its nominalQuota: it cannot lend more than it has"
                hint = "a lendingLimit of at most the nominalQuota"
            else:
                continue
            name, place, example = _name(node), tree.frs[fr], _idle_limits(facts, at, fr)
            yield from finding("KL-25", [name], example, name=name, why=why, place=place, hint=hint)
            break


def _name(node: Node) -> str:
    return f"{QUEUE if node.is_queue else COHORT}/{node.name}"


def _idle_limits(facts: Facts, at: int, fr: int) -> Example | None:
    """Return a workload that asks for more than there is, and waits with limits and without."""
    tree = facts.snapshot.tree
    node, (flavor, resource) = tree.nodes[at], tree.frs[fr]
    given = node.quotas[fr]
    pods = (objects.PodSet(1, {resource: given.nominal + 1}),)

    def dump(quota: objects.Quota) -> Object:
        if node.is_queue:
            whole = queue_alone(node.name, flavor_of(flavor), pods, quota=quota)
            if cohort := facts.snapshot.queues[at].spec.cohort_name:
                spec_of([node.name], cohortName=cohort)(whole["items"])
            return whole
        owner = objects.cohort(node.name, quotas={flavor: {resource: quota}}, created=NOON)
        return queue_alone("example", flavor_of(flavor), pods, [owner], objects.Quota(0))

    limited = dump(objects.Quota(*given))
    found = decided(limited, JOB)
    if found.mode == "Fit" or found != decided(dump(objects.Quota(given.nominal)), JOB):
        return None
    shows = (f"{JOB} {found.in_words}", f"without limits it {found.in_words}, too")
    return Example(state=limited, pending=JOB, shows=shows)


def for_no_namespace(facts: Facts) -> Iterator[Finding]:
    """KL-28: without a namespaceSelector a ClusterQueue takes workloads of no namespace."""
    for queue in facts.state.cluster_queues:
        if queue.spec.namespace_selector is None:
            flavor = next(iter(queue.flavor_names), "example")
            whole = queue_alone(queue.name, flavor_of(flavor), _PODS, [_NAMESPACE])
            bare = deepcopy(whole)
            for item in bare["items"]:
                if item["kind"] == "ClusterQueue":
                    del item["spec"]["namespaceSelector"]
            example = None
            if (why := _refused(bare)) and not _refused(whole):
                shows = (f"{JOB} is not admitted: {why}", "with namespaceSelector {} it fits")
                example = Example(state=bare, pending=JOB, shows=shows)
            name = f"{QUEUE}/{queue.name}"
            yield from finding("KL-28", [name], example, name=name)


def _refused(dump: Object) -> str:
    """Say why Kueue keeps the workload of a dump out of its ClusterQueue; empty if it does not."""
    state, snapshot, preemptor = read_example(dump, JOB)
    found = why_not_nominated(state, snapshot, preemptor.workload)
    return "" if found is None else found.text


class _Amount(NamedTuple):
    """An amount of a resource in a flavor, the field it stands in, and whose it is."""

    units: int
    field: str
    flavor: str
    node: Node

    def in_words(self, resource: str) -> str:
        """Say who has how much."""
        amount = format_units(self.units, resource)
        return f"{_name(self.node)} has {amount} ({self.field} in flavor {self.flavor})"


def different_units(facts: Facts) -> Iterator[Finding]:
    """KL-27: in one cohort tree, amounts of a resource that differ by what a suffix stands for."""
    tree = facts.snapshot.tree
    for queues in facts.trees.values():
        by_resource: dict[str, dict[int, _Amount]] = {}
        for at in dict.fromkeys(chain.from_iterable(map(tree.path, queues))):
            for fr, quota in tree.nodes[at].quotas.items():
                flavor, resource = tree.frs[fr]
                for field, units in zip(_FIELDS, quota, strict=True):
                    # Of cores that may be borrowed many write thousands, and mean any number.
                    boundless = is_milli(resource) and field == "borrowingLimit"
                    if units and units < UNLIMITED and not boundless:
                        one = _Amount(units, field, flavor, tree.nodes[at])
                        by_resource.setdefault(resource, {}).setdefault(units, one)
        for resource, amounts in by_resource.items():
            for units in sorted(amounts):
                if unlike := _unlike(units, amounts, resource):
                    yield from _different(resource, amounts[units], amounts[unlike])
                    break


def _unlike(small: int, amounts: Collection[int], resource: str) -> int:
    """Return an amount in another unit than a small one seems to be; 0 if there is none.

    Nobody means a few bytes of memory, or a few thousandths of a core, beside a thousand times as
    much; and amounts that are exactly a suffix apart were meant to be one.
    """
    most = max(amounts)
    if is_milli(resource):
        exact: tuple[int, ...] = (small * _CORE,)
        tiny = small < _LEAST_CORES and most >= small * _CORE
    elif is_bytes(resource):
        exact = tuple(small * step for step in _STEPS) if small < _GIBIBYTE else ()
        tiny = small < _MEBIBYTE and most >= _GIBIBYTE
    else:
        return 0
    return next((units for units in exact if units in amounts), most if tiny else 0)


def _different(resource: str, small: _Amount, large: _Amount) -> Iterator[Finding]:
    names, pods = (
        (_name(small.node), _name(large.node)),
        (objects.PodSet(1, {resource: small.units + 1}),),
    )
    little, enough = (
        queue_alone("example", flavor_of(small.flavor), pods, quota=objects.Quota(units))
        for units in (small.units, large.units)
    )
    yield from finding(
        "KL-27",
        names,
        unless_cured(little, enough, f"a quota of {format_units(large.units, resource)}"),
        small=small.in_words(resource),
        large=large.in_words(resource),
        resource=resource,
        names=" and ".join(dict.fromkeys(names)),
    )
