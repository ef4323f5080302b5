"""The preemption rules of Kueue as CP-SAT constraints, one function per law."""
