"""Kueue's rules, classical and fair sharing, as CP-SAT formulations.

formulation.py   the model of one problem: victims per class of interchangeable workloads, usage
                 after the removals, last victims of every node
laws.py          laws that exclude single workloads, as masks; attempts; reasons; the laws that tie
                 victims together, classical and of fair sharing; one problem as a model: variables,
                 then a flat list of laws
places.py        room on the nodes, where pods are placed
joint.py         several preemptors served one after another: their ways, the steps, the model
"""
