"""A plan of Kueue against its laws, in the order of the registry.

plan.py          the way in: a plan, matched and judged
setting.py       who wants in: the side of a queue, policies, variants, candidates, attempts
removal.py       a legal order of removals, constructed and replayed
case.py          a plan matched with the state
candidates.py    the checks both rule sets share: fitting, and who may be a victim
classical.py     one check per law of Kueue's classical preemption, KQ-01 to KQ-08
fair_sharing.py  one check per law of Kueue's fair sharing, FS-01 to FS-07; its own setting,
                 removal and case are in fair_setting.py, fair_removal.py and fair_case.py
flavors.py       the flavors themselves, KF-01; node_match.py: may a podset run on a flavor?
certificate.py   the certificate's own claims: values, bounds, multipliers, order
facts.py         the plan's claims about the state: who, how much, shares
wording.py       amounts, queues and shares in words
"""
