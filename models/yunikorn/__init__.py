"""YuniKorn's laws as CP-SAT formulations.

candidates.py       the laws that exclude single allocations; adjusted priorities
guaranteed.py       which guaranteed amounts count at a queue
need.py             what victims must free, and what they may, law by law
columns.py          classes of allocations: the decision variables
formulation.py      the model while it is being built
laws.py             the laws that tie victims together, but for YK-05
over_guaranteed.py  YK-05: an order of removals
build.py            variables, then laws
relaxation.py       linear rows per node
"""
