"""Plans for pending workloads of Kueue.

start.py        what planning asks of Kueue; the plan by recorded requests, and what Kueue would do
                with placement, where a plan leaves it out
planning.py     what Kueue decides for one pending workload, and what its laws leave open
rules.py        the rules of one problem, as a search uses them
placement.py    where pods need a place on nodes: whether all is known of them, and why not
kep83.py        the same by the rules of KEP-83
strict.py       the same with documented precedence, ST-01 to ST-05
solve.py        a planned workload to its proven optimum; where its pods go then
flavors.py      the same over all flavors that the rules permit
aftermath.py    the state after a plan, and which victims would then preempt again: the term D11
stability.py    a plan with the victims that would preempt again
describe.py     victim sets as plans, the tree around them, short answers in words, and what is
                said next to every plan
release.py      what the release of Kueue leaves open, where its amounts wrap around, and whether
                another decides otherwise
joint/          one plan for several pending workloads
"""
