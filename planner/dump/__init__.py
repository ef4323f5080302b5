"""Clusters made by us, as kubectl would print them: for what is generated or imported.

kueue.py   single objects of Kueue
text.py    the objects of a state as text, and many states one after the other
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
    resource_flavor,
    workload,
)
from planner.dump.text import as_json, as_line, as_yaml

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
    "local_queue",
    "resource_flavor",
    "workload",
]
