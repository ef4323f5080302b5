"""Problem to proven optimum: the only room that runs a solver.

planning.py     what Kueue decides for one pending workload, and what its laws leave open
solve.py        a planned workload to its proven optimum
levels.py       lexicographic levels: minimise, prove, fix
core.py         the least value of one measure, on as few classes as the proof permits
bound.py        lower bounds from linear-programming duals, recomputed in exact integers
search.py       the state of a search, and one exact solve within it
engine.py       one CP-SAT run with the settings that were measured and found safe
tie_break.py    the canonical answer among equals
certificate.py  what the certificate says
describe.py     victim sets as plans
explanation.py  short answers in words
"""
