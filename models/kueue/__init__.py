"""Kueue's rules, classical and fair sharing, as CP-SAT formulations.

formulation.py   the model of one problem: victims per class of interchangeable workloads, usage
                 after the removals, last victims of every node
build.py         one problem as a model: variables, then a flat list of laws
laws.py          laws that exclude single workloads, as masks; attempts; reasons; the classical laws
                 that tie victims together
fair_sharing.py  the laws of fair sharing that tie victims together
places.py        room on the nodes, where pods are placed
joint.py         several preemptors served one after another: their ways, the steps, the model
relaxation.py    linear rows that every legal victim set satisfies, in every order of steps
"""
