"""One whole scheduling cycle of Kueue, replayed step by step, without a solver.

waiting.py        who waits in which queue, in which order, the heads, what queues remember, and
                  which workloads the scheduler cannot tell apart
admissibility.py  what is turned down before any flavor is looked at
nomination.py     at which filter a pending workload fails before any of this, and whether the
                  scheduler ever comes to it
record.py         a head with its decision; who decides; an entry and a cycle as they end
processing.py     one entry: overlap, fit, preemption, admission, reserved capacity
run.py            all of it, from the heads, over the order of processing without and with fair
                  sharing, to who goes back to the queue and who is parked

Source: docs/semantics/kueue.md §7 and docs/semantics/kueue-topology.md §6.2; kueue ff69552e
pkg/scheduler/scheduler.go and pkg/cache/queue. The second pass, which only topology needs, is left
out.
"""
