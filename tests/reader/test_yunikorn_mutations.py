"""State dumps of YuniKorn with random damage: a state or one clean error, never anything else."""

import copy
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.quota.yunikorn.cluster import prepare
from planner.reader import Ignored, read, read_objects
from planner.state.yunikorn import YuniKornState
from tests.reader.dumps import write
from tests.reader.test_mutations import INTERESTING, check, places
from tests.reader.yunikorn_dumps import (
    QUEUES_YAML,
    allocation,
    application,
    claim,
    dump,
    pod,
    priority_class,
)
from tests.yunikorn.recorded import NAMES, lines

Json = dict[str, Any]

MORE: list[Any] = [
    *INTERESTING,
    *("root", "root.prod", "ROOT", "a.b", "1m", "1.5", "-1m", "true", "Never", "default", "[x]gpu"),
    *({"vcore": 2**63 - 1}, {"vcore": -(2**63)}, {"vcore": "1"}, {"vcore": None}, {"": 0}),
    *({"name": "root", "queues": [{"name": "root"}]}, ["n1", "n1"], {"queuename": "root.prod"}),
]
NAMES_TO_ADD = ("x", "name", "kind", "queues", "children", "parent", "partition", "properties")


def whole_dump() -> Json:
    """Return a dump that has every part the reader looks at."""
    running = [allocation(f"run-{i}", f"team-a/run-{i}", i) for i in range(3)]
    shim = {
        "priorityClasses": {"low": {"name": "low", "value": 1}},
        "pods": {"team-a/run-0": {"namespace": "team-a", "name": "run-0", "uid": "run-0"}},
    }
    config = {"Partitions": yaml.safe_load(QUEUES_YAML)["partitions"], "Checksum": "0"}
    return dump(
        application("app", "root.batch", running),
        application("wants", "root.prod", (), [claim("ask")]),
        config=config,
        rmDiagnostics={"cache": shim},
    )


@cache
def instances() -> list[Json]:
    """Return dumps, with and without a configuration, and some recorded instances."""
    whole = whole_dump()
    bare = {name: value for name, value in whole.items() if name != "config"}
    wanted = [name for name in NAMES if name in {"generic", "callback", "small-fenced"}]
    recorded = [line for name in wanted for line in list(lines(name, 40))[:5]]
    return [whole, bare, *recorded]


def damage(value: Any, choice: random.Random) -> None:
    """Replace, delete, insert, move or double something at a random place."""
    everywhere = places(value)
    if not everywhere:
        return
    container, key = choice.choice(everywhere)
    other, other_key = choice.choice(everywhere)
    thing = copy.deepcopy(choice.choice([container[key], other[other_key], *MORE]))
    action = choice.choice(["replace", "replace", "delete", "insert"])
    if action == "delete":
        del container[key]
    elif action == "replace":
        container[key] = thing
    elif isinstance(container, list):
        container.insert(key, thing)
    else:
        container[choice.choice(NAMES_TO_ADD)] = thing


def judge(call: Any) -> None:
    """Read, and make what was read ready for a decision."""
    try:
        state = call()
        if not isinstance(state, YuniKornState):
            return
        again = YuniKornState.model_validate_json(state.model_dump_json(by_alias=True))
        assert again.now == state.now
        for partition in state.partitions:
            prepare(state, partition.name)
    except InputError as error:
        check(error)


@given(st.integers(0, 10**9), st.integers(1, 4))
def test_damaged_dumps(seed: int, times: int) -> None:
    choice = random.Random(seed)  # noqa: S311 - no secret depends on it
    value = copy.deepcopy(choice.choice(instances()))
    for _ in range(times):
        damage(value, choice)
    judge(lambda: read_objects(value, where="x", digest="x", ignored=Ignored()))


@given(st.integers(0, 10**9), st.integers(1, 3))
def test_damaged_files_beside_a_dump(
    tmp_path_factory: pytest.TempPathFactory, seed: int, times: int
) -> None:
    choice = random.Random(seed)  # noqa: S311 - no secret depends on it
    queues = yaml.safe_load(QUEUES_YAML)
    objects = [
        priority_class("low", 1, {"yunikorn.apache.org/allow-preemption": "false"}),
        pod("team-a/run-0", "run-0", preemptionPolicy="Never"),
    ]
    for _ in range(times):
        damage(choice.choice([queues, objects]), choice)
    folder = tmp_path_factory.mktemp("damage")
    write(folder, "dump.json", whole_dump())
    write(folder, "queues.yaml", as_text(queues))
    write(folder, "objects.json", as_text(objects))
    judge(lambda: read(folder, ignored=Ignored()))


def as_text(value: object) -> bytes:
    """Write JSON; what has no text stays wrong in another way."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


@given(st.integers(0, 10**9))
def test_damaged_text(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Bytes of JSON are cut out, doubled, or changed."""
    choice = random.Random(seed)  # noqa: S311 - no secret depends on it
    data = bytearray(json.dumps(choice.choice(instances()[:2])).encode())
    for _ in range(choice.randint(1, 3)):
        start = choice.randrange(len(data))
        end = min(len(data), start + choice.choice([0, 1, 1, 2, 50]))
        junk = bytes(choice.choices(b'{}[]",:&*!|>-# \n\t\x00\xff09a', k=choice.randint(0, 3)))
        data[start:end] = choice.choice([junk, data[start:end] * 2])
    path: Path = write(tmp_path_factory.mktemp("damage"), "dump", bytes(data))
    judge(lambda: read(path))
