"""One whole scheduling cycle of Kueue, replayed step by step, without a solver.

waiting.py        who waits in which queue, in which order, the heads, and what queues remember
admissibility.py  what is turned down before any flavor is looked at
nomination.py     at which filter a pending workload fails before any of this
record.py         a head with its decision; who decides; an entry and a cycle as they end
order.py          the order of processing without fair sharing
tournament.py     the order of processing with fair sharing
processing.py     one entry: overlap, fit, preemption, admission, reserved capacity
equivalence.py    which workloads the scheduler cannot tell apart
requeue.py        who goes back to the queue, and who is parked
turn.py           whether the scheduler ever comes to a pending workload, if nothing else changes
run.py            all of it, from the heads to the queues that are left

Source: docs/semantics/kueue.md §7 and docs/semantics/kueue-topology.md §6.2; kueue ff69552e
pkg/scheduler/scheduler.go and pkg/cache/queue. The second pass, which only topology needs, is left
out.
"""
