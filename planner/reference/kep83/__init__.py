"""KEP-83's algorithm of 2022, step by step as its text has it.

context.py     what every step looks at
flavors.py     flavors: a first walk for what is available, a second for what preemption can free
candidates.py  who may be preempted, in the order of the KEP
search.py      removing until it fits, and adding back
decision.py    all of it for one pending workload

docs/semantics/kep83.md retells it. What it leaves open is decided in `planner.laws.kep83`, the
options in `planner.state.kep83`.
"""

from planner.reference.kep83.decision import decide_kep83

__all__ = ["decide_kep83"]
