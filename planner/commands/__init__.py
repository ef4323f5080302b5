"""A package for each command that makes more than a plan; cli/ calls it, report/ shows the result.

audit/     many states: the scheduler's own answer beside the optimum
boost/     priority boosts after which Kueue itself takes the victims of a plan
check/     a plan made by anybody, checked
compare/   algorithms beside each other on many states
explain/   why this victim, why not that one, why nothing
front/     the Pareto front of two measures, plan after plan
joint/     one plan for several pending workloads of Kueue
replay/    recorded answers of the real schedulers against the references
study/     what audit, compare and bench share: states, a run over all of them, tallies
whatif/    what if the cluster were otherwise: edits of a state
"""
