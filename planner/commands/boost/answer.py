"""Which boosts make Kueue take the victims of a plan."""

from __future__ import annotations

import shlex
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from planner.plan import Plan, Record
from planner.plan.record import SCHEMA_VERSION
from planner.quota.holding import BOOST_ANNOTATION

BoostStatus = Literal["smallest", "found", "impossible", "unknown"]
"""smallest: proved that no other boosts touch fewer workloads, nor as many by less. found: they
work, and smaller ones were not ruled out. impossible: proved that no boosts work. unknown: none
were found, and nothing is proved."""


class WorkloadBoost(Record):
    """The boost of one workload, which is a victim of the plan or spared by it.

    ``priority`` is its own, ``boost`` the value of the annotation, and ``effective`` their sum;
    those before are today's, with the feature gate PriorityBoost on.
    """

    workload: str
    cluster_queue: str
    role: Literal["victim", "spared"]
    priority: int
    boost_before: int
    boost: int
    effective_before: int
    effective: int

    @property
    def command(self) -> str:
        """The command that sets the annotation."""
        namespace, _, name = self.workload.partition("/")
        return (
            f"kubectl annotate workloads.kueue.x-k8s.io -n {shlex.quote(namespace)} "
            f"{shlex.quote(name)} {BOOST_ANNOTATION}={self.boost} --overwrite"
        )


class Boosts(Record):
    """The boosts for one plan; none where Kueue takes the plan's victims as it is.

    ``gate_on`` says whether the feature gate PriorityBoost is on in the state as it was read;
    all plans and priorities here are those with the gate on. ``commands`` set the annotations,
    one a line. ``orders`` counts the orders of candidates that were put to the replay.
    """

    # Pydantic follows the outermost record: infinite shares would become null.
    model_config: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="strings")

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    preemptor: str
    status: BoostStatus
    explanation: str
    gate_on: bool
    boosts: tuple[WorkloadBoost, ...] = ()
    commands: tuple[str, ...] = ()
    orders: int = 0
    plan: Plan
