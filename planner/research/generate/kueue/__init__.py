"""Clusters of Kueue: first the running workloads are drawn, then quotas that make them legal.

layout.py   every knob, named clusters, what a cluster consists of, and the shapes of its workloads
draw.py     queues, running workloads, the preemptor, the trap of a hard state; quotas for them
objects.py  the objects that kubectl would print; racks of nodes, and where Kueue's own placement
            puts the running workloads
"""
