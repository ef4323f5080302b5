"""A plan of Kueue against its laws, in the order of the registry.

plan.py          the entry point: a plan, matched and judged
setting.py       the preemptor before any removal: the side of a queue, policies, variants,
                 candidates, attempts; amounts, queues and shares in words
case.py          a plan matched with the state, and a legal order of its removals
classical.py     one check per law of Kueue's classical preemption, KQ-01 to KQ-08, and checks that
                 other rule sets share: fitting, and who may be a victim
fair_sharing.py  one check per law of Kueue's fair sharing, FS-01 to FS-07; its own setting, order
                 of removals and case
flavors.py       the flavors themselves, KF-01
certificate.py   the plan's own claims: values, bounds, multipliers, order, facts, shares
"""
