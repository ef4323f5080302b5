"""One whole scheduling cycle of Kueue, replayed step by step, without a solver.

waiting.py        the workloads in each queue, their order, the heads, what queues remember, and
                  which workloads the scheduler cannot tell apart
admissibility.py  heads that are turned down before any flavor is looked at
nomination.py     at which filter a pending workload fails before it is nominated, and what keeps
                  the scheduler from acting on a decision
turn.py           what the next cycles do with a workload, and who is before it
processing.py     a head with its decision; the decider; what becomes of an entry and of a cycle:
                  overlap, fit, preemption, admission, reserved capacity
comeback.py       which victims come back before the preemptor
run.py            the whole cycle, from the heads, over the order of processing without and with
                  fair sharing, to which workloads go back to the queue and which are parked

Source: docs/semantics/kueue.md §7 and docs/semantics/kueue-topology.md §6.2; kueue ff69552e
pkg/scheduler/scheduler.go and pkg/cache/queue. The second pass, which only topology needs, is left
out.
"""
