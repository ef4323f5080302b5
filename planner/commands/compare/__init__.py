"""Algorithms beside each other on many states: who goes, at what cost, in what time.

record.py     what comes out: a row for each state, pending workload and algorithm; totals
algorithm.py  one way to answer
measure.py    what can be compared, and its names; one pending workload, each answer measured
kueue.py      ways to answer for Kueue: other settings, and the rules of KEP-83
many.py       all of it for states in memory, or for many in files, as a batch; many rows to
              distributions, and to wins against the first algorithm
table.py      the rows as a flat table, and as a pandas DataFrame; packages that some outputs need
confidence.py intervals of shares and means over many states

Source: docs/design/theory.md §1 (researchers); docs/design/objectives.md §2 and §3 (the ratio, and
the terms).
"""

from planner.commands.compare.algorithm import Algorithm
from planner.commands.compare.many import Tally, compare, compare_states
from planner.commands.compare.measure import (
    DEFAULT_ALGORITHMS,
    Question,
    compare_instance,
    find_algorithm,
    find_algorithms,
)
from planner.commands.compare.record import (
    MEASURES,
    SCORED,
    Comparison,
    Distribution,
    Duel,
    Measure,
    Row,
    Score,
    Standing,
    StateComparison,
)
from planner.commands.compare.table import columns, frame, values

__all__ = [
    "DEFAULT_ALGORITHMS",
    "MEASURES",
    "SCORED",
    "Algorithm",
    "Comparison",
    "Distribution",
    "Duel",
    "Measure",
    "Question",
    "Row",
    "Score",
    "Standing",
    "StateComparison",
    "Tally",
    "columns",
    "compare",
    "compare_instance",
    "compare_states",
    "find_algorithm",
    "find_algorithms",
    "frame",
    "values",
]
