"""Manifests to podsets: what Kueue's integrations make of the objects that users submit.

===================================== ============================== ===============================
kind                                  podsets, in order              pods
===================================== ============================== ===============================
Job                                   main                           parallelism, or completions
Pod, PodTemplate, bare pod template   main                           1
Deployment                            main; a workload a replica     1
StatefulSet                           main                           replicas
LeaderWorkerSet                       leader and worker, or main; a  1 and size - 1, or size
                                      workload a replica
JobSet                                its replicated jobs            replicas, each as of a Job
RayCluster, RayService, RayJob        head, worker groups, and the   1, replicas times hosts, and 1
                                      submitter of a RayJob
PyTorchJob, TFJob, XGBoostJob,        its types of replicas          replicas
PaddleJob, JAXJob, MPIJob
AppWrapper                            those of its components        as declared, or as of the kind
===================================== ============================== ===============================

Source: kueue ff69552e pkg/controller/jobs: PodSets of each integration, and its webhook for the
labels of pods; what KubeRay adds to pods is in raycluster/common.go and rayjob/rayjob_controller.go
there. Topology requests: pkg/controller/jobframework/tas.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, Field

from planner.errors import SchemaError, UnsupportedError
from planner.reader.complaint import checked
from planner.reader.items import Item
from planner.reader.show import Path, place, plain, shown
from planner.state.base import Bool, Count, KubernetesObject, PositiveCount, Schema, Time
from planner.state.kueue_workload import TopologyRequest
from planner.state.pods import Container, PodSpec, Resources

MIN_PARALLELISM: Final = "kueue.x-k8s.io/job-min-parallelism"
POD_GROUP: Final = "kueue.x-k8s.io/pod-group-name"
QUEUE: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS: Final = "kueue.x-k8s.io/priority-class"
"""The labels by which an object names its LocalQueue and its WorkloadPriorityClass."""
MAIN: Final = "main"
"""How Kueue calls the only podset of a workload."""


class ManifestMetadata(Schema):
    """The metadata of an object that may not exist yet, and so may have no name of its own."""

    name: str = Field(default="", max_length=253)
    generate_name: str = Field(default="", max_length=253)
    namespace: str = ""
    creation_timestamp: Time = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)

    @property
    def called(self) -> str:
        """A name for the object, made up if it has none."""
        return self.name or self.generate_name.rstrip("-") or "hypothetical"


class PodManifestSpec(PodSpec):
    """A pod as it is written, with the PriorityClass that it names."""

    containers: tuple[Container, ...] = Field(min_length=1)
    priority_class_name: str = ""


class PodManifest(KubernetesObject):
    """A Pod, or a pod template."""

    metadata: ManifestMetadata = ManifestMetadata()
    spec: PodManifestSpec

    def with_containers(self, *containers: Container) -> PodManifest:
        """Return it with other containers."""
        spec = self.spec.model_copy(update={"containers": containers})
        return self.model_copy(update={"spec": spec})


class Whole(KubernetesObject):
    """The metadata of any object."""

    metadata: ManifestMetadata = ManifestMetadata()


class Scalars(KubernetesObject):
    """The fields of any object that say how many pods there are, and what they are called."""

    parallelism: Count = 1
    completions: Count | None = None
    replicas: Count = 1
    hosts: Count = Field(default=1, alias="numOfHosts")
    size: PositiveCount = 1
    name: str = ""
    group_name: str = ""
    path: str = ""
    priority_class: str = ""
    submission_mode: str = ""
    autoscaling: Bool = Field(default=False, alias="enableInTreeAutoscaling")

    @property
    def of_job(self) -> int:
        """How many pods of a Job run at once: never more than have to complete."""
        if self.completions is None:
            return self.parallelism
        return min(self.parallelism, self.completions)


ModelT = TypeVar("ModelT", bound=BaseModel)


class At(NamedTuple):
    """A value in a manifest, and where it stands; ``None`` is one that is not there."""

    root: str
    path: Path
    value: object

    def __truediv__(self, step: str | int) -> At:
        """Return the value of a field, or an entry of a list."""
        inside = None
        if isinstance(step, int):
            listed = self.value if isinstance(self.value, list | tuple) else ()
            inside = listed[step] if step < len(listed) else None
        elif self.value is not None:
            if not isinstance(self.value, Mapping):
                raise self.wrong("is not an object", "an object")
            inside = self.value.get(step)
        return At(self.root, (*self.path, step), inside)

    def each(self) -> Iterator[At]:
        """Yield the entries of a list; there are none of one that is not there."""
        if not isinstance(self.value, list | tuple | None):
            raise self.wrong("is not a list", "a list")
        return (self / number for number in range(len(self.value or ())))

    def wrong(self, found: str, expected: str) -> SchemaError:
        """Return the error about the value."""
        return SchemaError(place(self.root, self.path), f"{shown(self.value)} {found}", expected)

    def read(self, model: type[ModelT]) -> ModelT:
        """Read the value as one of a model; it has to be there."""
        if self.value is None:
            raise SchemaError(place(self.root, self.path), "is missing")
        return checked(model, self.value, self.root, self.path)

    @property
    def scalars(self) -> Scalars:
        """The fields that say how many pods there are; all at their defaults where it is absent."""
        return Scalars() if self.value is None else self.read(Scalars)

    def pods(self, name: str, count: int, least: int | None = None) -> Pods:
        """Return so many pods of the template that stands here."""
        return Pods(name, count, self.read(PodManifest), least)


class Pods(Struct, frozen=True):
    """The pods of one podset: how many, of which template, and how many are enough to start."""

    name: str
    count: int
    template: PodManifest
    least: int | None = None


class Manifest(NamedTuple):
    """What Kueue makes of an object that users submit.

    ``labels`` are those that name its LocalQueue and its WorkloadPriorityClass; ``priority_class``
    is a PriorityClass that goes before those of the pods. It makes so many equal ``workloads``,
    which Kueue names after the kind ``prefix``.
    """

    metadata: ManifestMetadata
    labels: Mapping[str, str]
    pods: tuple[Pods, ...]
    prefix: str
    workloads: int = 1
    priority_class: str = ""


def _job(at: At) -> Iterator[Pods]:
    spec, key = at / "spec", MIN_PARALLELISM
    count, text = spec.scalars.of_job, at.read(Whole).metadata.annotations.get(key)
    least = int(text) if text and re.fullmatch("[0-9]{1,9}", text) else 0
    if text is not None and not 1 <= least <= count:
        expected = f"a whole number in quotes, from 1 to the {count} pods of the Job"
        raise (at / "metadata" / "annotations" / key).wrong("cannot be used", expected)
    yield (spec / "template").pods(MAIN, count, least or None)


def _replicas(at: At) -> Iterator[Pods]:
    yield (at / "spec" / "template").pods(MAIN, (at / "spec").scalars.replicas)


def _leader_and_workers(at: At) -> Iterator[Pods]:
    group = at / "spec" / "leaderWorkerTemplate"
    leader, workers, size = group / "leaderTemplate", group / "workerTemplate", group.scalars.size
    if leader.value is None:
        yield workers.pods(MAIN, size)
    else:
        yield leader.pods("leader", 1)
        yield workers.pods("worker", size - 1)


def _job_set(at: At) -> Iterator[Pods]:
    for one in (at / "spec" / "replicatedJobs").each():
        job, several = one / "template" / "spec", one.scalars
        yield (job / "template").pods(several.name, several.replicas * job.scalars.of_job)


def _kubeflow(field: str, types: str, at: At) -> Iterator[Pods]:
    for name in types.split():
        replicas = at / "spec" / field / name
        if replicas.value is not None:
            yield (replicas / "template").pods(name, replicas.scalars.replicas)


def _container(cpu: str, memory: str) -> Container:
    requests = {"requests": {"cpu": cpu, "memory": memory}}
    return Container(resources=Resources.model_validate(requests))


_SUBMITTER: Final = _container("500m", "200Mi")
_AUTOSCALER: Final = _container("500m", "512Mi")
_REDIS_CLEANUP: Final = _container("200m", "256Mi")
"""What KubeRay adds to the pods of its objects."""


def _ray_cluster(field: str, at: At) -> Iterator[Pods]:
    """Yield the head with all that KubeRay adds to it, and the workers."""
    cluster = at / "spec" / field if field else at / "spec"
    head = (cluster / "headGroupSpec" / "template").read(PodManifest)
    first, *others = head.spec.containers
    recovers = at.read(Whole).metadata.annotations.get("ray.io/ft-enabled") == "true"
    if recovers or (cluster / "gcsFaultToleranceOptions").value is not None:
        # Its state in Redis is cleaned up in the room of the head.
        asked, needed = first.resources.requests, _REDIS_CLEANUP.resources.requests
        most = {name: max(n, asked.get(name, 0)) for name, n in needed.items()}
        resources = first.resources.model_copy(update={"requests": asked | most})
        first = first.model_copy(update={"resources": resources})
    if cluster.scalars.autoscaling:
        own = cluster / "autoscalerOptions" / "resources"
        more = _AUTOSCALER if own.value is None else Container(resources=own.read(Resources))
        others.append(more)
    yield Pods("head", 1, head.with_containers(first, *others))
    for group in (cluster / "workerGroupSpecs").each():
        workers = group.scalars
        count = workers.replicas * max(1, workers.hosts)
        yield (group / "template").pods(workers.group_name, count)


def _ray_job(at: At) -> Iterator[Pods]:
    """Yield the pods of its cluster, and the submitter, which may be a container of the head."""
    spec = at / "spec"
    if (spec / "clusterSelector").value or (spec / "rayClusterSpec").value is None:
        found = "a RayJob for a cluster that is there already: Kueue does not manage it"
        where = place(at.root, (*spec.path, "rayClusterSpec"))
        raise UnsupportedError(where, found, "a RayJob with a cluster of its own")
    head, *workers = _ray_cluster("rayClusterSpec", at)
    mode, submitter = spec.scalars.submission_mode or "K8sJobMode", spec / "submitterPodTemplate"
    if mode == "SidecarMode":
        containers = *head.template.spec.containers, _SUBMITTER
        head = replace(head, template=head.template.with_containers(*containers))
    yield from (head, *workers)
    if mode == "K8sJobMode" and submitter.value is not None:
        yield submitter.pods("submitter", 1)
    elif mode == "K8sJobMode":
        alone = PodManifest(spec=PodManifestSpec(containers=(_SUBMITTER,)))
        yield Pods("submitter", 1, alone)


_STEP: Final = re.compile(r"([^.\[\]]+)|\[([0-9]{1,6})\]")


def _app_wrapper(at: At) -> Iterator[Pods]:
    """Yield the pods of all components, which declare them unless their kinds are known."""
    found: list[Pods] = []
    for component in (at / "spec" / "components").each():
        inner, declared = component / "template", [*(component / "podSets").each()]
        version, kind = ((inner / field).value for field in ("apiVersion", "kind"))
        known = _COMPONENTS.get((str(version), str(kind)))
        if not declared and known is not None:
            found += known(inner)
        for one in declared:
            template = component
            for name, number in _STEP.findall(one.scalars.path):
                template /= int(number) if number else name
            if template.value is None:
                raise (one / "path").wrong("leads nowhere", "the path of a pod template")
            found.append(template.pods("", one.scalars.replicas))
    called = at.read(Whole).metadata.called
    for number, pods in enumerate(found):
        yield replace(pods, name=f"{called}-{number}")


_Kinds = Mapping[tuple[str, str], Callable[[At], Iterable[Pods]]]
KINDS: Final[_Kinds] = {
    ("batch/v1", "Job"): _job,
    ("v1", "Pod"): lambda at: [at.pods(MAIN, 1)],
    ("v1", "PodTemplate"): lambda at: [(at / "template").pods(MAIN, 1)],
    ("apps/v1", "Deployment"): lambda at: [(at / "spec" / "template").pods(MAIN, 1)],
    ("apps/v1", "StatefulSet"): _replicas,
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): _leader_and_workers,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _job_set,
    ("ray.io/v1", "RayCluster"): partial(_ray_cluster, ""),
    ("ray.io/v1", "RayService"): partial(_ray_cluster, "rayClusterConfig"),
    ("ray.io/v1", "RayJob"): _ray_job,
    ("kubeflow.org/v1", "PyTorchJob"): partial(_kubeflow, "pytorchReplicaSpecs", "Master Worker"),
    ("kubeflow.org/v1", "TFJob"): partial(
        _kubeflow, "tfReplicaSpecs", "Chief Master PS Worker Evaluator"
    ),
    ("kubeflow.org/v1", "XGBoostJob"): partial(_kubeflow, "xgbReplicaSpecs", "Master Worker"),
    ("kubeflow.org/v1", "PaddleJob"): partial(_kubeflow, "paddleReplicaSpecs", "Master Worker"),
    ("kubeflow.org/v1", "JAXJob"): partial(_kubeflow, "jaxReplicaSpecs", "Worker"),
    ("kubeflow.org/v2beta1", "MPIJob"): partial(_kubeflow, "mpiReplicaSpecs", "Launcher Worker"),
    ("workload.codeflare.dev/v1beta2", "AppWrapper"): _app_wrapper,
}
"""By version and kind, the function that yields the pods of each podset, in order."""
_COMPONENTS: Final[_Kinds] = {
    **{
        (version, kind): KINDS[version, kind]
        for version, kind in (
            ("batch/v1", "Job"),
            ("v1", "Pod"),
            ("ray.io/v1", "RayCluster"),
            ("kubeflow.org/v1", "PyTorchJob"),
        )
    },
    ("apps/v1", "Deployment"): _replicas,
    ("apps/v1", "StatefulSet"): _replicas,
    ("ray.io/v1", "RayJob"): partial(_ray_cluster, "rayClusterSpec"),
}
"""The same of objects whose pods an AppWrapper need not declare; others have none."""
_BY_REPLICA: Final = frozenset({"Deployment", "LeaderWorkerSet"})
"""Kinds each replica of which is a workload of its own."""
_LABELLED_PODS: Final = frozenset({"Deployment", "PodTemplate"})
"""Kinds of which Kueue sees only the pods: their labels count, and those of the object first."""


_BY_HAND: Final = "kubectl get workload NAME -o yaml prints what Kueue makes of it"
UNREAD: Final[Mapping[str, tuple[str, str]]] = {
    "SparkApplication": (
        "the pods of a SparkApplication are what its operator makes of it",
        "the Workload that Kueue made of it",
    ),
    "TrainJob": (
        "the pods of a TrainJob are those of the runtime that it names",
        "the JobSet that the trainer makes of it",
    ),
}
"""Kinds of which Kueue makes a workload, but nobody here: why not, and what to give instead."""


def makes_none(item: Item) -> bool:
    """Say whether an object has a kind of which Kueue makes no workload."""
    known = {"Workload", *UNREAD, *(kind for _, kind in KINDS)}
    return "kind" in item.value and str(item.value["kind"]) not in known


def manifest_of(item: Item) -> Manifest:
    """Read an object that users submit.

    Raises ``SchemaError`` if Kueue makes no workload of its kind, or a field of it cannot be used;
    ``UnsupportedError`` if other objects decide about its pods.
    """
    kind, version = str(item.value.get("kind")), str(item.value.get("apiVersion"))
    at = At(item.root, item.path, item.value)
    if {"kind", "apiVersion"}.isdisjoint(item.value):
        kind, version = "Pod", "v1"  # a pod template
    if (version, kind) not in KINDS:
        raise _no_workload(item, kind)
    metadata, pods = at.read(Whole).metadata, tuple(KINDS[version, kind](at))
    labels, spec = metadata.labels, At(item.root, (*item.path, "spec"), item.value.get("spec"))
    if kind == "Pod" and POD_GROUP in labels:
        where = place(item.root, (*item.path, "metadata", "labels", POD_GROUP))
        found = "a pod of a group: Kueue makes one Workload of all its pods"
        raise UnsupportedError(where, found, "that Workload, or a Job", _BY_HAND)
    if kind in _LABELLED_PODS:
        labels = pods[0].template.metadata.labels | labels
    replicas = spec.scalars.replicas if kind in {*_BY_REPLICA, "StatefulSet"} else 1
    policy = spec / "runPolicy" / "schedulingPolicy" if "kubeflow" in version else None
    return Manifest(
        metadata=metadata,
        labels=labels,
        pods=pods,
        # A pod does not tell whose it is.
        prefix="pod" if kind in _LABELLED_PODS else kind.lower(),
        workloads=replicas if kind in _BY_REPLICA else min(1, replicas),
        priority_class=policy.scalars.priority_class if policy else "",
    )


def _no_workload(item: Item, kind: str) -> SchemaError | UnsupportedError:
    if kind in UNREAD:
        return UnsupportedError(item.where, *UNREAD[kind], _BY_HAND)
    version = item.value.get("apiVersion")
    of = "without an apiVersion" if version is None else f"of {shown(version)}"
    right = [api for api, name in KINDS if name == kind]
    kinds = ", ".join(name for _, name in KINDS)
    expected = f"a {kind} of {right[0]}" if right else f"a Workload of Kueue, or one of {kinds}"
    return SchemaError(item.where, f"{plain(kind)} {of} stands here", expected, _BY_HAND)


_PLACED: Final = "kueue.x-k8s.io/podset-"
"""How the annotations begin by which a pod template says where its pods are to stand."""
_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})


def topology_request(template: PodManifest, where: str) -> TopologyRequest | None:
    """Return the topology request that the annotations of a pod template make, if any.

    Raises ``SchemaError``, which names ``where``, if one of them cannot be used.
    """
    texts = template.metadata.annotations.items()
    asked = {key.removeprefix(_PLACED): text for key, text in texts if key.startswith(_PLACED)}
    made: dict[str, object] = {}
    level = next((one for one in ("required", "preferred") if f"{one}-topology" in asked), None)
    if level is not None:
        made[level] = asked[f"{level}-topology"]
        made["podSetGroupName"] = asked.get("group-name", "")
    elif "unconstrained-topology" in asked:
        made["unconstrained"] = asked["unconstrained-topology"] in _TRUE
    sliced, size = asked.get("slice-required-topology"), asked.get("slice-size")
    constraints = asked.get("slice-required-topology-constraints")
    try:
        if constraints is not None:
            made["podsetSliceRequiredTopologyConstraints"] = json.loads(constraints)
        elif sliced is not None and size is not None:
            made |= {"podSetSliceRequiredTopology": sliced, "podSetSliceSize": int(size)}
    except (ValueError, RecursionError):
        found = f"{shown(constraints or size)} cannot be used in an annotation of its pods"
        raise SchemaError(where, found, "a whole number, or a list in JSON") from None
    return checked(TopologyRequest, made, where, (), "topology request") if made else None
