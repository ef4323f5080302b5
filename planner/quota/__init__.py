"""Quota arithmetic shared by reference, problem and verifier: no decisions.

amount.py     saturating 64-bit amounts with Kueue's Unlimited
tree.py       the tree of cohorts and ClusterQueues, and its usage
activity.py   which queues and cohorts take part
request.py    what a pending workload asks for
holding.py    what an admitted workload holds
snapshot.py   state -> tree + admitted workloads
preemptor.py  the pending workload that wants in
yunikorn/     the same for YuniKorn: its queues, nodes and resources
"""
