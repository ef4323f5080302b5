"""Files beside the state: objectives, costs, flavors, scripts, manifests, plans, journals."""

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.fuzz import hostile, octets, structure
from tests.fuzz.seeds import Made, Seed

TERMS: Final = (
    *(
        "last_resort",
        "highest_priority",
        "workloads",
        "pods",
        "priority_weight",
        "lost_work",
        "restart_cost",
        "milestone_cost",
        "excess_freed",
        "queues",
        "unfairness",
        "past_preemptions",
        "unstable",
        "candidate_order",
    ),
    *("toll", "run_time", "cut_short", "victims", "cost", "rated", "victims@each"),
)
GROUPS: Final = ("queue", "cohort", "namespace")
JOB: Final[dict[str, Any]] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "new", "namespace": "team", "labels": {}},
    "spec": {
        "parallelism": 2,
        "completions": 2,
        "template": {
            "spec": {
                "containers": [
                    {"name": "c", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}}}
                ],
                "priorityClassName": "high",
                "nodeSelector": {"a": "b"},
                "tolerations": [{"operator": "Exists"}],
            }
        },
    },
}
_RECLAIMED: Final = (
    "Preempted to accommodate a workload (UID: a-b, JobUID: c-d) due to reclamation within the "
    "cohort; preemptor path: /all/lender; preemptee path: /all/borrower"
)
_PRIORITIZED: Final = (
    "Previously: Preempted to accommodate a higher priority workload (UID: 7) due to "
    "prioritization in the ClusterQueue; preemptor effective priority: 5 (base: 5, boost: 0)"
)
_PREEMPTED: Final = "Preempted workload ns/big (UID: u) in ClusterQueue borrower"
MESSAGES: Final = (_RECLAIMED, _PRIORITIZED, _PREEMPTED)


def measure(chance: Random) -> str:
    """Return a measure, as levels and fronts have them."""
    return "+".join(chance.choice(TERMS) for _ in range(chance.choice((1, 1, 1, 2))))


def profile(seed: Seed, chance: Random) -> dict[str, Any]:
    """Return an objective of one's own that may be usable."""
    levels = [measure(chance) for _ in range(chance.randint(1, 4))]
    made: dict[str, Any] = {"levels": levels}
    if chance.random() < 0.4:
        made["caps"] = [measure(chance)]
    if chance.random() < 0.4:
        made["rates"] = {chance.choice(TERMS): chance.choice((1, 600, 10**9))}
        made["levels"].append("rated")
    if chance.random() < 0.4:
        protect: dict[str, Any] = {"min_runtime": chance.choice(("30m", "2h", "0s"))}
        if chance.random() < 0.5:
            protect["soft"] = {"min_runtime": "4h"}
            made["levels"].append("cut_short")
        made["protect"] = {**protect, "annotated": chance.random() < 0.5}
    if chance.random() < 0.4:
        group = chance.choice(GROUPS)
        made["budget"] = {"total": chance.randint(0, 3), group: {name(seed, chance): 1}}
    return made


def name(seed: Seed, chance: Random) -> str:
    """Return the name of something in a state."""
    found: list[str] = [
        container[key]
        for _, value in seed.parts
        for container, key in structure.places(value)
        if key in {"name", "cohortName", "queuename", "namespace", "clusterQueue"}
        and isinstance(container[key], str)
    ]
    return chance.choice(found or ["x"])


def toml(value: dict[str, Any], path: tuple[str, ...] = ()) -> str:
    """Write TOML; what it does not have is written as JSON writes it, and is an error then."""
    lines = [
        f"{_key(name)} = {_toml_value(one)}\n" for name, one in value.items() if not _table(one)
    ]
    head = f"[{'.'.join(map(_key, path))}]\n" if path else ""
    tables = [toml(one, (*path, name)) for name, one in value.items() if _table(one)]
    return "".join([head, *lines, *tables])


def _table(value: object) -> bool:
    return isinstance(value, dict) and bool(value)


def _key(text: object) -> str:
    return json.dumps(str(text))


def _toml_value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{_key(name)} = {_toml_value(v)}" for name, v in value.items()) + "}"
        )
    text: str = repr(value) if isinstance(value, float) else json.dumps(value)
    return text


def script(seed: Seed, chance: Random) -> dict[str, Any]:
    """Return a script of run times and arrivals."""
    keys = [*seed.keys(), "*", "team/*"]
    return {
        "run_seconds": chance.choice((1, 60, 3600)),
        "checkpoint_seconds": 600,
        "workload": [
            {"name": chance.choice(keys), "run_seconds": 7200, "arrive_seconds": 60},
            {"name": chance.choice(keys), "checkpoint_seconds": 60, "vacate_seconds": 3},
        ],
        "arrival": [
            {"like": chance.choice(keys), "at_seconds": 5, "every_seconds": 60, "count": 3}
        ],
    }


def costs(seed: Seed, chance: Random) -> dict[str, Any]:
    """Return costs of some workloads."""
    named = [key for key in seed.keys() if chance.random() < 0.5]  # noqa: SIM118 - no mapping
    return {key: chance.choice((0, 1, 7, 2**40)) for key in named}


def assignment(seed: Seed, chance: Random) -> dict[str, Any]:
    """Return flavors for a podset, in the form of a plan's assignment."""
    flavors = [one["metadata"]["name"] for one in seed.named("ResourceFlavor")] or ["x"]
    resources = ("cpu", "memory", "nvidia.com/gpu")
    choices = {one: {"flavor": chance.choice(flavors), "mode": "Preempt"} for one in resources}
    return {"podSets": [{"name": chance.choice(("main", "main", "driver")), "flavors": choices}]}


def manifest(seed: Seed, chance: Random) -> Any:
    """Return a job that is not there yet, or a workload that is, under another name."""
    job = json.loads(json.dumps(JOB))
    queues = seed.named("LocalQueue")
    if queues:
        queue = chance.choice(queues)["metadata"]
        job["metadata"]["namespace"] = queue.get("namespace", "default")
        job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = queue.get("name")
    if chance.random() < 0.8:
        del job["spec"]["template"]["spec"]["priorityClassName"]
    workloads = seed.named("Workload")
    kind = chance.random()
    if kind < 0.4 and workloads:
        again = json.loads(json.dumps(chance.choice(workloads)))
        again["metadata"]["name"] = "again"
        return again
    if kind < 0.6:
        return {
            "kind": "Pod",
            "apiVersion": "v1",
            **job["spec"]["template"],
            "metadata": job["metadata"],
        }
    return job["spec"]["template"] if kind < 0.7 else job


def edit(seed: Seed, chance: Random) -> str:
    """Return an edit for ``whatif --set``."""
    amount = chance.choice(("0", "1", "4", "16", "1000Gi", "1500m", "none", "8Ei", "-1", "1.5"))
    whole = chance.choice(("0", "5", "-7", "2147483647", "2147483648", "none"))
    flag = chance.choice(("true", "true", "false", "maybe"))
    key = chance.choice(seed.keys() or ["a/b"])
    if seed.scheduler == "yunikorn":
        path = chance.choice(seed.queue_paths() or ["root"])
        return chance.choice(
            (
                f"queue/{path}.{chance.choice(('guaranteed', 'max'))}.{_resource(chance)}={amount}",
                f"queue/{path}.preemption.policy={chance.choice(('default', 'fence', 'disabled'))}",
                f"queue/{path}.preemption.delay={chance.choice(('0s', '1s', '30m', 'h'))}",
                f"queue/{path}.priority.policy={chance.choice(('default', 'fence'))}",
                f"queue/{path}.priority.offset={whole}",
                f"partition/default.preemption.enabled={flag}",
                f"ask/{key}.priority={whole}",
                f"ask/{key}.allowPreemptOther={flag}",
                f"allocation/{key}.allowPreemptSelf={flag}",
                f"allocation/{key}.originator={flag}",
            )
        )
    kind = chance.choice(("ClusterQueue", "ClusterQueue", "ClusterQueue", "Cohort"))
    found = seed.named(kind) or [{"metadata": {"name": "x"}}]
    start = f"{kind.lower()}/{chance.choice(found)['metadata']['name']}"
    policy = chance.choice(("Never", "LowerPriority", "Any", "LowerOrNewerEqualPriority"))
    flavors = [one["metadata"]["name"] for one in seed.named("ResourceFlavor")] or ["x"]
    pair = f"{chance.choice(flavors)}/{_resource(chance)}"
    quota = chance.choice(("nominal", "borrowingLimit", "lendingLimit"))
    gate = chance.choice(("PriorityBoost", "LendingLimit", name(seed, chance)))
    return chance.choice(
        (
            f"{start}.preemption.withinClusterQueue={policy}",
            f"{start}.preemption.reclaimWithinCohort={policy}",
            f"{start}.preemption.borrowWithinCohort.policy={policy}",
            f"{start}.preemption.borrowWithinCohort.maxPriorityThreshold={whole}",
            *(f"{start}.quota.{pair}.{quota}={amount}",) * 4,
            f"{start}.fairSharing.weight={amount}",
            f"workload/{key}.priority={whole}",
            f"configuration.featureGates.{gate}={flag}",
            f"configuration.fairSharing.enable={flag}",
        )
    )


def _resource(chance: Random) -> str:
    return chance.choice(("nvidia.com/gpu", "cpu", "memory", "vcore", "pods"))


def damaged_edit(seed: Seed, chance: Random) -> str:
    """Return an edit with something odd in it."""
    said = edit(seed, chance)
    parts = said.replace("=", "\0=").replace(".", "\0.").split("\0")
    at = chance.randrange(len(parts))
    odd = hostile.text(chance).replace("\x00", "")
    parts[at : at + 1] = chance.choice(
        ([], [odd], [parts[at], odd], [parts[at]] * 2, [parts[at][:1] + odd])
    )
    return "".join(parts)


def costs_file(seed: Seed, chance: Random, *, damaged: bool) -> bytes:
    """Write costs."""
    return _json(costs(seed, chance), chance, damaged=damaged)


def assignment_file(seed: Seed, chance: Random, *, damaged: bool) -> bytes:
    """Write flavors."""
    return _json(assignment(seed, chance), chance, damaged=damaged)


def manifest_file(seed: Seed, chance: Random, *, damaged: bool) -> bytes:
    """Write manifests, of one workload mostly."""
    value = manifest(seed, chance)
    if chance.random() < 0.2:
        value = {"kind": "List", "apiVersion": "v1", "items": [value, manifest(seed, chance)]}
    return _json(value, chance, damaged=damaged)


def script_file(seed: Seed, chance: Random, *, damaged: bool) -> bytes:
    """Write a script as JSON, whatever the end of its name."""
    return _json(script(seed, chance), chance, damaged=damaged)


def profile_file(seed: Seed, chance: Random, *, damaged: bool) -> bytes:
    """Write an objective as TOML."""
    return _toml(profile(seed, chance), chance, damaged=damaged)


def toml_script_file(seed: Seed, chance: Random, *, damaged: bool) -> bytes:
    """Write a script as TOML."""
    return _toml(script(seed, chance), chance, damaged=damaged)


def made_file(made: Made, which: str, chance: Random, *, damaged: bool) -> bytes:
    """Return what a command wrote, of JSON or of JSON lines."""
    data = made.files[which]
    if not damaged:
        return data
    if chance.random() < 0.3:
        return octets.damage(data, chance, chance.choice(list(made.files.values())))
    try:
        lines = [json.loads(line) for line in data.splitlines()]
    except ValueError:
        return octets.as_json(structure.damage(json.loads(data), chance))
    lines = structure.damage(lines, chance)
    if not isinstance(lines, list):
        lines = [lines]
    return b"".join(octets.as_json(line) + b"\n" for line in lines)


Writer = Callable[..., bytes]


def _json(value: Any, chance: Random, *, damaged: bool) -> bytes:
    if not damaged:
        return octets.as_json(value)
    if chance.random() < 0.25:
        return octets.damage(octets.as_json(value), chance, octets.as_json(JOB))
    return octets.written(structure.damage(value, chance), chance)[0]


def _toml(value: dict[str, Any], chance: Random, *, damaged: bool) -> bytes:
    if not damaged:
        return toml(value).encode()
    if chance.random() < 0.3:
        return octets.damage(
            toml(value).encode(), chance, b'levels = ["last_resort"]\n[rates]\nworkloads = 1\n'
        )
    odd = structure.damage(value, chance)
    text = toml(odd if isinstance(odd, dict) else {"levels": odd})
    return text.encode("utf-8", "surrogatepass")
