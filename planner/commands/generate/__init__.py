"""Made-up clusters: seeded, consistent, and as users have them.

presets.py   named clusters to start from
knobs.py     every knob with its unit and limits
chance.py    random draws that are the same everywhere
names.py     names, identifiers, the clock
kueue/       queues, workloads and quotas, as the objects that kubectl would print
yunikorn/    queues, nodes and pods, as the core's state dump
generate.py  a preset, a seed and knobs to a state

The same preset, seed and knobs give the same bytes.
"""

from planner.commands.generate.generate import generate, generate_objects
from planner.commands.generate.knobs import Knob, KueueKnobs, YuniKornKnobs, knobs_of
from planner.commands.generate.presets import PRESETS, Preset

__all__ = [
    "PRESETS",
    "Knob",
    "KueueKnobs",
    "Preset",
    "YuniKornKnobs",
    "generate",
    "generate_objects",
    "knobs_of",
]
