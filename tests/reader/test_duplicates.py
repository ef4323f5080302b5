"""One object of a kind and name; the error names both places."""

from pathlib import Path

import pytest

from planner.reader import read, read_objects
from tests.reader.dumps import (
    CONFIG,
    NOW,
    V1BETA1,
    Object,
    cluster_queue,
    error_of,
    kueue,
    listed,
    refused,
    state_of,
    workload,
    write,
)
from tests.told import told

CONFIGURATION: Object = {"apiVersion": f"{CONFIG}/v1beta2", "kind": "Configuration"}


@pytest.mark.parametrize(
    "kind", ["ClusterQueue", "Cohort", "LocalQueue", "Workload", "ResourceFlavor", "AdmissionCheck"]
)
def test_two_of_one_name(kind: str) -> None:
    error = refused(kueue(kind, "a"), cluster_queue("between"), kueue(kind, "a"))
    name = "team-a/a" if kind in {"LocalQueue", "Workload"} else "a"
    told(error.where)
    assert f"{kind} {name} stands twice" in error.found
    told(error.found)


def test_other_versions_and_equal_copies_are_no_excuse() -> None:
    assert "stands twice" in refused(cluster_queue("a"), cluster_queue("a", V1BETA1)).found


def test_absent_namespace_is_the_same_as_default() -> None:
    bare = {**workload("a"), "metadata": {"name": "a"}}
    placed = {**workload("a"), "metadata": {"name": "a", "namespace": "default"}}
    assert "Workload default/a" in refused(bare, placed).found


def test_namespace_of_a_kind_without_namespaces_does_not_tell_two_apart() -> None:
    first = {**cluster_queue("a"), "metadata": {"name": "a", "namespace": "x"}}
    assert "stands twice" in refused(first, cluster_queue("a")).found


def test_same_name_in_other_namespaces_or_kinds_is_fine() -> None:
    other = {**workload("a"), "metadata": {"name": "a", "namespace": "team-b"}}
    state = state_of(workload("a"), other, kueue("LocalQueue", "a"), cluster_queue("a"))
    assert [each.key for each in state.workloads] == ["team-a/a", "team-b/a"]


def test_two_files_of_a_directory(tmp_path: Path) -> None:
    first = write(tmp_path, "1.yaml", "# two\n---\n" + str(workload("a")))
    second = write(tmp_path, "2.json", listed(workload("b"), workload("a")))
    error = error_of(lambda: read(tmp_path, now=NOW))
    assert error.where == f"{second}: items[1]"
    assert str(first) in error.found


def test_two_documents_of_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", f"{workload('a')}\n---\n---\n{workload('a')}\n")
    error = error_of(lambda: read(path, now=NOW))
    assert error.where == f"{path}: document 3"
    assert f"{path}: document 1" in error.found


def test_two_configurations() -> None:
    error = refused(CONFIGURATION, cluster_queue(), CONFIGURATION)
    told(error.where)
    assert "a second Configuration" in error.found
    told(error.found)


def test_configuration_beside_its_config_map() -> None:
    text = f"apiVersion: {CONFIG}/v1beta2\nkind: Configuration\n"
    data = {"controller_manager_config.yaml": text}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data}
    error = refused(CONFIGURATION, config_map)
    told(error.where)


def test_same_objects_read_twice_are_no_duplicates() -> None:
    value = listed(workload("a"))
    first = read_objects(value, where="x", now=NOW)
    assert read_objects(value, where="x", now=NOW) == first
