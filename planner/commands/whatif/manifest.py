"""Manifests that users hand to kubectl, as far as Kueue makes a Workload of them.

Read are a batch/v1 Job, a Pod, a PodTemplate, and a bare pod template, which is a pod without a
kind. Source: kueue ff69552e, pkg/controller/jobs/job/job_controller.go (PodSets, podsCount,
minPodsCount) and pkg/controller/jobs/pod/pod_controller.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import Field

from planner.errors import SchemaError, UnsupportedError
from planner.reader.checked import checked
from planner.reader.items import Item
from planner.reader.show import Path, place, plain, shown
from planner.state.base import Count, KubernetesObject, Schema, Time
from planner.state.pods import Container, PodSpec, PodTemplate
from planner.state.workload import PodSet

MIN_PARALLELISM: Final = "kueue.x-k8s.io/job-min-parallelism"
POD_GROUP: Final = "kueue.x-k8s.io/pod-group-name"
POD_SET: Final = "main"
"""How Kueue calls the only podset of a Job or Pod."""

EXPECTED: Final = "a Workload of Kueue, a Job of batch/v1, a Pod, or a pod template"
_HINT: Final = "kubectl get workload NAME -o yaml prints what Kueue makes of other kinds"
_NAMELESS: Final = "hypothetical"
_COUNT: Final = re.compile(r"[0-9]{1,9}")


class ManifestMetadata(Schema):
    """The metadata of what may not exist yet, and so may have no name of its own."""

    name: str = Field(default="", max_length=253)
    generate_name: str = Field(default="", alias="generateName", max_length=253)
    namespace: str = ""
    creation_timestamp: Time | None = Field(default=None, alias="creationTimestamp")
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)

    @property
    def called(self) -> str:
        """A name for it, whether it has one or not."""
        return self.name or self.generate_name.rstrip("-") or _NAMELESS


class PodManifestSpec(PodSpec):
    """A pod as it is written, with the PriorityClass that it names."""

    containers: tuple[Container, ...] = Field(min_length=1)
    priority_class_name: str = Field(default="", alias="priorityClassName")


class PodManifest(KubernetesObject):
    """A Pod, or a pod template."""

    metadata: ManifestMetadata = ManifestMetadata()
    spec: PodManifestSpec


class PodTemplateManifest(KubernetesObject):
    """A PodTemplate object."""

    metadata: ManifestMetadata = ManifestMetadata()
    template: PodManifest


class JobSpec(Schema):
    """The pods of a Job."""

    parallelism: Count = 1
    completions: Count | None = None
    template: PodManifest

    @property
    def pods(self) -> int:
        """How many pods run at once: never more than have to complete."""
        if self.completions is None:
            return self.parallelism
        return min(self.parallelism, self.completions)


class JobManifest(KubernetesObject):
    """A Job of batch/v1."""

    metadata: ManifestMetadata = ManifestMetadata()
    spec: JobSpec


@dataclass(frozen=True, slots=True)
class Manifest:
    """What Kueue's job integration takes from a manifest.

    ``prefix`` begins the name of its Workload; ``priority_class`` is the PriorityClass that its
    pods name, and ``spec_path`` leads to their spec.
    """

    item: Item
    prefix: str
    metadata: ManifestMetadata
    labels: Mapping[str, str]
    pod_set: PodSet
    priority_class: str
    spec_path: Path

    def where(self, *path: str) -> str:
        """Return a place inside it, for messages."""
        return place(self.item.root, (*self.item.path, *path))


def read_manifest(item: Item) -> Manifest:
    """Read a Job, a Pod, a PodTemplate or a bare pod template.

    Raises
    ------
    SchemaError
        If it is of another kind, or a field of it cannot be used.
    UnsupportedError
        If it is a pod of a group, whose other pods it does not show.
    """
    kind, version = item.value.get("kind"), item.value.get("apiVersion")
    match (version, kind):
        case ("batch/v1", "Job"):
            return _job(item)
        case ("v1", "Pod") | (None, None):
            return _pod(item)
        case ("v1", "PodTemplate"):
            made = checked(PodTemplateManifest, item.value, item.root, item.path, "PodTemplate")
            labels = {**made.template.metadata.labels, **made.metadata.labels}
            path = ("template", "spec")
            return _manifest(item, "pod", made.metadata, labels, made.template.spec, path)
    of = "without an apiVersion" if version is None else f"of {shown(version)}"
    raise SchemaError(item.where, f"{plain(str(kind))} {of} stands here", EXPECTED, _HINT)


def _pod(item: Item) -> Manifest:
    pod = checked(PodManifest, item.value, item.root, item.path, "Pod")
    labels = pod.metadata.labels
    if POD_GROUP in labels:
        raise UnsupportedError(
            place(item.root, (*item.path, "metadata", "labels", POD_GROUP)),
            "a pod of a group: Kueue makes one Workload of all its pods",
            "that Workload, or a Job",
        )
    return _manifest(item, "pod", pod.metadata, labels, pod.spec, ("spec",))


def _job(item: Item) -> Manifest:
    job = checked(JobManifest, item.value, item.root, item.path, "Job")
    spec, labels = job.spec.template.spec, job.metadata.labels
    made = _manifest(item, "job", job.metadata, labels, spec, ("spec", "template", "spec"))
    counts = {"count": job.spec.pods, "min_count": _least_pods(made, job.spec.pods)}
    return replace(made, pod_set=made.pod_set.model_copy(update=counts))


def _least_pods(made: Manifest, count: int) -> int | None:
    """Return with how many pods partial admission may start a Job, if it allows that."""
    text = made.metadata.annotations.get(MIN_PARALLELISM)
    if text is None:
        return None
    least = int(text) if _COUNT.fullmatch(text) else 0
    if not 1 <= least <= count:
        where = made.where("metadata", "annotations", MIN_PARALLELISM)
        expected = f"a whole number in quotes, from 1 to the {count} pods of the Job"
        raise SchemaError(where, f"{shown(text)} cannot be used", expected)
    return least


def _manifest(  # noqa: PLR0913, PLR0917 - what manifests differ in
    item: Item,
    prefix: str,
    metadata: ManifestMetadata,
    labels: Mapping[str, str],
    spec: PodManifestSpec,
    spec_path: Path,
) -> Manifest:
    pod_set = PodSet(name=POD_SET, template=PodTemplate(spec=spec))
    return Manifest(item, prefix, metadata, labels, pod_set, spec.priority_class_name, spec_path)
