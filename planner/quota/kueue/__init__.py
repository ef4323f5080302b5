"""Quota of Kueue: the tree of cohorts and ClusterQueues, and what workloads ask for and hold.

amount.py     64-bit amounts: saturating, with Kueue's Unlimited; of old releases wrapping around
tree.py       the tree of cohorts and ClusterQueues, and its usage
share.py      dominant resource shares
activity.py   which queues and cohorts take part
devices.py    what pods take for the devices that they claim
request.py    what a pending workload asks for
assignment.py which flavor each of its podsets gets
holding.py    what an admitted workload holds, worked out once for all that hold the same
holders.py    who holds quota: each as a record, and all of a queue as columns
past_use.py   what LocalQueues used, by which admission fair sharing orders
slices.py     the old slice that a slice of an elastic workload replaces
snapshot.py   state -> tree + admitted workloads
topology.py   what placed pods take of nodes, and what is left on them
topology_tree.py  the nodes behind a flavor as a tree of domains
placing.py    what podsets ask of the nodes: groups, levels, slices
preemptor.py  the pending workload that wants in, and for how long it has waited
"""
