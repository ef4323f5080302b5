"""Plans for pending workloads of Kueue.

planning.py     what Kueue decides for one pending workload, and what its laws leave open
rules.py        Kueue's rules as a search uses them
solve.py        a planned workload to its proven optimum
choices.py      the assignments of flavors that there are to choose from
flavors.py      the same over all flavors that the rules permit
certificate.py  bounds that can be checked by hand
describe.py     victim sets as plans
explanation.py  short answers in words
"""
