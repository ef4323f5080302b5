"""The frozen schema of what was read.

``State`` is Kueue's objects with the API server's defaults applied, ``YuniKornState`` queues.yaml
and the state dump of YuniKorn's core.

base.py               scalars as Kubernetes means them; the base model, which bounds the errors in a
                      value; equal values become one object
clock.py              nanoseconds and dates
record.py             what the states of all schedulers have in common, remarks on workloads, and
                      the user's choices about how a state is read
kueue.py              a state of Kueue
queues.py             where quota lives: ClusterQueues, Cohorts, LocalQueues, flavors
kueue_workload.py     a Workload: its requests, its queue, its usage
kueue_columns.py      the workloads as columns: what decides about each, and its text or object
kueue_workloads.py    the workloads of a state, each an object when it is asked for
pods.py               the parts of pod templates, PodDisruptionBudgets, Events and Kueue's manager
                      that matter; the objects that claims to devices refer to
kueue_configuration.py  Kueue's Configuration
kueue_release.py      which rules a release of Kueue has
kueue_topology.py     topologies, nodes, and the pods that take room on nodes
kept.py               what was found out last about a state, as long as it lives
name.py               names that Kubernetes allows
yaml_number.py        numbers as YAML writes them
yunikorn.py           a cluster of YuniKorn, with its quantities
yunikorn_usage.py     what its core says of what runs, and of what users and groups have
yunikorn_release.py   the releases of YuniKorn that decide otherwise than the newest
yunikorn_pods.py      what Kubernetes knows of its pods and their PriorityClasses
"""

from planner.state.base import TIMESTAMP as TIMESTAMP
from planner.state.base import parse_time as parse_time
from planner.state.record import ANNOTATIONS as ANNOTATIONS
from planner.state.record import AUTO as AUTO
from planner.state.record import AnyState as AnyState
from planner.state.record import Remarks as Remarks
from planner.state.record import RequestsFrom as RequestsFrom
