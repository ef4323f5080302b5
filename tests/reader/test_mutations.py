"""Recorded dumps with random damage: a state or one clean error, never anything else."""

import copy
import gzip
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
from planner.reader import Ignored, read, read_objects
from planner.state.kueue import State
from tests.reader.dumps import write
from tests.recorded import path_of

FILES = ("edge", "flavors", "classical-hier", "small-edge", "fair-flat")
INTERESTING: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e300, float("inf")),
    *("", "x", "-1", "1Gib", "Never", "Any", "True", "2026-03-08T21:06:00Z", "\ud800", "9" * 200),
    *([], {}, [[]], [None], [{}], {"": ""}, {"kind": "List"}, {"name": "main"}, "a/b", "\x00"),
]


@cache
def recorded() -> list[Any]:
    """Return a few instances of each recorded file."""
    instances = []
    for name in FILES:
        path = path_of(name)
        if path is not None:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                instances += [json.loads(line) for _, line in zip(range(8), lines, strict=False)]
    if not instances:
        pytest.skip("no recorded answers: set PLANNER_CONFORMANCE to their folder")
    return instances


def places(value: Any) -> list[tuple[Any, Any]]:
    """List every place in a value as a container and a key of it."""
    found: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        container = todo.pop()
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in pairs:
            found.append((container, key))
            if isinstance(item, dict | list):
                todo.append(item)
    return found


def damage(value: Any, choice: random.Random) -> None:
    """Replace, delete, insert, move or double something at a random place."""
    everywhere = places(value)
    if not everywhere:
        return
    container, key = choice.choice(everywhere)
    action = choice.choice(["replace", "delete", "insert", "move", "double"])
    if action == "replace":
        container[key] = copy.deepcopy(choice.choice(INTERESTING))
    elif action == "delete":
        del container[key]
    elif action == "move":
        other, other_key = choice.choice(everywhere)
        container[key] = copy.deepcopy(other[other_key])
    elif isinstance(container, list):
        container.insert(key, copy.deepcopy(choice.choice([container[key], *INTERESTING])))
    else:
        container[choice.choice(["count", "name", "kind", "spec", "x"])] = copy.deepcopy(
            choice.choice([container[key], *INTERESTING])
        )


def check(error: InputError) -> None:
    message = str(error)
    assert error.exit_code == 2
    assert error.where
    assert error.found
    assert message.encode()
    assert len(message) < 1000


@given(st.integers(0, 10**9), st.integers(1, 4))
def test_damaged_objects(seed: int, times: int) -> None:
    choice = random.Random(seed)  # noqa: S311 - no secret depends on it
    instance = copy.deepcopy(choice.choice(recorded()))
    for _ in range(times):
        damage(instance, choice)
    try:
        state = read_objects(instance, where="x", digest="x", ignored=Ignored())
    except InputError as error:
        check(error)
    else:
        assert isinstance(state, State)
        assert State.model_validate_json(state.model_dump_json()).now == state.now


@given(st.integers(0, 10**9))
def test_damaged_text(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Bytes of JSON or YAML are cut out, doubled, or changed."""
    choice = random.Random(seed)  # noqa: S311 - no secret depends on it
    instance = choice.choice(recorded())
    instance = {"now": instance["now"], "state": {**instance["state"]}}
    instance["state"]["items"] = choice.sample(instance["state"]["items"], 3)
    text = json.dumps(instance) if choice.random() < 0.5 else yaml.safe_dump(instance)
    data = bytearray(text.encode())
    for _ in range(choice.randint(1, 3)):
        start = choice.randrange(len(data))
        end = min(len(data), start + choice.choice([0, 1, 1, 2, 50]))
        junk = bytes(choice.choices(b'{}[]",:&*!|>-# \n\t\x00\xff09a', k=choice.randint(0, 3)))
        data[start:end] = choice.choice([junk, data[start:end] * 2])
    path: Path = write(tmp_path_factory.mktemp("damage"), "dump", bytes(data))
    try:
        assert isinstance(read(path), State)
    except InputError as error:
        check(error)
