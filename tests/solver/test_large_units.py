"""Amounts from 2^28 to 2^62: every value and every set against enumeration recorded beforehand.

Each line of ``large-units`` names for seven objectives the best value of every level among all
legal sets, and all sets that attain them. Memory in bytes is of this size in every real cluster.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.state.kueue import State
from tests import recorded
from tests.conftest import ROOT, TEST_ALL, recorded_root
from tests.names import in_names
from tests.oracle.cluster import Cluster
from tests.oracle.objectives import LEVELS, Enumeration, legal_sets
from tests.oracle.question import ask
from tests.solver.oracle_difference import flavors_of
from tests.solver.ways import solve

SAMPLE = ROOT / "instances" / "recorded" / "large-units"
FILES = {"known": 13, "public": 40, "realistic": 4}
"""How many lines of each file there are at least, in the sample."""

LONG = "public"
"""The file whose every objective on every line takes more than a minute, with proof trees."""

OBJECTIVES = (
    "no-regret",
    "least-disruption",
    "min-count",
    "min-lost-work",
    "min-cost",
    "weighted",
    "fewest-tenants",
)


def folder() -> Path:
    """Return the full recording, or the sample of it where that is absent."""
    root = recorded_root()
    full = root / "large-units" if root else SAMPLE
    return full if full.is_dir() else SAMPLE


def lines(name: str) -> Iterator[recorded.Line]:
    """Yield the lines of a file."""
    with gzip.open(folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, map(in_names, file))


@lru_cache(maxsize=1)
def read(name: str) -> list[tuple[recorded.Line, State]]:
    """Return the lines of a file with their states, which every objective is asked about."""
    return [(line, recorded.state_of(line)) for line in lines(name)]


def difference(line: recorded.Line, state: State, objective: str) -> str:
    """Say in what the planner's answer differs from the recorded best, in nothing if right."""
    best = line["best"][objective]
    costs = line["costs"] if objective == "min-cost" else None
    try:
        plan = solve(state, line["pending"], objective, costs)
    except Exception as error:  # noqa: BLE001 - whatever it is, it would be exit code 70
        return f"exit 70: {error!r}"
    if best is None:
        return "" if plan.status == "infeasible" else f"{plan.status}, and no set is legal"
    if plan.status != "optimal" or plan.certificate is None:
        return f"{plan.status}, and {best['sets'][0]} is legal"
    levels = [(level.term, level.value) for level in plan.certificate.levels]
    named = list(best["levels"].items())
    if levels[: len(named)] != named:
        return f"{levels} called optimal, best is {named} of {best['sets'][0]}"
    known = sorted(plan.keys) in [sorted(victims) for victims in best["sets"]]
    return "" if known else f"{plan.keys} are none of {best['sets']}"


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", FILES)
def test_every_level_is_the_recorded_best(name: str, objective: str) -> None:
    """Every line; of the many, ordinary runs take a few objectives, in turn."""
    compared, wrong = 0, []
    for number, (line, state) in enumerate(read(name)):
        compared += 1
        if name == LONG and not TEST_ALL and (number + OBJECTIVES.index(objective)) % 240:
            continue
        said = difference(line, state, objective)
        wrong += [f"{line['id']}: {said}"] if said else []
    assert not wrong, "\n".join([f"{len(wrong)} of {compared} differ:", *wrong])
    assert compared >= FILES[name]


@pytest.mark.parametrize("name", FILES)
def test_the_lines_hold_these_objectives_and_no_others(name: str) -> None:
    assert {tuple(line["best"]) for line in lines(name)} == {OBJECTIVES}


@pytest.mark.parametrize("name", FILES)
def test_the_oracle_finds_the_same(name: str) -> None:
    """Two enumerations that share no code: as many legal sets, the same values, sets and caps."""
    for line, state in read(name)[:: 24 if name == LONG and not TEST_ALL else 1]:
        greedy = planner.greedy(state, line["pending"])
        cluster = Cluster(line["state"]["items"], line["now"])
        legal = legal_sets(ask(cluster, line["pending"], flavors_of(greedy)))
        assert len(legal.sets) == line["legal"], line["id"]
        sets = Enumeration(legal, line["costs"])
        for objective, named in line["best"].items():
            best = sets.best(objective, legal.mask(frozenset(greedy.keys)) or None)
            assert (best is None) == (named is None), line["id"]
            if best is not None:
                assert named["levels"].items() <= dict(best.levels).items(), line["id"]
                victims = sorted(legal.keys(best.victims))
                assert victims in [sorted(each) for each in named["sets"]], line["id"]


@pytest.mark.parametrize("objective", LEVELS)
def test_a_state_that_ended_in_an_internal_error_has_the_right_answer(objective: str) -> None:
    """A variable fixed at 1 kept a coefficient beyond 64 bits, which a constant cancelled."""
    objects: dict[str, Any] = json.loads((folder() / "crash-int64.json").read_text("utf-8"))
    now = "2026-03-01T12:00:00Z"
    line = {"id": "crash-int64", "now": now, "state": objects}
    state = recorded.state_of(line)
    plan = solve(state, "ns/incoming", objective)
    legal = legal_sets(ask(Cluster(objects["items"], now), plan.preemptor, flavors_of(plan)))
    assert plan.greedy is not None
    best = Enumeration(legal).best(objective, legal.mask(frozenset(plan.greedy.keys)) or None)
    assert best is not None
    assert plan.status == "optimal"
    assert plan.certificate is not None
    assert [(level.term, level.value) for level in plan.certificate.levels] == [*best.levels]
    assert list(plan.keys) == legal.keys(best.victims)
    assert planner.verify(state, plan).accepted


def test_the_sample_is_what_its_script_takes(conformance: Path, tmp_path: Path) -> None:
    if not (conformance / "large-units").is_dir():
        pytest.skip("no large-units among the recorded answers")
    script = tmp_path / "sample.py"
    script.write_bytes((SAMPLE.parent / "sample.py").read_bytes())
    subprocess.run([sys.executable, str(script), str(conformance / "large-units")], check=True)
    made = {path.name: path.read_bytes() for path in (tmp_path / "large-units").iterdir()}
    assert made == {path.name: path.read_bytes() for path in SAMPLE.iterdir()}
