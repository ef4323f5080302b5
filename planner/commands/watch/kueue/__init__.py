"""A cluster of Kueue watched.

judge.py  for whom it will preempt, and what its victims cost beside the optimum
keep.py   the state after each change; the states around each preemption, also in files
live.py   all of it for a cluster that goes on, or for one dump after the other
"""
