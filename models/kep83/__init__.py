"""KEP-83's rules as CP-SAT formulations, on the variables and usage of Kueue's.

candidates.py  laws that exclude single workloads, as masks; reasons
laws.py        the laws that tie victims together
build.py       a problem as a model: variables, then a flat list of laws
relaxation.py  linear rows that every legal victim set satisfies
"""
