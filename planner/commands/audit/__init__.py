"""Many states, each of its pending workloads: the scheduler's own answer beside the optimum.

judge.py     one pending workload: what is wrong with the scheduler's own answer; all of one state
             in memory, or of many in files; totals of many cases
record.py    the result: cases, failures, totals

Source: docs/design/theory.md §1; docs/design/needs.md §1.
"""

from planner.commands.audit.judge import Question, audit, audit_states
from planner.commands.audit.record import Case

__all__ = ["Case", "Question", "audit", "audit_states"]
