"""YuniKorn's laws as CP-SAT formulations.

candidates.py     the laws that exclude single allocations; adjusted priorities; which guaranteed
                  amounts count; the amounts that victims must free, and those that they may
formulation.py    the model of one problem while it is being built: classes, variables
laws.py           the laws that tie victims together; YK-05 by an order of removals; a problem as a
                  model: variables, then laws; what all candidates of a node hold too little of
"""
