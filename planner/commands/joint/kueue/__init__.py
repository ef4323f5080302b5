"""Joint plans: several pending workloads of Kueue admitted together, at the least disruption.

question.py  who waits, in which order of precedence, and the terms over all trees concerned
ways.py      ways to serve a workload: flavors, what may be short, and what else a state can change
sequence.py  preemptors served one after another: a plan replayed, and serving greedily
rules.py     the rules as a search uses them: the model, and Kueue's own replay
solve.py     who is admitted, then the levels of the objective
describe.py  the joint plan: what a search found, as records
"""
