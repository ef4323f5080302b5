"""How often what runs would be a victim, over a set of preemptors that may come.

shapes.py   the preemptors: everything pending, and the shapes of what runs submitted once more
kueue.py    what runs in a cluster of Kueue, and its shapes; yunikorn.py the same of YuniKorn
measure.py  each of them planned by itself, as if it came alone, and the victims counted
record.py   what comes out: a row for each preemptor, a row for each that runs
"""

from planner.commands.risk.measure import risk
from planner.commands.risk.record import Attempt, Exposed, Risk, Skipped
from planner.commands.risk.shapes import SHAPES, Shapes

__all__ = ["SHAPES", "Attempt", "Exposed", "Risk", "Shapes", "Skipped", "risk"]
