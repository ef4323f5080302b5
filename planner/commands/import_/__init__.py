"""Public traces of GPU clusters to states: who held quota at an instant, and who waits for it.

rows.py       rows of a CSV file, one at a time, every error with its place
job.py        what a row becomes, whatever the trace; what a trace is
philly.py     the Philly trace of Microsoft
openb.py      the openb trace of Alibaba
sample.py     instants, and who holds quota at each
knobs.py      what can be set
setting.py    what all parts of one state have in common
quota.py      who owns what
preemptor.py  who waits
objects.py    all of it as the objects of Kueue
draw.py       random numbers that follow from what they are for
made.py       from a file to states

The traces say neither quotas nor priorities nor checkpoints: they are drawn, by a seed.
"""

from planner.commands.import_.knobs import Knobs
from planner.commands.import_.made import Imported, import_states, instants_of
from planner.commands.import_.openb import Openb, read_nodes
from planner.commands.import_.philly import Philly, read_shapes
from planner.commands.import_.sample import Outline, read_outline

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
