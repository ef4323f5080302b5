"""What disruption means: named integer terms with units, and profiles that order them.

annotation.py    what administrators tell about a workload: tier, checkpoint, restart time
costs.py         what users say that a workload costs
kueue_sharing.py
                 what queues and cohorts borrow, by their weights
kueue_budget.py  what PodDisruptionBudgets cover, and how much of it may go
milestone.py     what an eviction costs by run time
terms.py         the values of the terms, per workload and for a whole plan
sums.py          what each workload adds to the terms that are sums; places and ranks
cascading.py     what a search knows of the term D11, which no formula tells
kueue.py         the terms of a pending workload of Kueue
yunikorn.py      the terms of an ask of YuniKorn
applied.py       an objective meets a state: its groups and priorities, what it protects and counts
wishes.py        what binds every answer besides the rules: run time granted, budgets
profiles.py      profiles as data: caps, then lexicographic levels
profile_file.py  profiles that users write, as TOML, read within bounds
"""
