"""What disruption means: named integer terms with units, and profiles that order them.

annotation.py    what administrators tell about a workload: tier, checkpoint, restart time, and
                 what an eviction costs by run time
terms.py         the values of the terms, per workload and for a whole plan; what a search knows
                 of the term D11, which no formula tells
sums.py          what each workload adds to the terms that are sums; places and ranks
kueue.py         the terms of a pending workload of Kueue: what queues and cohorts borrow by their
                 weights, what PodDisruptionBudgets cover
yunikorn.py      the terms of an ask of YuniKorn
applied.py       an objective meets a state: its groups and priorities, what it protects and counts
wishes.py        what binds every answer besides the rules: run time granted, budgets
profiles.py      profiles as data: caps, then lexicographic levels
profile_file.py  profiles that users write, as TOML, read within bounds; what they say that a
                 workload costs
"""
