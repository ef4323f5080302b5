"""YuniKorn's own choice of victims, replayed exactly, without a solver.

candidates.py  the fence, and the candidates below it
turn.py        what holds an ask back, and what must hold before it may preempt
predicates.py  what the shim answers: by resources, by a table, by what Kubernetes demands
decision.py    one entry for all preemption: the plan of each node, the choice of the node, the
               victims; and preemption for an ask with a required node
quota.py       preemption after a quota was lowered
order.py       in which order queues, applications and nodes are tried
cycle.py       whole scheduling cycles, pass by pass
outlook.py     what cycles make of a decision: who acts first, and what is left to chance
flow.py        ask after ask, until nothing moves

Source: docs/semantics/yunikorn.md; yunikorn-core be3bb487.
"""
