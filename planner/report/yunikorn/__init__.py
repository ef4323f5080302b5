"""What only results about YuniKorn have.

plan.py         the plan for an ask
explanation.py  its allocations in an explanation
"""
