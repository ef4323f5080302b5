"""Made-up clusters: seeded, consistent, and like those of users.

names.py     names, the clock, and draws that are the same everywhere
kueue/       queues, workloads and quotas, as the objects that kubectl would print
yunikorn.py  queues, nodes and pods, as the core's state dump
generate.py  knobs and presets; the interface of a scheduler; a preset, a seed and knobs to a state

The same preset, seed and knobs give the same bytes.
"""

from planner.research.generate.generate import PRESETS as PRESETS
from planner.research.generate.generate import RECORDS as RECORDS
from planner.research.generate.generate import generate as generate
from planner.research.generate.generate import generate_objects as generate_objects
from planner.research.generate.generate import knobs_of as knobs_of
