"""How often each running workload would be a victim, over a set of preemptors that may come.

measure.py  the preemptors: everything pending, and the shapes of what runs submitted once more;
            each is planned for as if it came alone, and the victims are counted: a row for each
            preemptor, a row for each running workload or allocation
kueue.py    what runs in a cluster of Kueue, and its shapes; yunikorn.py the same of YuniKorn
"""

from planner.operations.risk.measure import Question, Risk, risk

__all__ = ["Question", "Risk", "risk"]
