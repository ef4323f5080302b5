"""The real kubectl, if there is one, against a stand-in for the API server."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.operations.kubectl.call import Kubectl
from planner.operations.kubectl.kueue_dump import Dump, take_dump
from planner.operations.kubectl.kueue_resource import OPTIONAL
from tests.cli.running import cluster
from tests.conftest import FOR_EVER_S
from tests.operations.kubectl.api_server import CHUNK, api_server
from tests.stand_in import CONFIGURATION, MANAGER, Object

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")

OBJECTS = [*cluster()["items"], CONFIGURATION, MANAGER]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name the configuration file; kubectl keeps its caches beside it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "a config"


def write(config: Path, server: str) -> None:
    """Write a configuration with two contexts, of which ``this`` is not the current one."""
    clusters = [
        {"name": "this", "cluster": {"server": server}},
        {"name": "none", "cluster": {"server": "http://127.0.0.1:1"}},
    ]
    contexts = [
        {"name": each["name"], "context": {"cluster": each["name"], "user": ""}}
        for each in clusters
    ]
    value = {"clusters": clusters, "contexts": contexts, "current-context": "none"}
    whole = {"apiVersion": "v1", "kind": "Config", **value}
    config.write_text(json.dumps(whole), encoding="utf-8")


def kubectl(config: Path) -> Kubectl:
    return Kubectl(context="this", kubeconfig=str(config), timeout_s=FOR_EVER_S)


def take(config: Path, *asked: str, objects: Iterable[Object] = OBJECTS, **how: Any) -> Dump:
    """Take what every dump has, and of all else what is asked for: each is a kubectl."""
    with api_server(objects, **how) as server:
        write(config, server)
        return take_dump(kubectl(config), without=set(OPTIONAL) - {*asked})


def test_all_objects_also_of_lists_in_pieces_and_those_of_a_namespace(config: Path) -> None:
    elsewhere = {"name": "elsewhere", "namespace": "elsewhere"}
    queues = [each for each in OBJECTS if each["kind"] == "LocalQueue"]
    objects = [*OBJECTS, {**queues[0], "metadata": elsewhere}]
    with api_server(objects) as server:
        write(config, server)
        dump = take_dump(kubectl(config))
        without = set(OPTIONAL) - {"limitranges"}
        counts = take_dump(kubectl(config), namespace="elsewhere", without=without).counts
    assert dump.counts["workloads"] == counts["workloads"] == 6 > CHUNK
    assert counts["localqueues"] == len(queues) + 1
    assert dump.notes == ()
    key = json.dumps
    assert sorted(key(each, sort_keys=True) for each in dump.objects) == sorted(
        key(each, sort_keys=True) for each in objects
    )


def test_types_and_objects_that_the_cluster_does_not_have(config: Path) -> None:
    asked = ("admissionchecks", "deployments", "configmaps")
    dump = take(config, *asked, objects=cluster()["items"], missing=["AdmissionCheck"])
    kind, manager, note = dump.notes
    assert kind.startswith("the cluster has no admissionchecks.kueue.x-k8s.io: ")
    assert manager.startswith("the cluster has no Deployment kueue-system/kueue-controller-manager")
    assert note.startswith("the cluster has no ConfigMap kueue-system/kueue-manager-config: ")


def test_kueue_is_not_installed(config: Path) -> None:
    with pytest.raises(InputError, match="Kueue is not installed in this cluster"):
        take(config, missing=["Workload"])


def test_forbidden(config: Path) -> None:
    with pytest.raises(InputError, match="is forbidden: ") as raised:
        take(config, "cohorts", forbidden=["Cohort"])
    assert 'User "ada" cannot list resource "cohorts"' in str(raised.value)
    assert "; or do without them: --without cohorts" in str(raised.value)


def test_current_context_is_kept_if_none_is_named(config: Path) -> None:
    with api_server(OBJECTS) as server:
        write(config, server)
        with pytest.raises(InputError, match="failed: The connection to the server 127"):
            take_dump(Kubectl(kubeconfig=str(config), timeout_s=FOR_EVER_S))
