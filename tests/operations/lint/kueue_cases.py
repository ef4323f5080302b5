"""For each code a cluster in which it is found, and one nearby in which it must not be."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from planner.operations.lint import kueue
from tests.cluster import (
    KUEUE,
    Object,
    cohort,
    configuration,
    dump_of,
    fair_sharing,
    queue,
    quotas,
    running,
)
from tests.reference.cycles import strict, waits
from tests.reference.topology.racks import RACK, flavor, node, pods, room, topology
from tests.reference.topology.racks import waits as pending_pods

Dump = dict[str, Any]
Edit = Callable[[Dump], None]


class Case(NamedTuple):
    """A cluster with a finding, one without, and an edit of the example that ends it.

    Of a ping-pong the edit is a cure; of something useless it takes the setting away.
    """

    code: str
    found: Dump
    clean: Dump
    edit: Edit


SLOW = {f"KL-{number:02}" for number in (4, 7, 8, 9, 12, 13, 14, 16, 17)}
QUICK = [code for number in range(len(kueue.RULES)) if (code := f"KL-{number + 1:02}") not in SLOW]


@contextmanager
def looking_for(*codes: str) -> Iterator[None]:
    """Look for findings of some codes alone: by all rules it takes much longer."""
    rules = tuple(kueue.RULES[int(code.removeprefix("KL-")) - 1] for code in codes)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kueue, "RULES", rules)
        yield


def priority_class(value: int) -> list[Object]:
    name = {"name": f"p{value}"}
    return [
        {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": name, "value": value}
    ]


TWO = (priority_class(0), priority_class(100))


def selecting(selector: Object | None) -> Dump:
    """Return a cluster whose queue has a selector of namespaces."""
    found = dump_of(queue("a", 4))
    for item in found["items"]:
        if item["kind"] == "ClusterQueue":
            item["spec"]["namespaceSelector"] = selector
    return found


def case(
    code: str, found: Iterable[list[Object]], clean: Iterable[list[Object]], edit: Edit
) -> Case:
    return Case(code, dump_of(*found), dump_of(*clean), edit)


def of(kind: str, name: str, **fields: Any) -> Edit:
    """Set fields of the spec of an object, and of its ``preemption``."""

    def edit(dump: Dump) -> None:
        for item in dump["items"]:
            if item["kind"] == kind and item["metadata"]["name"] == name:
                spec = item["spec"]
                for field, value in fields.items():
                    into = spec["preemption"] if field in spec.get("preemption", {}) else spec
                    into[field] = value

    return edit


def without_fair_sharing(dump: Dump) -> None:
    dump["items"] = [item for item in dump["items"] if item["kind"] != "Configuration"]


def without_weights(dump: Dump) -> None:
    for item in dump["items"]:
        item.get("spec", {}).pop("fairSharing", None)


def without_boosts(dump: Dump) -> None:
    for item in dump["items"]:
        item.get("metadata", {}).pop("annotations", None)


NEVER: Mapping[str, str] = {"policy": "Never"}
LOWER: Mapping[str, str] = {"policy": "LowerPriority"}
BOTH: dict[str, Any] = {"reclaim": "LowerPriority", "borrow": "LowerPriority"}


def starving(kind: Any) -> list[list[Object]]:
    """Return a queue whose head asks for more than there is, before one that would preempt."""
    head, behind = waits("first", "a", 10, 100), waits("p", "a", 2, 10)
    return [kind("a", 4, within="LowerPriority"), running("low", "a", 4), head, behind]


def listed(*parts: Sequence[Object]) -> Dump:
    """Return a dump of nothing but these objects."""
    items = [item for part in parts for item in part]
    return {"apiVersion": "v1", "kind": "List", "items": items}


RACKS = (
    topology(),
    flavor(),
    node("n1", "r1", gpu=8),
    node("n2", "r1", gpu=8),
    node("n3", "r2", gpu=8),
)
POOL = {"pool": "a"}
GIBI = 2**30


def asks(count: int) -> list[Object]:
    """Return a workload that wants so many pods of 4 GPUs in one rack."""
    return pending_pods(pods("main", count, {"gpu": 4}, {"required": RACK}))


def larger(dump: Dump) -> None:
    for item in dump["items"]:
        if item["kind"] == "Node":
            item["status"]["allocatable"]["gpu"] = "100"


def with_flavor(dump: Dump) -> None:
    dump["items"] += flavor(topology_name="")


def without_limits(dump: Dump) -> None:
    for item in dump["items"]:
        for group in item.get("spec", {}).get("resourceGroups", ()):
            for quota in group["flavors"][0]["resources"]:
                quota.pop("borrowingLimit", None)
                quota.pop("lendingLimit", None)


def labelled(dump: Dump) -> None:
    for item in dump["items"]:
        if item["kind"] == "Node":
            item["metadata"]["labels"][RACK] = "r"


CASES = (
    case(
        "KL-01",
        [queue("a", 0, "org", **BOTH), queue("b", 4, "org", reclaim="Any"), queue("c", 2, "org")],
        [queue("a", 0, "org", **BOTH), queue("b", 4, "org", **BOTH), queue("c", 2, "org")],
        of("ClusterQueue", "b", reclaimWithinCohort="LowerPriority"),
    ),
    case(
        "KL-02",
        [
            queue("a", 0, "org", reclaim="LowerPriority", weight="2"),
            queue("b", 0, "org", reclaim="Any"),
            cohort("org", nominal=6),
            fair_sharing(),
        ],
        [
            queue("a", 0, "org", reclaim="LowerPriority", weight="2"),
            queue("b", 0, "org", reclaim="LowerPriority"),
            cohort("org", nominal=6),
            fair_sharing(),
        ],
        of("ClusterQueue", "b", reclaimWithinCohort="LowerPriority"),
    ),
    case(
        "KL-03",
        [queue("a", 4, "org"), queue("b", 4, "org", reclaim="Any")],
        [queue("a", 4, "org", lending=0), queue("b", 4, "org", reclaim="Any")],
        of("ClusterQueue", "a", reclaimWithinCohort="LowerPriority"),
    ),
    case(
        "KL-04",
        [queue("a", 4, "org", borrow="LowerPriority"), queue("b", 4, "org")],
        [queue("a", 4, "org", **BOTH), queue("b", 4, "org")],
        of("ClusterQueue", "a", reclaimWithinCohort="LowerPriority"),
    ),
    case(
        "KL-05",
        [queue("a", 4, "org", **BOTH, threshold=-1), queue("b", 4, "org"), *TWO],
        [queue("a", 4, "org", **BOTH, threshold=0), queue("b", 4, "org"), *TWO],
        of("ClusterQueue", "a", borrowWithinCohort=LOWER),
    ),
    case(
        "KL-06",
        [queue("a", 4, within="LowerPriority"), priority_class(7)],
        [queue("a", 4, within="LowerPriority"), priority_class(7), priority_class(8)],
        of("ClusterQueue", "a"),
    ),
    case(
        "KL-07",
        [queue("a", 0, "org", reclaim="Any"), queue("b", 4, "org"), queue("c", 2, "org"), *TWO],
        [queue("a", 1, "org", reclaim="Any"), queue("b", 4, "org"), queue("c", 2, "org"), *TWO],
        of("ClusterQueue", "a", borrowWithinCohort=LOWER),
    ),
    case(
        "KL-08",
        [queue("a", 2, "org", reclaim="Any"), queue("b", 4, "org", stop="Hold"),
         running("over", "b", 6), *TWO],
        [queue("a", 2, "org", reclaim="Any"), queue("b", 4, "org", stop="Hold"),
         running("within", "b", 4), *TWO],
        of("ClusterQueue", "b", stopPolicy="None"),
    ),
    case(
        "KL-09",
        [queue("a", 2, "org", reclaim="Any", weight="0"), queue("b", 4, "org"), fair_sharing(),
         *TWO],
        [queue("a", 2, "org", reclaim="Any", weight="0.1"), queue("b", 4, "org"), fair_sharing(),
         *TWO],
        of("ClusterQueue", "a", fairSharing={"weight": "1"}),
    ),
    case(
        "KL-10",
        [queue("a", 0), queue("b", 1), *TWO],
        [queue("a", 0, "org"), queue("b", 1, "org"), *TWO],
        of("ClusterQueue", "a"),
    ),
    case(
        "KL-11",
        [queue("a", 4, "org", **BOTH), queue("b", 4), *TWO],
        [queue("a", 4, "org", **BOTH), queue("b", 4, "org"), *TWO],
        of("ClusterQueue", "a", reclaimWithinCohort="Never", borrowWithinCohort=NEVER),
    ),
    case(
        "KL-12",
        [queue("a", 4, "org", **BOTH), queue("b", 4, "org"), fair_sharing(), *TWO],
        [queue("a", 4, "org", **BOTH), queue("b", 4, "org"), *TWO],
        of("ClusterQueue", "a", borrowWithinCohort=NEVER),
    ),
    case(
        "KL-13",
        [queue("a", 4, "org", **BOTH, borrowing=0), queue("b", 4, "org"), *TWO],
        [queue("a", 4, "org", **BOTH, borrowing=1), queue("b", 4, "org"), *TWO],
        of("ClusterQueue", "a", borrowWithinCohort=NEVER),
    ),
    case(
        "KL-14",
        [queue("a", 4, "org", reclaim="Any"), queue("b", 4, "org", borrowing=0), *TWO],
        [queue("a", 4, "org", reclaim="Any"), queue("b", 4, "org", borrowing=1), *TWO],
        of("ClusterQueue", "a", reclaimWithinCohort="Never"),
    ),
    case(
        "KL-15",
        [queue("a", 4, "org", **BOTH, threshold=100), queue("b", 4, "org"), *TWO],
        [queue("a", 4, "org", **BOTH, threshold=99), queue("b", 4, "org"), *TWO],
        of("ClusterQueue", "a", borrowWithinCohort=LOWER),
    ),
    case(
        "KL-16",
        [queue("a", 4, "org", reclaim="Any", weight="2"), queue("b", 4, "org"), configuration(),
         *TWO],
        [queue("a", 4, "org", reclaim="Any", weight="2"), queue("b", 4, "org"), fair_sharing(),
         *TWO],
        without_weights,
    ),
    case(
        "KL-17",
        [queue("a", 4, "org"), queue("b", 4, "org"), fair_sharing(), *TWO],
        [queue("a", 4, "org"), queue("b", 4, "org", reclaim="Any"), fair_sharing(), *TWO],
        without_fair_sharing,
    ),
    case(
        "KL-18",
        [queue("a", 4, within="LowerPriority"), *TWO, configuration(),
         running("w", "a", 1, annotations={"kueue.x-k8s.io/priority-boost": "5"})],
        [queue("a", 4, within="LowerPriority"), *TWO,
         running("w", "a", 1, annotations={"kueue.x-k8s.io/priority-boost": "5"}),
         configuration(featureGates={"PriorityBoost": True})],
        without_boosts,
    ),
    case(
        "KL-19",
        starving(strict),
        starving(queue),
        of("ClusterQueue", "a", queueingStrategy="BestEffortFIFO"),
    ),
    Case("KL-20", listed(*RACKS, room(), asks(5)), listed(*RACKS, room(), asks(4)), larger),
    Case(
        "KL-21",
        listed(topology(), flavor(nodeLabels=POOL), node("n1", labels=POOL, cpu=4), room()),
        listed(topology(), flavor(nodeLabels=POOL), node("n1", "r", labels=POOL, cpu=4),
               node("n2", cpu=4), room()),
        labelled,
    ),
    Case(
        "KL-22",
        listed(flavor(topology_name="racks"), *RACKS[2:], room()),
        listed(*RACKS, room()),
        of("ResourceFlavor", "default", topologyName=""),
    ),
    Case(
        "KL-23",
        listed(flavor("defaults", ""), queue("a", 4)),
        listed(flavor(topology_name=""), queue("a", 4)),
        with_flavor,
    ),
    Case(
        "KL-24",
        listed(queue("a", 4)),
        listed(flavor("defaults", ""), queue("a", 4)),
        with_flavor,
    ),
    case(
        "KL-25",
        [queue("a", 4, borrowing=2)],
        [queue("a", 4, "org", borrowing=2)],
        without_limits,
    ),
    Case(
        "KL-26",
        listed(flavor(topology_name=""), node("n1", gpu=8), queue("a", 9)),
        listed(flavor(topology_name=""), node("n1", gpu=8), queue("a", 8)),
        larger,
    ),
    case(
        "KL-27",
        [queue("a", {"memory": 64}, "org"), queue("b", {"memory": 64 * GIBI}, "org")],
        [queue("a", {"memory": 64 * GIBI}, "org"), queue("b", {"memory": 64 * GIBI}, "org")],
        of("ClusterQueue", "example", resourceGroups=quotas({"memory": 64 * GIBI})),
    ),
    Case(
        "KL-28",
        selecting(None),
        selecting({"matchLabels": {"team": "ml"}}),
        of("ClusterQueue", "a", namespaceSelector={}),
    ),
)  # fmt: skip
