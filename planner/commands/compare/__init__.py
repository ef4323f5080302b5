"""Algorithms beside each other on many states: who goes, at what cost, in what time.

record.py     what comes out: a row for each state, pending workload and algorithm; totals
algorithm.py  one way to answer
measure.py    what can be compared, and its names; one pending workload, each answer measured; all
              in memory, or in files as a batch; many rows to distributions, and to wins against
              the first algorithm
kueue.py      ways to answer for Kueue: other settings, and the rules of KEP-83
table.py      the rows as a flat table, and as a pandas DataFrame; packages that some outputs need
confidence.py intervals of shares and means over many states

Source: docs/design/theory.md §1 (researchers); docs/design/objectives.md §2 and §3 (the ratio, and
the terms).
"""

from planner.commands.compare.measure import Question, compare, compare_states, find_algorithms
from planner.commands.compare.record import Comparison

__all__ = ["Comparison", "Question", "compare", "compare_states", "find_algorithms"]
