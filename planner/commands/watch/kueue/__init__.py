"""A cluster of Kueue watched.

keep.py  the state after each change; the states around each preemption, also in files
live.py  for whom it will preempt, and what its victims cost beside the optimum; all of it for a
         cluster that goes on, or for one dump after the other
"""
