"""What kubectl is asked for: the kinds that the reader understands, and no others."""

from __future__ import annotations

from typing import Final, NamedTuple

KUEUE: Final = "kueue.x-k8s.io"
CONFIGURATION: Final = "kueue-system/kueue-manager-config"
"""The ConfigMap that holds Kueue's Configuration (kueue ff69552e, config/default and
config/components/manager); charts and operators may call it otherwise."""
MANAGER: Final = "kueue-controller-manager"
"""The Deployment of Kueue's manager, which stands in the namespace of the Configuration."""
ROLE: Final = "preemption-planner"


class Resource(NamedTuple):
    """A resource type of the API server.

    Attributes
    ----------
    name
        Its plural name.
    group
        Its API group; empty for the core group.
    missing
        What holds without it, in words; empty if there is no plan without it.
    of_preemptor
        Whether only those in the namespace of the pending workload matter.
    single
        Whether only one object is wanted, by its name.
    forgone
        Whether it is done without where the cluster refuses to tell.
    """

    name: str
    group: str = KUEUE
    missing: str = ""
    of_preemptor: bool = False
    single: bool = False
    forgone: bool = False

    @property
    def full_name(self) -> str:
        """The name that no other API group can answer to, such as workloads.kueue.x-k8s.io."""
        return f"{self.name}.{self.group}" if self.group else self.name

    @property
    def verb(self) -> str:
        """What RBAC must permit."""
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


# Workloads first: what they refer to was there before them, and is read after them.
RESOURCES: Final = (
    Resource("workloads"),
    Resource("localqueues", of_preemptor=True),
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
    Resource(
        "deployments",
        "apps",
        "the release of Kueue is told by other signs, or the newest rules are taken",
        single=True,
        forgone=True,
    ),
    Resource(
        "configmaps",
        "",
        "feature gates, fair sharing and resource settings of Kueue are at their defaults",
        single=True,
    ),
)
"""Everything that is asked for, in this order."""

OPTIONAL: Final = tuple(each.name for each in RESOURCES if each.missing)
"""Names of what a dump may do without."""


def cluster_role() -> str:
    """Return the command that makes the least ClusterRole for what is listed."""
    listed = ",".join(each.full_name for each in RESOURCES if not each.single)
    return f"kubectl create clusterrole {ROLE} --verb=list --resource={listed}"


def configuration_role(configuration: str = CONFIGURATION) -> str:
    """Return the command that makes the least Role for a ConfigMap, given as NAMESPACE/NAME.

    It also permits the Deployment of the manager, whose image tells the release.
    """
    namespace, _, name = configuration.partition("/")
    return (
        f"kubectl create role {ROLE} -n {namespace} --verb=get --resource=configmaps "
        f"--resource=deployments.apps --resource-name={name} --resource-name={MANAGER}"
    )
