"""How often what runs would be a victim, over a set of preemptors that may come.

measure.py  the preemptors: everything pending, and the shapes of what runs submitted once more;
            each of them planned by itself, as if it came alone, and the victims counted
kueue.py    what runs in a cluster of Kueue, and its shapes; yunikorn.py the same of YuniKorn
record.py   what comes out: a row for each preemptor, a row for each that runs
"""

from planner.commands.risk.measure import SHAPES, Shapes, risk
from planner.commands.risk.record import Attempt, Exposed, Risk, Skipped

__all__ = ["SHAPES", "Attempt", "Exposed", "Risk", "Shapes", "Skipped", "risk"]
