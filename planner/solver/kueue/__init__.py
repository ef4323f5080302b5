"""Plans for pending workloads of Kueue.

start.py        what planning asks of Kueue
planning.py     what Kueue decides for one pending workload, what its laws leave open, and its rules
remarks.py      what is said next to every plan
placement.py    what Kueue itself would do where pods need a place on nodes
kep83.py        the same by the rules of KEP-83
strict.py       the same with documented precedence, ST-01 to ST-05
solve.py        a planned workload to its proven optimum
flavors.py      the same over all flavors that the rules permit
aftermath.py    the state after a plan, and which victims would then preempt again: the term D11
stability.py    a plan with the victims that would preempt again
describe.py     victim sets as plans, the tree around them, and short answers in words
release.py      what the release of Kueue leaves open, and whether another decides otherwise
recorded.py     the plan by the requests that Kueue recorded, where the template makes others
joint/          one plan for several pending workloads
"""
