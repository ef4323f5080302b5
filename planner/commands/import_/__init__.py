"""Public traces of GPU clusters to states: who held quota at an instant, and who waits for it.

rows.py    rows of a CSV file, one at a time, every error with its place
job.py     what a row becomes, whatever the trace; draws that follow from what they are for
traces.py  the Philly trace of Microsoft, and the openb trace of Alibaba
sample.py  instants, and who holds quota at each
kueue_knobs.py   what can be set
kueue_quota.py   who owns what, and who waits
kueue_states.py  from a file to states: all of it as the objects of Kueue

The traces say neither quotas nor priorities nor checkpoints: they are drawn, by a seed.
"""

from planner.commands.import_.sample import Outline, read_outline
from planner.commands.import_.traces import Openb, Philly, read_nodes, read_shapes

__all__ = ["Openb", "Outline", "Philly", "read_nodes", "read_outline", "read_shapes"]
