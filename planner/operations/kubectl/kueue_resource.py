"""The resource types to ask of a cluster with Kueue, kubectl's failures, and a single object.

Failures are known by the texts of kubectl 1.32 and of the API server; other texts are quoted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from planner.errors import InputError
from planner.operations.kubectl.call import NAMES, Answer, last_words, option
from planner.reader.show import plain
from planner.state.kueue_workload import API_GROUP, preemptor_uid

DEVICES: Final = "resource.k8s.io"
CONFIGURATION: Final = "kueue-system/kueue-manager-config"
"""The ConfigMap that holds Kueue's Configuration (kueue ff69552e, config/default and
config/components/manager); charts and operators may call it otherwise."""
MANAGER: Final = "kueue-controller-manager"
"""The Deployment of Kueue's manager, which stands in the namespace of the Configuration."""
ROLE: Final = "preemption-planner"


class Resource(NamedTuple):
    """A resource type of the API server, by its plural name and its API group, empty for the core.

    ``missing`` says in words what holds without the type; empty if there is no plan without it.
    ``of_preemptor`` says that only objects in the namespace of the pending workload matter,
    ``single`` that only one object is wanted, by its name, and ``forgone`` that a dump does without
    the type where the cluster refuses to list it. If there is no object of another type,
    ``needed_by``, it is not asked for.
    """

    name: str
    group: str = API_GROUP
    missing: str = ""
    of_preemptor: bool = False
    single: bool = False
    forgone: bool = False
    needed_by: str = ""

    @property
    def full_name(self) -> str:
        """The name that no other API group can answer to, such as workloads.kueue.x-k8s.io."""
        return f"{self.name}.{self.group}" if self.group else self.name

    @property
    def phase(self) -> int:
        """When it is asked for: with all types of its phase, after those of the phase before."""
        if self.name == "workloads":
            return 0  # read first: whatever a workload refers to then exists, and is read later
        return 2 if self.needed_by else 1

    @property
    def verb(self) -> str:
        """The verb that RBAC must permit."""
        return "get" if self.single else "list"


class Question(NamedTuple):
    """What one call asks for: a resource type, in one namespace or all, and perhaps one object."""

    resource: Resource
    namespace: str | None
    name: str = ""

    @property
    def words(self) -> list[str]:
        """The words after kubectl, without options."""
        return ["get", self.resource.full_name, *([self.name] if self.name else [])]

    @property
    def call(self) -> list[str]:
        """The words after kubectl, with options."""
        place = option("namespace", self.namespace) or ["--all-namespaces"]
        name = [NAMES, self.name] if self.name else []
        return ["get", self.resource.full_name, *place, "--output=json", *name]


PHASES: Final = 3
_TEMPLATES: Final = "no template of claims is known"
_RELEASE: Final = "the release of Kueue is told by other signs, or the newest rules are taken"
_DEFAULTS: Final = (
    "feature gates, fair sharing and resource settings of Kueue are at their defaults"
)
RESOURCES: Final = (
    Resource("workloads"),
    Resource("localqueues"),  # of all namespaces: their workloads may wait before the preemptor
    Resource("clusterqueues"),
    Resource("cohorts", missing="cohorts have no quota of their own and no parent"),
    Resource("resourceflavors"),
    Resource("workloadpriorityclasses", missing="workloads have the priority that they carry"),
    Resource("admissionchecks", missing="no admission check decides anything"),
    Resource("priorityclasses", "scheduling.k8s.io", "workloads have the priority that they carry"),
    Resource("runtimeclasses", "node.k8s.io", "pods have the overhead that they carry"),
    Resource("namespaces", "", "every namespaceSelector is taken to match"),
    Resource("limitranges", "", "pods have no default requests and limits", of_preemptor=True),
    Resource("poddisruptionbudgets", "policy", "no PodDisruptionBudget is looked at", forgone=True),
    Resource("deviceclasses", DEVICES, "no class of devices is known", forgone=True),
    Resource("resourceclaimtemplates", DEVICES, _TEMPLATES, of_preemptor=True, forgone=True),
    Resource("resourceslices", DEVICES, "no device is known", forgone=True),
    Resource("topologies", missing="pods are not placed on nodes", forgone=True),
    Resource("nodes", "", "no node is known", forgone=True, needed_by="topologies"),
    Resource("pods", "", "nodes hold placed pods only", forgone=True, needed_by="topologies"),
    Resource("deployments", "apps", _RELEASE, single=True, forgone=True),
    Resource("configmaps", "", _DEFAULTS, single=True),
)
"""All resource types to ask for, in the order in which they stand in a dump."""
WORKLOADS: Final = f"workloads.{API_GROUP}"
COHORTS: Final = f"cohorts.{API_GROUP}"
WATCHED: Final = (
    WORKLOADS,
    *(f"{one}.{API_GROUP}" for one in ("clusterqueues", "localqueues")),
    COHORTS,
    f"resourceflavors.{API_GROUP}",
)
"""The resource types that are watched in a cluster: all others are read anew once in a while."""
OPTIONAL: Final = tuple(each.name for each in RESOURCES if each.missing)
"""Names of the resource types that a dump may do without."""


def cluster_role() -> str:
    """Return the command that makes the least ClusterRole for the types that are listed."""
    listed = ",".join(each.full_name for each in RESOURCES if not each.single)
    return f"kubectl create clusterrole {ROLE} --verb=list --resource={listed}"


def watching_role() -> str:
    """Return the command that makes the ClusterRole for watching, beside that of `cluster_role`."""
    watched = ",".join(WATCHED)
    verbs = "--verb=list --verb=watch"
    return f"kubectl create clusterrole {ROLE}-watch {verbs} --resource={watched}"


def configuration_role(configuration: str = CONFIGURATION) -> str:
    """Return the command that makes the least Role for a ConfigMap, given as NAMESPACE/NAME.

    It also permits the Deployment of the manager, whose image shows the release.
    """
    namespace, _, name = configuration.partition("/")
    return (
        f"kubectl create role {ROLE} -n {namespace} --verb=get --resource=configmaps "
        f"--resource=deployments.apps --resource-name={name} --resource-name={MANAGER}"
    )


_NO_SUCH_TYPE: Final = (
    "the server doesn't have a resource type",
    "the server could not find the requested resource",
)
_HINTS: Final = {
    r"\(unauthorized\)|please enter username|getting credentials": (
        "log in to the cluster first, until `kubectl get namespaces` works"
    ),
    "refused|unable to connect to the server|no such host|i/o timeout|connection reset|"
    "no route to host|tls handshake": (
        "--context and --kubeconfig choose the cluster; `kubectl cluster-info` tries it"
    ),
    "context": "`kubectl config get-contexts` lists the contexts",
}
"""Hints for the user, by a pattern of kubectl's message in lower case."""
_LONGEST: Final = 400
_LONGEST_REVISION: Final = 20
"""Digits: the API server counts in 64 bits."""


def is_missing(answer: Answer) -> bool:
    """Say whether the cluster has no such resource type, or no such object.

    Only the last words count: a line of the log may say the same of another API.
    """
    said = last_words(answer.stderr)
    return any(text in said for text in (*_NO_SUCH_TYPE, "(NotFound)"))


def is_forbidden(answer: Answer) -> bool:
    """Say whether the cluster refuses to answer."""
    return "(Forbidden)" in last_words(answer.stderr)


def refusal(question: Question, words: str, answer: Answer) -> InputError:
    """Return the error that says why a call failed; ``words`` names the call in the message."""
    message = last_words(answer.stderr)
    resource = question.resource
    if is_missing(answer) and resource.group == API_GROUP:
        return InputError(
            words,
            "Kueue is not installed in this cluster",
            f"the resource type {resource.full_name}",
            "--context and --kubeconfig choose another cluster",
        )
    how = f"signal {-answer.code}" if answer.code < 0 else f"exit code {answer.code}"
    found = f"failed: {_short(message)}" if message else f"ended with {how} and gave no reason"
    return InputError(words, found, hint=hint_of(message))


def hint_of(message: str) -> str:
    """Return what may help where kubectl failed with a message; empty if nothing is known to."""
    return next((hint for said, hint in _HINTS.items() if re.search(said, message.lower())), "")


class Refused(NamedTuple):
    """A question that the cluster refuses to answer; ``words`` names the call in a message."""

    question: Question
    words: str
    answer: Answer


def forbidden(refused: Sequence[Refused]) -> InputError:
    """Return one error with all that may not be read, the roles to grant, and what is optional."""
    first = refused[0]
    rights = [
        f"{resource.verb} {resource.full_name} in "
        + (f"namespace {plain(namespace)}" if namespace else "all namespaces")
        for (resource, namespace, _), *_ in refused
    ]
    roles = [
        configuration_role(f"{namespace}/{name}") if resource.single else cluster_role()
        for (resource, namespace, name), *_ in refused
    ]
    asked = [one.question.resource for one in refused]
    optional = [f"--without {resource.name}" for resource in asked if resource.missing]
    which = "them" if len(optional) == len(refused) else "some of them"
    instead = f"; or do without {which}: {' '.join(optional)}" if optional else ""
    return InputError(
        first.words if len(refused) == 1 else "kubectl get",
        f"is forbidden: {_short(last_words(first.answer.stderr))}"
        + (f"; and {len(refused) - 1} more" if len(refused) > 1 else ""),
        f"the right to {'; '.join(rights)}",
        f"an administrator grants it: {'; '.join(dict.fromkeys(roles))}{instead}",
    )


def _short(message: str) -> str:
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."


class LiveObject:
    """An object as the API server has it.

    Only the fields below are looked at; a field of another form counts as missing.
    """

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value

    def at(self, *path: str) -> object:
        """Return the value at a path; ``None`` if there is none."""
        found: object = self.value
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found

    @property
    def key(self) -> str:
        """``namespace/name``; without a namespace it begins with the slash."""
        return f"{self.at('metadata', 'namespace') or ''}/{self.at('metadata', 'name')}"

    @property
    def version(self) -> str:
        """Its resourceVersion, which changes with every change of the object."""
        return str(self.at("metadata", "resourceVersion") or "")

    @property
    def revision(self) -> int:
        """Its resourceVersion as a number, which grows with each change; 0 for none."""
        is_one = self.version.isdecimal() and len(self.version) <= _LONGEST_REVISION
        return int(self.version) if is_one else 0

    @property
    def annotations(self) -> dict[str, str]:
        """Its annotations."""
        found = self.at("metadata", "annotations")
        pairs = found.items() if isinstance(found, dict) else ()
        return {name: value for name, value in pairs if isinstance(value, str)}

    @property
    def conditions(self) -> list[dict[str, Any]]:
        """The conditions of its status, in their order."""
        found = self.at("status", "conditions")
        if isinstance(found, list) and all(isinstance(one, dict) for one in found):
            return found
        return []

    def condition(self, kind: str) -> dict[str, Any]:
        """Return the condition of a type; empty if there is none."""
        return next((one for one in self.conditions if one.get("type") == kind), {})

    def since(self, kind: str) -> datetime | None:
        """Return since when a condition is as it is; ``None`` if that is no time with a zone."""
        try:
            moment = datetime.fromisoformat(str(self.condition(kind).get("lastTransitionTime")))
        except ValueError:
            return None
        return moment if moment.tzinfo else None

    def is_true(self, kind: str) -> bool:
        """Whether a condition is there and True."""
        return self.condition(kind).get("status") == "True"

    @property
    def settings(self) -> str:
        """A queue's spec and the statuses of its conditions, as text: its status without counts."""
        statuses = [(one.get("type"), one.get("status")) for one in self.conditions]
        return json.dumps([self.at("spec"), statuses], sort_keys=True)

    @property
    def preempted(self) -> tuple[str, str] | None:
        """For whom (its UID) a workload is preempted, and since when; ``None`` if it is not."""
        condition = self.condition("Preempted")
        uid = preemptor_uid(str(condition.get("message"))) if self.is_true("Preempted") else ""
        return (uid, str(condition.get("lastTransitionTime"))) if uid else None

    @property
    def holds_quota(self) -> bool:
        """Whether it takes quota: reserved, and not finished (docs/semantics/kueue.md §2)."""
        reserved = self.at("status", "admission") and self.is_true("QuotaReserved")
        return bool(reserved) and not self.is_true("Finished")

    @property
    def eviction(self) -> tuple[str, str]:
        """Its key, and since when it is being evicted: a later eviction is another one."""
        return self.key, str(self.condition("Evicted").get("lastTransitionTime", ""))
