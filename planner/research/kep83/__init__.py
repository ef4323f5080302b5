"""KEP-83, the proposal of 2022 by which Kueue got preemption, as a rule set.

rules.py      the record of the rule set
laws.py       K83-01 to K83-08, and how open words of the text are read
options.py    its options; a state as it knows it; how long a preemptor has waited

Three independent answers to one question, which never import one another:

reference.py  its algorithm, step by step
model.py      its laws as constraints, on the variables of Kueue's own
verifier.py   its laws as checks of a plan

problem.py    one decision in integers
planning.py   a pending workload being planned by it
replay.py     what ``planner check`` computes again
"""
