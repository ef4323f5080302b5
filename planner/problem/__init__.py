"""One preemption decision in integers: frozen, index-based, the only thing a model sees.

array.py     the types of its arrays
kueue.py     a pending workload against a tree of cohorts and ClusterQueues
yunikorn.py  an ask against nodes and queues
"""
