"""Joint plans: several pending workloads of Kueue admitted together, at the least disruption.

question.py  who waits, in which order of precedence, and in which ways each may be served
ways.py      flavors, what may be short, and what else a state can change
table.py     the disruption terms over the workloads of all trees concerned
sequence.py  preemptors served one after another: a plan replayed, and serving greedily
rules.py     the rules as a search uses them: the model, and Kueue's own replay
relaxed.py   what holds in every order: lower bounds from cover rows
solve.py     who is admitted, then the levels of the objective
proving.py   that there is no joint plan, asked again of two engines
describe.py  what was found as records
"""
