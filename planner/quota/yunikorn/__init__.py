"""YuniKorn's queues, nodes and arithmetic, without any decisions.

resource.py    arithmetic of sparse resources
queue.py       what queues inherit, and what their properties mean; their tree with limits and
               usage; what is left of the guaranteed; a copy of the usage to try removals on
limits.py      what users and groups may have, and how many applications may run
cluster.py     a partition made ready: queues, nodes, asks, and which nodes may host an ask
held_back.py   what passes over an ask, however long it waits
predicates.py  what Kubernetes demands of a node for an ask's pod, and what removals give back
lowered.py     a queue above its lowered maximum: what the core would free, and in which leaves

Source: docs/semantics/yunikorn.md §1, §2 and §5; yunikorn-core be3bb487.
"""
