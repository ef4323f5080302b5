"""What only results about Kueue have, and results that only Kueue has.

plan.py         the plan for a pending workload, and racks and hosts with their slots
joint.py        a joint plan
explanation.py  workloads and nodes in an explanation; Kueue's texts about a preemption, taken apart
own.py          what only Kueue has: a plan carried out, priority boosts, a replay of a live cluster
"""
