"""Reading keeps little: equal shapes are one object, and nothing is kept twice."""

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter

from planner.reader.kueue import read_kueue_objects
from planner.state.base import Metadata, shared
from planner.state.kueue import Workload
from tests.cluster import NOW, dump_of, pending, queue, running


def workloads(*names: str, amount: int = 1) -> list[Workload]:
    """Return running workloads of one shape, as they are read."""
    parts = (queue("alone", 9), *(running(name, "alone", amount) for name in names))
    state = read_kueue_objects(dump_of(*parts, pending("alone", 1)), where="dump", now=NOW)
    return [one for one in state.workloads if one.holds_quota]


def test_equal_templates_are_one_object() -> None:
    first, second = workloads("a", "b")
    assert first.spec.pod_sets[0].template is second.spec.pod_sets[0].template
    (other,) = workloads("c", amount=2)
    assert other.spec.pod_sets[0].template != first.spec.pod_sets[0].template


def test_equal_numbers_of_other_types_are_not_taken_for_equal() -> None:
    """1, 1.0 and true are equal in Python; as amounts they are not."""
    for amount, good in ((1, True), (1.0, True), (True, False)):
        template: Any = {"spec": {"containers": [{"resources": {"requests": {"gpu": amount}}}]}}
        try:
            Workload.model_validate(
                {"metadata": {"name": "w"}, "spec": {"podSets": [{"template": template}]}}
            )
        except ValueError:
            assert not good
        else:
            assert good


def test_what_was_said_is_forgotten_and_copies_are_whole() -> None:
    (one,) = workloads("a")
    assert one.model_fields_set == set()
    copy = one.model_copy(update={"spec": one.spec.model_copy(update={"priority": 7})})
    assert copy.spec.priority == 7
    assert copy.model_dump(exclude={"spec"}) == one.model_dump(exclude={"spec"})
    assert one.model_fields_set == set()


def test_a_copy_is_asked_anew_what_it_is_called_and_whether_it_holds_quota() -> None:
    (one,) = workloads("a")
    assert (one.key, one.holds_quota, one.is_pending) == ("ns/a", True, False)
    status = one.status.model_copy(update={"admission": None})
    metadata = one.metadata.model_copy(update={"name": "b"})
    copy = one.model_copy(update={"status": status, "metadata": metadata})
    assert (copy.key, copy.holds_quota, copy.is_pending) == ("ns/b", False, True)


def test_equal_holdings_are_one_object() -> None:
    first, second = workloads("a", "b")
    assert first.status.admission is second.status.admission
    assert first.spec.pod_sets is second.spec.pod_sets
    (other,) = workloads("c", amount=2)
    assert other.status.admission != first.status.admission


def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.state.base.MOST_SHARED", 3_000)
    monkeypatch.setattr("planner.state.base.LONGEST_SHARED", 2_000)
    read = TypeAdapter(Annotated[tuple[Metadata, ...], shared()]).validate_python
    name = "n" * 100
    first = read([{"name": name}])
    assert read([{"name": name}]) is first
    long = [{"name": name, "uid": "u" * 2_000}]
    assert read(long) is not read(long)
    for number in range(30):
        assert read([{"name": f"{name}{number}"}])[0].name == f"{name}{number}"
    again = read([{"name": name}])
    assert again == first
    assert again is not first
