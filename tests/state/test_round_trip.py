"""What was written as JSON is read back as the very same object, in the same units."""

import gzip
import json
from inspect import isabstract
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

import planner
import planner.cli.schemas  # every class of output is loaded then
from planner.plan.base import Record
from planner.quantity import format_quantity, parse_quantity
from planner.quota.kueue.assignment import Assignment
from planner.reader.kueue_release import GateRefused
from planner.reader.yunikorn_queues import DumpedQueue
from planner.state.kueue import State, of_kueue
from planner.state.yunikorn import YuniKornState
from tests.conftest import ROOT, examples
from tests.state.strategies import objects

INSTANCES = ROOT / "instances"
STATES = [
    INSTANCES / "quickstart" / "cluster.json",
    *sorted(INSTANCES.glob("fair-sharing/*.yaml")),
    *sorted(INSTANCES.glob("regressions/kueue-*.yaml")),
    *sorted(path for path in INSTANCES.glob("regressions/yunikorn-*") if path.is_dir()),
]
RELEASES = sorted(INSTANCES.glob("recorded/kueue-releases/*.jsonl.gz"))


def subclasses(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return the classes of output, those of every depth."""
    direct = model.__subclasses__()
    return [one for each in direct for one in (each, *subclasses(each))]


RECORDS = sorted(
    (
        one
        for one in subclasses(Record)
        if one.__module__.startswith("planner.")
        and one.model_fields
        # What is abstract or generic is made by its schedulers, each with its own. To read
        # AnyPlan would also settle, for every later test, which schedulers have plans.
        and not isabstract(one)
        and not one.__pydantic_generic_metadata__["parameters"]
    ),
    key=lambda one: f"{one.__module__}.{one.__name__}",
)


def assert_read_back(whole: BaseModel) -> None:
    model = type(whole)
    assert model.model_validate_json(whole.model_dump_json()) == whole
    assert model.model_validate_json(whole.model_dump_json(by_alias=True)) == whole
    assert model.model_validate(whole.model_dump()) == whole


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def made(model: type[BaseModel], value: Any) -> BaseModel | None:
    """Make an object; None where the parts contradict each other."""
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


@pytest.mark.parametrize("model", [State, YuniKornState, Assignment, *RECORDS])
@settings(examples(4), suppress_health_check=SLOW)
@given(data=st.data())
def test_any_object(model: type[BaseModel], data: st.DataObject) -> None:
    whole = made(model, data.draw(objects(model)))
    event("made" if whole else "contradicts itself")
    if whole is not None:
        assert_read_back(whole)


@settings(examples(30), suppress_health_check=SLOW)
@given(data=st.data())
def test_any_queue_of_a_dump_of_yunikorn(data: st.DataObject) -> None:
    """As queues.yaml would say it, which is how a state keeps it."""
    whole = made(DumpedQueue, data.draw(objects(DumpedQueue)))
    if isinstance(whole, DumpedQueue):
        assert_read_back(whole.config())


@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_states_of_the_instances(path: Path) -> None:
    assert_read_back(planner.read(path))


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_a_state_keeps_its_release(path: Path) -> None:
    for line in gzip.decompress(path.read_bytes()).splitlines():
        try:
            state = of_kueue(planner.read(line, requests="recorded"))
        except GateRefused:
            continue
        assert_read_back(state)
        found = State.model_validate_json(state.model_dump_json())
        known = [(one.configuration.release_known_by, one.release.name) for one in (state, found)]
        assert known == [("recorded", json.loads(line)["release"])] * 2
        assert found.configuration.requests_from == "recorded"
        assert answer(found, line) == answer(state, line)


def answer(state: State, line: bytes) -> str | planner.AnyPlan:
    """Return what the scheduler would do for the workload of a recorded instance, or why not."""
    try:
        return planner.greedy(state, json.loads(line).get("pending"))
    except planner.PlannerError as error:
        return str(error)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("release", "0.14.9", "the rules of Kueue 0.14.9 are not known"),
        ("release", "newest", "'newest' is not a release of Kueue such as 0.18.6"),
        ("release", 18, "should be a valid string"),
        ("releaseKnownBy", "rumour", "should be 'given', 'recorded', 'image'"),
        ("requestsFrom", "nowhere", "should be 'template' or 'recorded'"),
    ],
)
def test_rules_that_are_not_known_are_refused(field: str, value: object, message: str) -> None:
    written = planner.read(STATES[0]).model_dump(by_alias=True)
    written["configuration"][field] = value
    with pytest.raises(ValidationError, match=rf"configuration\.{field}\n.*{message}"):
        State.model_validate(written)


@given(st.integers(-(10**30), 10**30))
def test_a_quantity_is_written_exactly(nano: int) -> None:
    assert parse_quantity(format_quantity(nano)) == nano


@pytest.mark.parametrize(
    ("nano", "text"),
    [
        (0, "0"),
        (8 * 10**9, "8"),
        (1_500_000_000, "1500m"),
        (1_000, "1u"),
        (-1, "-1n"),
        (2**63 * 10**9, "9223372036854775808"),
    ],
)
def test_a_quantity_is_written_as_people_do(nano: int, text: str) -> None:
    assert format_quantity(nano) == text
