"""Quota arithmetic shared by reference, problem and verifier: no decisions.

classes.py    classes of interchangeable candidates
kueue/        trees of cohorts and ClusterQueues, workloads, flavors, topologies
yunikorn/     the same for YuniKorn: its queues, nodes and resources
"""
