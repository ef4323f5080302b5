"""Public traces of GPU clusters to states: who held quota at an instant, and who waits for it.

traces.py  rows of a CSV file, every error with its place, to jobs: the Philly trace of Microsoft,
           and the openb trace of Alibaba; draws that follow from what they are for
sample.py  instants, and who holds quota at each
kueue.py   what can be set; who owns what, and who waits; all of it as the objects of Kueue

The traces say neither quotas nor priorities nor checkpoints: they are drawn, by a seed.
"""

from planner.commands.import_.sample import Outline, read_outline
from planner.commands.import_.traces import Openb, Philly, read_nodes, read_shapes

__all__ = ["Openb", "Outline", "Philly", "read_nodes", "read_outline", "read_shapes"]
