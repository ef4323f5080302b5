"""The podsets that Kueue's integrations make of each kind of object, as their sources say."""

import re
from typing import Any

import pytest

from planner.commands.whatif.edit import read_submissions
from planner.commands.whatif.kueue_hypothetical import add_workloads
from planner.commands.whatif.kueue_manifests import KINDS, UNREAD
from planner.errors import InputError, SchemaError
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader.items import Item
from planner.state.kueue import State, Workload
from planner.state.kueue_workload import TopologyRequest
from tests.cluster import Object
from tests.commands.whatif.test_hypothetical import (
    QUEUE,
    cluster,
    job,
    kueue_class,
    pod_class,
    with_odd_values,
)
from tests.conftest import ROOT
from tests.told import told

HIGH = {**QUEUE, "kueue.x-k8s.io/priority-class": "high"}


def pods_of(gpu: int, cpu: str = "", annotations: Object | None = None, **spec: Any) -> Object:
    """Return a pod template."""
    requests = {"gpu": gpu} | ({"cpu": cpu} if cpu else {})
    containers = [{"name": "main", "resources": {"requests": requests}}]
    metadata = {"annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


def thing(kind: str, version: str, labels: Object | None = None, **spec: Any) -> Object:
    metadata = {"name": "x", "namespace": "ns", "labels": QUEUE if labels is None else labels}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def made(value: Object, state: State | None = None) -> list[Workload]:
    after, keys = add_workloads(state or cluster(), [Item("file", (), value)])
    found = [*after.workloads[-len(keys) :]]
    assert [one.key for one in found] == list(keys)
    return found


def rows(value: Object) -> list[tuple[str, int, dict[str, int]]]:
    """Return the name, count and totals of each podset, as Kueue counts them."""
    after, keys = add_workloads(cluster(), [Item("file", (), value)])
    preemptor = find_preemptor(after, take_snapshot(after), keys[0])
    return [(one.name, one.count, dict(one.totals)) for one in preemptor.pod_sets]


def ray(**more: Any) -> Object:
    groups = [
        {"groupName": "Small", "replicas": 2, "template": pods_of(1)},
        {"groupName": "hosts", "replicas": 2, "numOfHosts": 3, "template": pods_of(2)},
        {"groupName": "one", "template": pods_of(4)},
    ]
    head = {"template": pods_of(0, "2")}
    return {"headGroupSpec": head, "workerGroupSpecs": groups, **more}


WORKERS = [("small", 2, {"gpu": 2}), ("hosts", 6, {"gpu": 12}), ("one", 1, {"gpu": 4})]
HEAD = ("head", 1, {"gpu": 0, "cpu": 2000})
MIB = 2**20
JOBS = [
    {"name": "driver", "template": {"spec": {"template": pods_of(0, "1")}}},
    {"name": "Workers", "replicas": 3,
     "template": {"spec": {"parallelism": 4, "completions": 2, "template": pods_of(1)}}},
]  # fmt: skip
CASES = {
    "JobSet": (
        thing("JobSet", "jobset.x-k8s.io/v1alpha2", replicatedJobs=JOBS),
        [("driver", 1, {"gpu": 0, "cpu": 1000}), ("workers", 6, {"gpu": 6})],
    ),
    "RayCluster": (thing("RayCluster", "ray.io/v1", **ray()), [HEAD, *WORKERS]),
    "RayService": (thing("RayService", "ray.io/v1", rayClusterConfig=ray()), [HEAD, *WORKERS]),
    "RayJob": (
        thing("RayJob", "ray.io/v1", rayClusterSpec=ray()),
        [HEAD, *WORKERS, ("submitter", 1, {"cpu": 500, "memory": 200 * MIB})],
    ),
    "RayJob with a submitter": (
        thing("RayJob", "ray.io/v1", rayClusterSpec=ray(), submissionMode="K8sJobMode",
              submitterPodTemplate=pods_of(0, "1")),
        [HEAD, *WORKERS, ("submitter", 1, {"gpu": 0, "cpu": 1000})],
    ),
    "RayJob by HTTP": (
        thing("RayJob", "ray.io/v1", rayClusterSpec=ray(), submissionMode="HTTPMode"),
        [HEAD, *WORKERS],
    ),
    "RayJob with a sidecar": (
        thing("RayJob", "ray.io/v1", rayClusterSpec=ray(), submissionMode="SidecarMode"),
        [("head", 1, {"gpu": 0, "cpu": 2500, "memory": 200 * MIB}), *WORKERS],
    ),
    "an autoscaler": (
        thing("RayCluster", "ray.io/v1", **ray(enableInTreeAutoscaling=True)),
        [("head", 1, {"gpu": 0, "cpu": 2500, "memory": 512 * MIB}), *WORKERS],
    ),
    "an autoscaler of its own size": (
        thing("RayCluster", "ray.io/v1", **ray(
            enableInTreeAutoscaling=True,
            autoscalerOptions={"resources": {"requests": {"cpu": "1"}}},
        )),
        [("head", 1, {"gpu": 0, "cpu": 3000}), *WORKERS],
    ),
    "a head that is kept in Redis": (
        thing("RayCluster", "ray.io/v1", **ray(gcsFaultToleranceOptions={})),
        [("head", 1, {"gpu": 0, "cpu": 2000, "memory": 256 * MIB}), *WORKERS],
    ),
    "PyTorchJob": (
        thing("PyTorchJob", "kubeflow.org/v1", pytorchReplicaSpecs={
            "Worker": {"replicas": 3, "template": pods_of(2)}, "Master": {"template": pods_of(1)},
        }),
        [("master", 1, {"gpu": 1}), ("worker", 3, {"gpu": 6})],
    ),
    "TFJob": (
        thing("TFJob", "kubeflow.org/v1", tfReplicaSpecs={
            name: {"replicas": number, "template": pods_of(1)}
            for number, name in enumerate(("Evaluator", "Worker", "PS", "Master", "Chief"), 1)
        }),
        [("chief", 5, {"gpu": 5}), ("master", 4, {"gpu": 4}), ("ps", 3, {"gpu": 3}),
         ("worker", 2, {"gpu": 2}), ("evaluator", 1, {"gpu": 1})],
    ),
    "XGBoostJob": (
        thing("XGBoostJob", "kubeflow.org/v1",
              xgbReplicaSpecs={"Worker": {"template": pods_of(1)}}),
        [("worker", 1, {"gpu": 1})],
    ),
    "PaddleJob": (
        thing("PaddleJob", "kubeflow.org/v1", paddleReplicaSpecs={
            "Worker": {"replicas": 2, "template": pods_of(1)}, "Master": None,
        }),
        [("worker", 2, {"gpu": 2})],
    ),
    "JAXJob": (
        thing("JAXJob", "kubeflow.org/v1",
              jaxReplicaSpecs={"Worker": {"replicas": 4, "template": pods_of(1)}}),
        [("worker", 4, {"gpu": 4})],
    ),
    "MPIJob": (
        thing("MPIJob", "kubeflow.org/v2beta1", mpiReplicaSpecs={
            "Worker": {"replicas": 2, "template": pods_of(2)},
            "Launcher": {"template": pods_of(0, "1")},
        }),
        [("launcher", 1, {"gpu": 0, "cpu": 1000}), ("worker", 2, {"gpu": 4})],
    ),
    "StatefulSet": (
        thing("StatefulSet", "apps/v1", replicas=3, template=pods_of(2)),
        [("main", 3, {"gpu": 6})],
    ),
    "Deployment": (
        thing("Deployment", "apps/v1", replicas=3, template=pods_of(2)),
        [("main", 1, {"gpu": 2})],
    ),
    "LeaderWorkerSet": (
        thing("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", replicas=2, leaderWorkerTemplate={
            "size": 4, "leaderTemplate": pods_of(0, "1"), "workerTemplate": pods_of(2)}),
        [("leader", 1, {"gpu": 0, "cpu": 1000}), ("worker", 3, {"gpu": 6})],
    ),
    "LeaderWorkerSet without a leader": (
        thing("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", leaderWorkerTemplate={
            "size": 4, "workerTemplate": pods_of(2)}),
        [("main", 4, {"gpu": 8})],
    ),
    "AppWrapper": (
        thing("AppWrapper", "workload.codeflare.dev/v1beta2", components=[
            {"template": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}},
            {"template": job(parallelism=2, template=pods_of(3))},
            {"template": thing("Deployment", "apps/v1", replicas=4, template=pods_of(1))},
            {"podSets": [{"replicas": 2, "path": "template.spec.roles[1].pods"}],
             "template": {"kind": "Own", "spec": {"roles": [{}, {"pods": pods_of(1)}]}}},
        ]),
        [("x-0", 2, {"gpu": 6}), ("x-1", 4, {"gpu": 4}), ("x-2", 2, {"gpu": 2})],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_podsets(name: str) -> None:
    value, expected = CASES[name]
    assert rows(value) == expected


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("JobSet", "jobset"), ("RayJob", "rayjob"), ("PyTorchJob", "pytorchjob"),
     ("MPIJob", "mpijob"), ("StatefulSet", "statefulset")],
)  # fmt: skip
def test_one_workload_is_called_as_kueue_calls_it(name: str, prefix: str) -> None:
    (workload,) = made(CASES[name][0])
    assert workload.key == f"ns/{prefix}-x"
    assert (workload.spec.queue_name, workload.spec.priority) == ("team", None)


@pytest.mark.parametrize(
    ("name", "prefix", "count"),
    [("Deployment", "pod", 3), ("LeaderWorkerSet", "leaderworkerset", 2)],
)
def test_replicas_that_are_workloads_of_their_own(name: str, prefix: str, count: int) -> None:
    found = made(CASES[name][0])
    assert [one.key for one in found] == [f"ns/{prefix}-x-{n}" for n in range(count)]
    assert len({one.spec.model_dump_json() for one in found}) == 1
    after, _ = add_workloads(cluster(), [Item("file", (), CASES[name][0])])
    told(after.notes[-1])


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_scaled_to_nothing_it_makes_no_workload(kind: str) -> None:
    with pytest.raises(SchemaError) as caught:
        made(thing(kind, "apps/v1", replicas=0, template=pods_of(1)))
    told(caught.value)


def test_labels_of_a_deployment_are_those_of_its_pods() -> None:
    """Its webhook writes its own queue and class into the template; else the template's count."""
    of_pods = {"metadata": {"labels": HIGH}, "spec": pods_of(1)["spec"]}
    (one,) = made(thing("Deployment", "apps/v1", {}, template=of_pods))
    assert (one.key, one.spec.queue_name, one.spec.priority) == ("ns/pod-x", "team", 50)
    low = {**QUEUE, "kueue.x-k8s.io/priority-class": "low"}
    (one,) = made(thing("Deployment", "apps/v1", low, template=of_pods))
    assert one.spec.priority == -5
    with pytest.raises(SchemaError) as caught:
        made(thing("StatefulSet", "apps/v1", {}, template=of_pods))
    told(caught.value)


def test_the_first_class_of_the_pods_counts() -> None:
    state = cluster(pod_class("first", 3), pod_class("second", 4), kueue_class("wins", 9))
    replicas: Object = {
        "Worker": {"template": pods_of(1, priorityClassName="second")},
        "Master": {"template": pods_of(1)},
    }
    value = thing("PyTorchJob", "kubeflow.org/v1", pytorchReplicaSpecs=replicas)
    assert made(value, state)[0].spec.priority == 4
    replicas["Master"]["template"]["spec"]["priorityClassName"] = "first"
    assert made(value, state)[0].spec.priority == 3
    value["spec"]["runPolicy"] = {"schedulingPolicy": {"priorityClass": "second"}}
    assert made(value, state)[0].spec.priority == 4
    value["metadata"]["labels"] = {**QUEUE, "kueue.x-k8s.io/priority-class": "wins"}
    assert made(value, state)[0].spec.priority == 9


@pytest.mark.parametrize(
    ("annotations", "asked"),
    [
        ({}, {}),
        ({"podset-required-topology": "rack"}, {"required": "rack"}),
        ({"podset-preferred-topology": "rack", "podset-group-name": "g"},
         {"preferred": "rack", "podSetGroupName": "g"}),
        ({"podset-unconstrained-topology": "true"}, {"unconstrained": True}),
        ({"podset-slice-required-topology": "rack", "podset-slice-size": "2"},
         {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 2}),
        ({"podset-slice-size": "2"}, {}),
        ({"podset-slice-required-topology-constraints": '[{"topology": "rack", "size": 4}]'},
         {"podsetSliceRequiredTopologyConstraints": [{"topology": "rack", "size": 4}]}),
    ],
)  # fmt: skip
def test_topology_is_asked_for_by_annotations(annotations: Object, asked: Object) -> None:
    named = {f"kueue.x-k8s.io/{key}": text for key, text in annotations.items()}
    (one,) = made(thing("StatefulSet", "apps/v1", template=pods_of(1, annotations=named)))
    (pods,) = one.spec.pod_sets
    request = pods.topology_request
    assert request == (TopologyRequest.model_validate(asked) if asked else None)


@pytest.mark.parametrize(
    "value",
    [
        thing("TrainJob", "trainer.kubeflow.org/v1alpha1"),
        thing("SparkApplication", "sparkoperator.k8s.io/v1beta2"),
        thing("RayJob", "ray.io/v1", clusterSelector={"a": "b"}, rayClusterSpec=ray()),
        thing("JobSet", "jobset.x-k8s.io/v1alpha1"),
        thing("JobSet", "jobset.x-k8s.io/v1alpha2"),
        thing("RayCluster", "ray.io/v1"),
        thing("RayCluster", "ray.io/v1", **{**ray(), "workerGroupSpecs": {}}),
        thing("MPIJob", "kubeflow.org/v2beta1", mpiReplicaSpecs={"Worker": {"replicas": "2"}}),
        thing("Deployment", "apps/v1", replicas=5000, template=pods_of(1)),
        thing("AppWrapper", "workload.codeflare.dev/v1beta2",
              components=[{"template": {}, "podSets": [{"path": "template.spec"}]}]),
        thing("StatefulSet", "apps/v1", template=pods_of(1, annotations={
            "kueue.x-k8s.io/podset-slice-required-topology": "r",
            "kueue.x-k8s.io/podset-slice-size": "two"})),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(value: Object) -> None:
    with pytest.raises(InputError) as caught:
        made(value)
    told((type(caught.value).__name__, caught.value))


@pytest.mark.parametrize("name", CASES)
def test_odd_values_are_refused_or_read(name: str) -> None:
    """Whatever stands anywhere in such an object, there is one clear message, or workloads."""
    state, messages = cluster(), []
    odd = [one for one in with_odd_values(CASES[name][0]["spec"]) if isinstance(one, dict)]
    for spec in odd:
        try:
            add_workloads(state, [Item("file", (), {**CASES[name][0], "spec": spec})])
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 20
    assert all(message.startswith("file") for message in messages)


def test_the_page_names_every_kind_that_is_read_and_that_is_not() -> None:
    page = ROOT.joinpath("docs", "how-to", "what-if" + ".md").read_text("utf-8")
    read, _, refused = page.partition("These objects will do")[2].partition("Where each replica")
    named = {*re.findall(r"\b[A-Z]\w+", read)} - {"Kueue"}
    assert named == {"Workload", *(kind for _, kind in KINDS)}
    limits = ROOT.joinpath("docs", "explanation", "limits" + ".md").read_text("utf-8")
    for kind in UNREAD:
        assert kind in refused.partition("\n\n")[0]
        assert kind in limits


def test_a_file_is_read(tmp_path: Any) -> None:
    file = tmp_path / "ray.yaml"
    file.write_text(
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r, namespace: ns}\n"
        "spec:\n  headGroupSpec: {template: {spec: {containers: [{name: head}]}}}\n"
    )
    _, keys = add_workloads(cluster(), read_submissions(file), "ns/team")
    assert keys == ("ns/raycluster-r",)
