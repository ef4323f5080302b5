"""What only results about Kueue have, and results that only Kueue has.

plan.py         the plan for a pending workload
joint.py        a joint plan
nodes.py        racks and hosts with their slots
explanation.py  its workloads in an explanation; its texts about a preemption, taken apart
apply.py        a plan carried out
boost.py        priority boosts
live.py         what a cluster did between two dumps
own.py          each of those that only Kueue has
"""
