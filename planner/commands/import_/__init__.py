"""Public traces of GPU clusters to states: who held quota at an instant, and who waits for it.

job.py     rows of a CSV file, one at a time, every error with its place; what a row becomes,
           whatever the trace; what can be set; draws that follow from what they are for
traces.py  the Philly trace of Microsoft, and the openb trace of Alibaba
sample.py  instants, and who holds quota at each; who owns what, and who waits
made.py    from a file to states: all of it as the objects of Kueue

The traces say neither quotas nor priorities nor checkpoints: they are drawn, by a seed.
"""

from planner.commands.import_.job import Knobs
from planner.commands.import_.made import Imported, import_states, instants_of
from planner.commands.import_.sample import Outline, read_outline
from planner.commands.import_.traces import Openb, Philly, read_nodes, read_shapes

__all__ = [
    "Imported",
    "Knobs",
    "Openb",
    "Outline",
    "Philly",
    "import_states",
    "instants_of",
    "read_nodes",
    "read_outline",
    "read_shapes",
]
