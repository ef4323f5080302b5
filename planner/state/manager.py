"""The Deployment of Kueue's manager: its image tells the release, its arguments feature gates."""

from __future__ import annotations

from planner.state.base import KubernetesObject, Metadata, Schema


class ManagerContainer(Schema):
    """A container of the manager."""

    image: str = ""
    args: tuple[str, ...] = ()


class ManagerPod(Schema):
    """The pod of the manager."""

    containers: tuple[ManagerContainer, ...] = ()


class ManagerTemplate(Schema):
    """The template of that pod."""

    spec: ManagerPod = ManagerPod.blank()


class DeploymentSpec(Schema):
    """What a Deployment runs."""

    template: ManagerTemplate = ManagerTemplate.blank()


class Deployment(KubernetesObject):
    """A Deployment; only that of Kueue's manager matters."""

    metadata: Metadata
    spec: DeploymentSpec = DeploymentSpec.blank()

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.metadata.namespace}/{self.metadata.name}"
