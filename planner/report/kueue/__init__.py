"""What only results about Kueue have, and results that only Kueue has.

table.py, plain.py, page.py  the plan for a pending workload, in each format
explanation.py               its workloads in an explanation
words.py                     its reason codes and the laws behind them
flavors.py, stability.py     flavors chosen for least disruption; who would preempt again
joint.py, boost.py           a joint plan; priority boosts
message.py                   a text of Kueue about a preemption, taken apart
"""
