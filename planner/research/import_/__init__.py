"""Public traces of GPU clusters to states: jobs that hold quota at an instant, and preemptors.

traces.py  rows of a CSV file, every error with its place, to jobs: the Philly trace of Microsoft,
           and the openb trace of Alibaba; draws that depend on the seed and their names only
sample.py  instants, and the jobs that hold quota at each
kueue_knobs.py
           everything about a state but its trace and its instant
kueue.py   quotas and preemptors, which are drawn; the objects of Kueue

The traces have neither quotas nor priorities nor checkpoints: these are drawn, by a seed.
"""

from planner.research.import_.sample import Outline, read_outline
from planner.research.import_.traces import Openb, Philly, read_nodes, read_shapes

__all__ = ["Openb", "Outline", "Philly", "read_nodes", "read_outline", "read_shapes"]
