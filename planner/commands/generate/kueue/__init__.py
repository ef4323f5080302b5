"""Clusters of Kueue: what runs first, then the quotas that it follows from.

layout.py   what a cluster consists of
shape.py    what workloads ask for
draw.py     queues, what runs, the preemptor, and the trap of a hard state
quota.py    the quotas, legal by construction
objects.py  the objects that kubectl would print
"""
