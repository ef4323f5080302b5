"""Quota of Kueue: the tree of cohorts and ClusterQueues, and what workloads ask for and hold.

amount.py     64-bit amounts: saturating, with Kueue's Unlimited; wrapping in older releases
tree.py       the tree of cohorts and ClusterQueues, its usage, dominant resource shares
activity.py   which queues and cohorts take part in scheduling
devices.py    what pods take for the devices that they claim
request.py    what a pending workload asks for
assignment.py which flavor each podset of a pending workload gets
holding.py    what an admitted workload holds, worked out once for all with equal usage
holders.py    workloads that hold quota: rows of one table, each a record when asked for
slices.py     slices of an elastic workload as one run
admission.py  workloads of a state -> those that hold quota, and all others
past_use.py   past use of LocalQueues, by which admission fair sharing orders workloads
snapshot.py   state -> tree + admitted workloads
topology.py   the nodes behind a flavor as a tree of domains; what placed pods take of them
selector.py   which labels and taints of a node keep a pod away
placement.py  pods that need a place on nodes: whether the state says enough, and why not
modes.py      which flavors of an assignment fit now, and which need preemption
placing.py    what podsets ask of the nodes: groups, levels, slices
preemptor.py  the preemptor, for how long it has waited, and the old slice that it replaces
"""
