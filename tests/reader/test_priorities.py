"""Priority classes become numbers where a workload carries only a name."""

from typing import Any

import pytest

from tests.reader.dumps import V1BETA1, Object, kueue, refused, state_of, workload


def kueue_class(name: str, value: int) -> Object:
    return kueue("WorkloadPriorityClass", name, value=value)


def pod_class(name: str, value: int) -> Object:
    header = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**header, "metadata": {"name": name}, "value": value}


def naming(kind: str, name: str, **spec: Any) -> Object:
    return workload(**spec, priorityClassRef={"kind": kind, "name": name})


CLASSES = [kueue_class("high", 1000), pod_class("high", 5), pod_class("low", -3)]


@pytest.mark.parametrize(
    ("named", "priority"),
    [
        (naming("WorkloadPriorityClass", "high"), 1000),
        (naming("PriorityClass", "high"), 5),
        (naming("PriorityClass", "low"), -3),
        (naming("PriorityClass", "system-cluster-critical"), 2_000_000_000),
        (naming("PriorityClass", "system-node-critical"), 2_000_001_000),
        (naming("WorkloadPriorityClass", "high", priority=0), 0),
        (naming("WorkloadPriorityClass", "high", priority=7), 7),
        (workload(version=V1BETA1, priorityClassName="high"), 1000),
        (workload(), None),
    ],
)
@pytest.mark.parametrize("classes_first", [True, False])
def test_class_of_the_right_kind_counts_and_a_number_counts_more(
    named: Object, priority: int | None, *, classes_first: bool
) -> None:
    objects = [*CLASSES, named] if classes_first else [named, *CLASSES]
    state = state_of(*objects)
    assert state.workloads[0].spec.priority == priority
    assert state.notes == ()


def test_nothing_else_of_the_workload_changes() -> None:
    spec: Object = {"queueName": "lq", "podSets": [{"count": 4}], "active": False}
    (named,) = state_of(*CLASSES, naming("PriorityClass", "low", **spec)).workloads
    (plain,) = state_of(naming("PriorityClass", "low", **spec, priority=-3)).workloads
    assert named == plain


def test_class_that_was_not_read_counts_zero_and_is_remarked_upon() -> None:
    first = naming("WorkloadPriorityClass", "gone")
    second = {**naming("WorkloadPriorityClass", "gone"), "metadata": {"name": "other"}}
    state = state_of(first, second)
    assert [each.spec.priority for each in state.workloads] == [0, 0]
    (note,) = state.notes
    assert 'WorkloadPriorityClass "gone"' in note
    assert "priority 0" in note
    assert "2 workloads" in note


def test_class_of_the_other_kind_does_not_help() -> None:
    state = state_of(pod_class("p", 9), naming("WorkloadPriorityClass", "p"))
    assert state.workloads[0].spec.priority == 0
    assert len(state.notes) == 1


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, "7", 1.5, None])
def test_class_without_a_32_bit_number_is_refused(value: Any) -> None:
    broken = {**kueue_class("high", 0), "value": value}
    error = refused(broken)
    assert error.where == "dump.json: items[0].value"
    assert "WorkloadPriorityClass high" in error.found
