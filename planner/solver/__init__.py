"""Problem to proven optimum: the only room that runs a solver.

engine.py     one CP-SAT run with the settings that were measured and found safe
bound.py      lower bounds from linear-programming duals, recomputed in exact integers
search.py     the state of a search, and one exact solve within it
core.py       which classes of candidates a level needs to look at
levels.py     lexicographic levels: minimise, prove, fix
tie_break.py  the canonical answer among equals
solve.py      a pending workload to its plan
describe.py   decisions and victim sets as plans
"""
