"""A second implementation of what is legal and what it costs, for small states.

Written from the pages alone (README.md and docs/, above all docs/semantics/kueue.md), on raw
Kubernetes objects, with no line of ``planner`` in it: ``test_independence.py`` looks at the
imports. It is slow on purpose: legal sets are found by removing candidates in every order, and
the best by looking at all of them. ``tests/brute_force.py`` asks it about snapshots of the product.

amounts.py        Kubernetes quantities and the arithmetic of 64 bits
cluster.py        the objects: queues, cohorts, workloads that hold quota
tree.py           usage, quota and what is available, after any removals
question.py       the workload that waits: what it asks for, and who asks
legality.py       classical preemption: candidates, attempts, every legal set
fair.py           the same under fair sharing
greedy.py         whom Kueue itself evicts, classical
assignment.py     Fit or Preempt, where every resource has one flavor
afterwards.py     the objects once some have gone and somebody is admitted
stability.py      who would preempt again after a set, classical
terms.py          the disruption terms of a set
budgets.py        what PodDisruptionBudgets permit
objectives.py     levels, caps, and the canonical answer
yunikorn.py       the written laws of YuniKorn, on clusters of one resource
random_states.py, random_workloads.py, random_queueing.py
                  states to try it on
"""
