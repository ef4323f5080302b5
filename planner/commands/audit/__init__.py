"""Many states, each of its pending workloads: the scheduler's own answer beside the optimum.

instance.py  files, folders and recorded lines to packed states; a packed state to an instance
judge.py     one pending workload: what is wrong with the scheduler's own answer
kueue.py     what documented precedence leaves of it; the same with pods placed at will
record.py    what comes out: cases, failures, totals
sweep.py     what is done with one state done with many, as a batch
many.py      all of it for one state in memory, or for many in files; many cases to totals

Source: docs/design/theory.md §1; docs/design/needs.md §1.
"""

from planner.commands.audit.judge import Question
from planner.commands.audit.many import audit, audit_states
from planner.commands.audit.record import Case
from planner.commands.audit.sweep import Settings

__all__ = ["Case", "Question", "Settings", "audit", "audit_states"]
