"""A cluster of Kueue watched.

keep.py      the state after each change; the states around each preemption, also in files
follower.py  a cluster followed as it goes on: its changes taken, all read anew where that is due
live.py      for which workloads Kueue will preempt, and what its victims cost beside the optimum;
             the watch of a live cluster, or of one dump after the other
"""
