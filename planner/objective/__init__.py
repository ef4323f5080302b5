"""What disruption means: named integer terms with units, and profiles that order them.

annotation.py    what administrators tell about a workload: tier, checkpoint, restart time, and
                 what an eviction costs by run time
terms.py         the values of the terms, per workload and for a whole plan; what a search knows
                 of terms that no formula gives
sums.py          what each workload adds to the terms that are sums; its place and its rank
kueue.py         the terms of a pending workload of Kueue: what queues and cohorts borrow by their
                 weights, what PodDisruptionBudgets cover
yunikorn.py      the terms of an ask of YuniKorn
applied.py       an objective applied to a state: groups, priorities, what it protects and counts
wishes.py        conditions of an objective besides the laws: run time granted, budgets of evictions
profiles.py      profiles as data: caps, then lexicographic levels
profile_file.py  profiles that users write, as TOML, read within bounds; costs of workloads that
                 users give
"""
