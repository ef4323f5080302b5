"""YuniKorn's own choice of victims, replayed exactly, without a solver.

candidates.py     the fence, and what may be preempted below it
predicates.py     the callback of the shim
preconditions.py  when preemption is tried
node_plan.py      whether it can help, and the plan of each node
generic.py        the choice of the node, additional and final victims
required_node.py  preemption for an ask with a required node
quota.py          preemption after a quota was lowered
flow.py           ask after ask, until nothing moves
decision.py       one entry for all of it

Source: docs/semantics/yunikorn.md; yunikorn-core be3bb487.
"""
