"""Cycle after cycle from a dump: what happens next, and what goes round for ever.

simulate.py         the way in
run.py              the loop: what is due happens, the scheduler runs, the clock goes on
world.py            what the loop asks of a cluster; marks, by which states are told apart
kueue.py            what is asked of Kueue; yunikorn.py the same of YuniKorn
kueue_world.py      a cluster of Kueue; kueue_mark.py, kueue_coming.py, kueue_leave.py and
                    kueue_use.py belong to it
yunikorn_world.py   a cluster of YuniKorn; yunikorn_mark.py and yunikorn_coming.py belong to it
optimum.py          the least disruptive plan in the place of the scheduler's own victims
agenda.py           what is to happen by itself
script.py           run times, checkpoints and arrivals
tally.py            what became of everybody
watch.py, story.py  storms and loops; a round told in words
record.py           what comes out

What a cycle does is replayed by ``planner.reference``, which knows nothing of this room.
"""

from planner.commands.simulate.record import (
    Event,
    Fate,
    Feud,
    Loop,
    Simulation,
    Storm,
    Totals,
    Use,
)
from planner.commands.simulate.script import Script, read_script
from planner.commands.simulate.simulate import CYCLES, EVICTION_S, STORM, simulate

__all__ = [
    "CYCLES",
    "EVICTION_S",
    "STORM",
    "Event",
    "Fate",
    "Feud",
    "Loop",
    "Script",
    "Simulation",
    "Storm",
    "Totals",
    "Use",
    "read_script",
    "simulate",
]
