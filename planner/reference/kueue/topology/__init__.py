"""Placement of pods on nodes, as Kueue does it where a flavor has a topology.

ask.py       what a podset asks of a tree of domains: level, slices, layers
slots.py     how many pods each leaf and domain takes, which leaves qualify, the orders among
             domains, whether there is room at all, and a domain as a tree of its own
place.py     the placement of one podset, or of one group of workers and their leader, balanced
             where a gate says so
find.py      all podsets of a workload, one after the other; why pods cannot be placed
assigning.py flavor assignment with placement: what is asked for, Fit, Preempt or NoFit

Source: docs/semantics/kueue-topology.md §3 to §6.
"""
