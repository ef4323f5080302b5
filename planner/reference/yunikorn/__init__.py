"""YuniKorn's own choice of victims, replayed exactly, without a solver.

candidates.py  when preemption is tried; the fence; candidates below it; the shim's predicates
decision.py    one entry for all preemption: the plan of each node, the choice of the node, the
               victims; and preemption for an ask with a required node
quota.py       preemption after a quota was lowered
flow.py        ask after ask, until nothing moves

Source: docs/semantics/yunikorn.md; yunikorn-core be3bb487.
"""
