"""A cluster of Kueue watched.

judge.py  for whom it will preempt, and what its victims cost beside the optimum
keep.py   the state after each change, and the states around each preemption
store.py  those states in files
live.py   all of it for a cluster that goes on, or for one dump after the other
"""
