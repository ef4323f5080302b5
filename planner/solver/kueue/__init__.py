"""Plans for pending workloads of Kueue.

start.py        what planning asks of Kueue
planning.py     what Kueue decides for one pending workload, and what its laws leave open
rules.py        Kueue's rules as a search uses them
strict.py       the same with documented precedence, ST-01 to ST-05
solve.py        a planned workload to its proven optimum
choices.py      the assignments of flavors that there are to choose from
flavors.py      the same over all flavors that the rules permit
elsewhere.py    that no other flavors are better, by trees or two engines
aftermath.py    the snapshot after a plan: victims pending again, the preemptor admitted
cascade.py      whom a victim would then preempt, by Kueue's own decision
relapse.py      the same for many victim sets, and what one answer says of others: the term D11
hurried.py      what is answered of D11 once time is up
stability.py    a plan with the victims that would preempt again
certificate.py  bounds that can be checked by hand
describe.py     victim sets as plans; quota_tree.py: the tree around them, before and after
release.py      what the release of Kueue leaves open, and whether another decides otherwise
turn.py         what a plan says where Kueue would never come to its preemptor
explanation.py  short answers in words
"""
