"""The verifier: a finished plan against the rules, law by law, without a solver.

It is written from the specification alone and imports neither the reference nor the models, so
that its agreement with them is evidence. The function of a law is named like the law in
``planner.laws``. It takes a case, which is a plan matched with the state, and returns a verdict in
words, without knowing how the plan was found.

kueue/      the laws of Kueue: classical preemption and fair sharing
yunikorn/   the same for YuniKorn, YK-01 to YK-14
kueue_topology/   room and placement on nodes, KT-01 and KT-02, beside the laws of Kueue
wording.py  verdicts in words
"""
