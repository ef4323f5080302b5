"""Many states, each of its pending workloads: the scheduler's own answer beside the optimum.

instance.py  packed states of files, folders and recorded lines, and the instances they open to; a
             question about many states, answered as a batch
judge.py     one pending workload: what is wrong with the scheduler's own answer; all of one state
             in memory, or of many in files; totals of many cases
kueue.py     fewer victims under documented precedence
record.py    the result: cases, failures, totals

Source: docs/design/theory.md §1; docs/design/needs.md §1.
"""

from planner.commands.audit.instance import Settings
from planner.commands.audit.judge import Question, audit, audit_states, distinct
from planner.commands.audit.record import Case

__all__ = ["Case", "Question", "Settings", "audit", "audit_states", "distinct"]
