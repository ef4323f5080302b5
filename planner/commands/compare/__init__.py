"""Algorithms beside each other on many states: their victims, the disruption, and the time taken.

record.py     the result: a row for each state, pending workload and algorithm; totals
algorithm.py  one algorithm, and what a scheduler with algorithms of its own must provide
measure.py    the algorithms by name; their answers for one pending workload, measured; states in
              memory, or in files as a batch; distributions of many rows, and wins against the
              first algorithm
kueue.py      algorithms for Kueue: other settings, and other rules
table.py      the rows as a flat table; tables as Parquet; packages that some outputs need
confidence.py intervals of shares and means over many states

Source: docs/design/theory.md §1 (researchers); docs/design/objectives.md §2 and §3 (the ratio, and
the terms).
"""

from planner.commands.compare.measure import Question, compare, compare_states, find_algorithms
from planner.commands.compare.record import Comparison

__all__ = ["Comparison", "Question", "compare", "compare_states", "find_algorithms"]
