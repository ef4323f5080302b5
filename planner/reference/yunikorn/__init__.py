"""YuniKorn's own choice of victims, replayed exactly, without a solver.

candidates.py     the fence, and what may be preempted below it
preconditions.py  when preemption is tried; the callback of the shim
generic.py        whether it can help, the plan of each node, the choice of the node, victims
quota.py          preemption after a quota was lowered
flow.py           ask after ask, until nothing moves
decision.py       one entry for all of it; preemption for an ask with a required node

Source: docs/semantics/yunikorn.md; yunikorn-core be3bb487.
"""
