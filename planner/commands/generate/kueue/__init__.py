"""Clusters of Kueue: what runs first, then the quotas that it follows from.

layout.py   every knob, named clusters, what a cluster consists of, and what its workloads ask for
draw.py     queues, what runs, the preemptor, the trap of a hard state; quotas that make it legal
objects.py  the objects that kubectl would print; racks of nodes, and where Kueue's own placement
            puts what runs
"""
