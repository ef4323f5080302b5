"""Plans for pending workloads of Kueue.

start.py        what planning asks of Kueue; the plan by recorded requests, and what Kueue would do
                with placement, where a plan leaves it out
planning.py     a case being planned: whom its rules permit, and what a search asks of them
solve.py        the solve of a planned workload to its proven optimum; where its pods go then
flavors.py      the optimum over all flavors that the rules permit
aftermath.py    which victims of a plan would preempt again
stability.py    whether the victims of a plan would preempt again; plans whose victims would not
"""
