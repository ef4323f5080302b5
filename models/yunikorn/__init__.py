"""YuniKorn's laws as CP-SAT formulations.

candidates.py     the laws that exclude single allocations; adjusted priorities; which guaranteed
                  amounts count; what victims must free, and what they may
formulation.py    a problem as a model: classes of allocations, variables, then laws
laws.py           the laws that tie victims together; YK-05 by an order of removals
relaxation.py     linear rows per node
"""
