"""Kinds are told apart by upper and lower case, as Kubernetes tells them apart."""

from pathlib import Path

import pytest
import yaml

from planner.reader import read
from planner.reader.kueue_collect import MANAGER_CONFIG
from planner.reader.kueue_kinds import CONFIG, KINDS
from tests.reader.dumps import (
    Object,
    cluster_queue,
    error_of,
    listed,
    refused,
    state_of,
    workload,
    write,
)
from tests.reader.yunikorn_dumps import QUEUES_YAML, application, claim, dump
from tests.told import told

READ = [*KINDS, ("", "ConfigMap"), ("", "List"), *((group, f"{kind}List") for group, kind in KINDS)]


def of_kind(group: str, kind: str, version: str = "v1") -> Object:
    return {"apiVersion": f"{group}/{version}".lstrip("/"), "kind": kind, "metadata": {"name": "a"}}


@pytest.mark.parametrize(("group", "kind"), READ)
def test_a_kind_in_another_case_is_refused(group: str, kind: str) -> None:
    for written in {kind.lower(), kind.upper()}:
        for odd in (of_kind(group, written), {"kind": written, "metadata": {"name": "a"}}):
            error = refused(workload(), odd)
            assert error.where == "dump.json: items[1].kind"
            assert (error.found, error.expected) == (f'"{written}" is no kind', kind)
            assert "kubectl refuses" in error.hint


@pytest.mark.parametrize("listed_so", ["List", "clusterQueueList"])
def test_in_a_list_too(listed_so: str) -> None:
    items = [{**cluster_queue(), "kind": "clusterQueue"}]
    error = refused(workload(), {**of_kind("kueue.x-k8s.io", listed_so), "items": items})
    assert error.where == "dump.json: items[1].items[0].kind"
    assert error.expected == "ClusterQueue"


@pytest.mark.parametrize(("group", "kind"), READ)
def test_a_kind_of_somebody_else_may_be_written_so(group: str, kind: str) -> None:
    odd = of_kind(f"{group or 'core'}.example.com", kind.lower())
    state = state_of(workload(), cluster_queue(), odd)
    assert state.other_kinds == {f"{kind.lower()}.{group or 'core'}.example.com": 1}


def test_in_one_message(tmp_path: Path) -> None:
    text = yaml.safe_dump_all([workload(), cluster_queue() | {"kind": "clusterqueue"}])
    told(error_of(lambda: read(write(tmp_path, "cluster.yaml", text))))


def test_in_the_config_map_of_the_manager() -> None:
    text = yaml.safe_dump({"apiVersion": f"{CONFIG}/v1beta2", "kind": "configuration"})
    error = refused(workload(), of_kind("", "ConfigMap") | {"data": {MANAGER_CONFIG: text}})
    assert error.where.endswith(f'data["{MANAGER_CONFIG}"].kind')
    assert error.expected == "Configuration"


@pytest.mark.parametrize("kind", ["priorityclass", "pod", "node", "namespace", "configmap", "list"])
def test_beside_a_dump_of_yunikorn(tmp_path: Path, kind: str) -> None:
    group = "scheduling.k8s.io" if kind == "priorityclass" else ""
    write(tmp_path, "1.json", dump(application("app", "root.batch", (), [claim("ask-0")])))
    write(tmp_path, "2.yaml", QUEUES_YAML)
    write(tmp_path, "3.json", listed(of_kind(group, kind)))
    error = error_of(lambda: read(tmp_path))
    assert error.where == f"{tmp_path / '3.json'}: items[0].kind"
    assert error.found == f'"{kind}" is no kind'
