"""Cycle after cycle from a dump: what happens next, and what goes round for ever.

simulate.py         the way in, and the loop: what is due happens, the scheduler runs, the clock
                    goes on; storms and loops
world.py            what the loop asks of a cluster; what is to happen, what became of everybody
kueue_world.py      a cluster of Kueue in which time passes
kueue_flow.py       who comes and goes in it, and on which nodes; what tells two moments apart;
                    what Kueue decided, until something changes
yunikorn_world.py   a cluster of YuniKorn in which time passes
kueue_optimum.py, yunikorn_optimum.py
                    the least disruptive plan in the place of the scheduler's own victims
script.py           run times, checkpoints and arrivals
record.py           what comes out

What a cycle does is replayed by ``planner.reference``, which knows nothing of this room.
"""

from planner.commands.simulate.record import Event, Simulation
from planner.commands.simulate.script import Script, read_script
from planner.commands.simulate.simulate import simulate

__all__ = ["Event", "Script", "Simulation", "read_script", "simulate"]
