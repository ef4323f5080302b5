"""Many states, each of its pending workloads: the scheduler's own answer beside the optimum.

instance.py  files, folders and recorded lines to packed states, and these to instances; what is
             asked of many of them, done with each as a batch
judge.py     one pending workload: what is wrong with the scheduler's own answer; all of one state
             in memory, or of many in files; many cases to totals
kueue.py     what documented precedence leaves of it; the same with pods placed at will
record.py    what comes out: cases, failures, totals

Source: docs/design/theory.md §1; docs/design/needs.md §1.
"""

from planner.commands.audit.instance import Settings
from planner.commands.audit.judge import Question, audit, audit_states
from planner.commands.audit.record import Case

__all__ = ["Case", "Question", "Settings", "audit", "audit_states"]
