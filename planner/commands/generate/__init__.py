"""Made-up clusters: seeded, consistent, and as users have them.

knobs.py     every knob with its unit and limits
names.py     names, identifiers, the clock, and draws that are the same everywhere
kueue/       queues, workloads and quotas, as the objects that kubectl would print
yunikorn/    queues, nodes and pods, as the core's state dump
generate.py  named clusters to start from; a preset, a seed and knobs to a state

The same preset, seed and knobs give the same bytes.
"""

from planner.commands.generate.generate import PRESETS, Preset, generate, generate_objects
from planner.commands.generate.knobs import Knob, KueueKnobs, YuniKornKnobs, knobs_of

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
