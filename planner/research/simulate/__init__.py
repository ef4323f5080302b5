"""Cycle after cycle from a dump: what happens next, and which states repeat for ever.

simulate.py         the entry, and the main loop: due appointments happen, the scheduler runs, the
                    clock goes on; finding loops, feuds and storms
world.py            the interface of a cluster to the main loop; appointments; fates
kueue_world.py      a cluster of Kueue in which time passes
kueue_flow.py       its arrivals and admissions, also on nodes; what its marks compare
yunikorn_world.py   a cluster of YuniKorn in which time passes
kueue_optimum.py, yunikorn_optimum.py
                    the least disruptive plan in the place of the scheduler's own victims
script.py           run times, checkpoints and arrivals
record.py           the records of a simulation

What a cycle does is replayed by ``planner.reference``, which does not import this package.
"""

from planner.research.simulate.record import Event, Simulation
from planner.research.simulate.script import Script, read_script
from planner.research.simulate.simulate import Question, simulate

__all__ = ["Event", "Question", "Script", "Simulation", "read_script", "simulate"]
