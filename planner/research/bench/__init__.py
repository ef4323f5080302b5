"""A benchmark: a fixed suite of states with their proven optima, and rivals on all of them.

record.py    the records: cases with their optima, a row for each answer, totals
kueue_families.py
             states that a theorem says are hard, made from numbers
run.py       a suite read from its file, its states made anew; optima proved and recorded; the
             answers of one rival to one case, for every objective, judged and measured; all cases
             and rivals as a batch that can be stopped and goes on
summary.py   rows to totals by size, to performance profiles, and to a flat table

Source: docs/explanation/bench.md.
"""

from planner.research.bench.record import Bench
from planner.research.bench.run import Chosen, bench

__all__ = ["Bench", "Chosen", "bench"]
