"""One preemption decision in integers: frozen, index-based, the only thing a model sees.

array.py     the types of a problem's arrays
kueue.py     a pending workload against a tree of cohorts and ClusterQueues; who holds quota in it
kueue_places.py     what podsets need on nodes where pods are placed, what victims give back, and
                    which leaves may take the pods of a podset
yunikorn.py  an ask against nodes and queues
"""
