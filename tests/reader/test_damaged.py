"""Damaged dumps of both schedulers: a state or one clean error, and the same of commands.

What is damaged, and how, is that of ``tests/fuzz``, which tries whole commands in processes.
"""

from functools import cache
from itertools import islice
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.quota.yunikorn.cluster import prepare
from planner.reader import Ignored, read, read_objects
from planner.state.kueue import State
from planner.state.yunikorn import YuniKornState
from tests import recorded
from tests.cli.running import another_pending, call, cluster
from tests.cluster import configuration, running
from tests.conftest import examples
from tests.fuzz import octets, structure
from tests.reader.dumps import write
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

FILES = ("edge", "flavors", "classical-hier", "small-edge", "fair-flat")
LONGEST = 1000
SEEDS = st.integers(0, 10**9)


def kueue() -> list[Any]:
    """Return small clusters, and a few instances of each recorded file."""
    own = cluster(
        running("mine", "lender", 1, evicted=True), configuration(featureGates={}), asks=5
    )
    made = [own, cluster(another_pending("second", "borrower"))]
    known = [name for name in FILES if recorded.path_of(name)]
    return made + [line for name in known for line in islice(recorded.lines(name), 8)]


def yunikorn() -> list[Any]:
    """Return a dump with every part that the reader looks at, one less, and recorded instances."""
    shim = {
        "priorityClasses": {"low": {"name": "low", "value": 1}},
        "pods": {"team-a/run-0": {"namespace": "team-a", "name": "run-0", "uid": "run-0"}},
    }
    held = [allocation(f"run-{i}", f"team-a/run-{i}", i) for i in range(3)]
    config = {"Partitions": yaml.safe_load(QUEUES_YAML)["partitions"], "Checksum": "0"}
    whole = dump(
        application("app", "root.batch", held),
        application("wants", "root.prod", (), [claim("ask")]),
        config=config,
        rmDiagnostics={"cache": shim},
    )
    bare = {name: value for name, value in whole.items() if name != "config"}
    wanted = [name for name in NAMES if name in {"generic", "callback", "small-fenced"}]
    return [whole, bare, *(line for name in wanted for line in islice(lines(name, 40), 5))]


KNOWN = {"kueue": cache(kueue), "yunikorn": cache(yunikorn)}


def is_clean(error: InputError) -> None:
    """Hold an error to what all have: a place, what was found there, and a bound."""
    assert error.exit_code == 2
    assert error.where
    assert error.found
    assert len(str(error).encode()) < LONGEST


def judge(call: Any) -> None:
    """Read; say a state of Kueue again, and make one of YuniKorn ready for a decision."""
    try:
        state = call()
        if isinstance(state, State):
            assert State.model_validate_json(state.model_dump_json()).now == state.now
        else:
            assert isinstance(state, YuniKornState)
            for partition in state.partitions:
                prepare(state, partition.name)
    except InputError as error:
        is_clean(error)


@pytest.mark.parametrize("scheduler", KNOWN)
@given(seed=SEEDS)
def test_damaged_objects(scheduler: str, seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - no secret depends on it
    value = structure.damage(chance.choice(KNOWN[scheduler]()), chance)
    judge(lambda: read_objects(value, where="x", digest="x", ignored=Ignored()))


@pytest.mark.parametrize("scheduler", KNOWN)
@given(seed=SEEDS)
def test_damaged_text(tmp_path_factory: pytest.TempPathFactory, scheduler: str, seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - no secret depends on it
    data = octets.as_json(chance.choice(KNOWN[scheduler]()), chance)
    folder = tmp_path_factory.mktemp("damage")
    write(folder, "dump", octets.damage(data, chance))
    judge(lambda: read(folder / "dump"))


@given(seed=SEEDS)
def test_damaged_files_beside_a_dump(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - no secret depends on it
    beside = [
        yaml.safe_load(QUEUES_YAML),
        [
            priority_class("low", 1, {"yunikorn.apache.org/allow-preemption": "false"}),
            pod("team-a/run-0", "run-0", preemptionPolicy="Never"),
        ],
    ]
    place = chance.randrange(2)
    beside[place] = structure.damage(beside[place], chance)
    folder = tmp_path_factory.mktemp("damage")
    write(folder, "dump.json", KNOWN["yunikorn"]()[0])
    write(folder, "queues.yaml", octets.as_json(beside[0]))
    write(folder, "objects.json", octets.as_json(beside[1]))
    judge(lambda: read(folder, ignored=Ignored()))


def printed(command: tuple[str, ...], value: Any, style: str) -> tuple[int, str]:
    """Run a command on a damaged dump; it ends with an answer or a clean error."""
    result = call(*command, "-", "--format", style, stdin=octets.as_json(value).decode("utf-8"))
    assert "Traceback" not in result.stderr
    assert (result.stdout + result.stderr).replace("\n", "").isprintable()
    return result.exit_code, result.stdout


@examples(60)
@given(SEEDS, st.sampled_from(["table", "plain", "json"]))
def test_an_answer_or_a_clean_error(seed: int, style: str) -> None:
    chance = Random(seed)  # noqa: S311 - no secret depends on it
    found = chance.choice(KNOWN["kueue"]())
    value = structure.damage(found.get("state", found), chance)
    code, _ = printed(("solve", "--all"), value, style)
    assert code in {0, 2, 3, 6}  # 6: a dump may lack a ClusterQueue that it names
