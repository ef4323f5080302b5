"""The small traces of instances/traces, the real ones where there are any, and states of them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.quantity import parse_quantity, to_units
from planner.research.import_ import Openb, Philly, read_nodes, read_outline
from planner.research.import_.kueue import import_states, instants_of
from planner.research.import_.kueue_knobs import Knobs
from tests.conftest import ROOT, recorded_root

Object = dict[str, Any]
SMALL = ROOT / "instances" / "traces"
PHILLY = SMALL / "philly.csv"
PODS = SMALL / "openb-pods.csv"
NODES = SMALL / "openb-nodes.csv"
PHILLY_HEADER = "timestamp,duration,num_gpus,cluster"
PODS_HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_spec,qos,deletion_time,scheduled_time"


def real(name: str) -> str:
    """Return the path of a real trace; without it the test is skipped."""
    root = recorded_root()
    path = None if root is None else root.parent / "traces" / name
    if path is None or not path.is_file():
        pytest.skip(f"no {name}: it may not be passed on; its folder is traces, beside the answers")
    return str(path)


def write(folder: Path, *rows: str, name: str = "trace.csv") -> str:
    """Write rows as a file."""
    path = folder / name
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return str(path)


def openb(nodes: str | Path = NODES, **more: Any) -> Openb:
    """Return how openb is read with the nodes of a file."""
    return Openb(read_nodes(str(nodes)), **more)


def states(trace: Philly | Openb, path: str | Path, count: int, **knobs: Any) -> Iterator[Object]:
    """Yield the states of some instants, each as a v1 List; moments without any are left out."""
    settings = Knobs(**knobs)
    outline = read_outline(trace, str(path), arrivals=count, seed=settings.seed)
    for state in import_states(trace, str(path), outline, instants_of(outline), settings):
        if state.objects:
            yield {"apiVersion": "v1", "kind": "List", "items": state.objects}


def of_kind(state: Object, kind: str) -> list[Object]:
    """Return the objects of a kind."""
    return [item for item in state["items"] if item["kind"] == kind]


def pending_of(state: Object) -> list[Object]:
    """Return who waits."""
    return [item for item in of_kind(state, "Workload") if "status" not in item]


def amounts(quantities: dict[str, str]) -> Counter[str]:
    """Return a resource list in Kueue's units."""
    return Counter({name: to_units(parse_quantity(q), name) for name, q in quantities.items()})


def held(state: Object) -> Iterator[tuple[Object, Counter[tuple[str, str]]]]:
    """Yield who holds quota, and how much by flavor and resource."""
    for workload in of_kind(state, "Workload"):
        total: Counter[tuple[str, str]] = Counter()
        for pods in workload.get("status", {}).get("admission", {}).get("podSetAssignments", ()):
            for name, amount in amounts(pods["resourceUsage"]).items():
                total[pods["flavors"][name], name] += amount
        if total:
            yield workload, total


def quotas(queue: Object) -> dict[tuple[str, str], dict[str, int]]:
    """Return nominal quota and limits of a ClusterQueue by flavor and resource."""
    found = {}
    for group in queue["spec"]["resourceGroups"]:
        for flavor in group["flavors"]:
            for row in flavor["resources"]:
                limits = {key: row[key] for key in row if key != "name"}
                found[flavor["name"], row["name"]] = {
                    key: amounts({row["name"]: text})[row["name"]] for key, text in limits.items()
                }
    return found
