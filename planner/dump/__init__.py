"""Clusters made by us, as kubectl would print them: for what is generated or imported.

kueue.py   single objects of Kueue
text.py    a state as text, of YuniKorn too: JSON, YAML, one line of many
"""

from planner.dump.kueue import (
    Admission,
    Object,
    PodSet,
    Policies,
    Quota,
    cluster_queue,
    cohort,
    configuration,
    local_queue,
    node,
    resource_flavor,
    rfc3339,
    topology,
    workload,
)
from planner.dump.text import as_json, as_line, as_yaml, listed

__all__ = [
    "Admission",
    "Object",
    "PodSet",
    "Policies",
    "Quota",
    "as_json",
    "as_line",
    "as_yaml",
    "cluster_queue",
    "cohort",
    "configuration",
    "listed",
    "local_queue",
    "node",
    "resource_flavor",
    "rfc3339",
    "topology",
    "workload",
]
