"""PodDisruptionBudgets of policy/v1: how many pods of an application may be evicted."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from planner.state.base import Condition, Count, KubernetesObject, Metadata, Schema
from planner.state.pods import LabelSelector

Percentage = Annotated[str, StringConstraints(pattern=r"^(100|[0-9]{1,2})%$")]
"""A share of the pods that a budget covers."""


class BudgetSpec(Schema):
    """Which pods a budget covers, and how many must stay or may go. Without selector: none."""

    selector: LabelSelector | None = None
    min_available: Count | Percentage | None = Field(default=None, alias="minAvailable")
    max_unavailable: Count | Percentage | None = Field(default=None, alias="maxUnavailable")


class BudgetStatus(Schema):
    """How many evictions the cluster permits now; nothing where it has not said so yet."""

    disruptions_allowed: Count | None = Field(default=None, alias="disruptionsAllowed")
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(KubernetesObject):
    """A PodDisruptionBudget: it covers pods of its own namespace."""

    metadata: Metadata
    spec: BudgetSpec = BudgetSpec.blank()
    status: BudgetStatus = BudgetStatus.blank()
