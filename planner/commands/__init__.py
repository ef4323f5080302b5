"""A package for each command that makes more than a plan; cli/ calls it, report/ shows the result.

apply/     one plan carried out in a cluster
steer/     plans carried out as the scheduler goes on
audit/     many states: the scheduler's own answer beside the optimum
bench/     rivals on a fixed suite of states with their proven optima
boost/     priority boosts after which Kueue itself takes the victims of a plan
check/     a plan made by anybody, checked
compare/   algorithms beside each other on many states
explain/   why this victim, why not that one, why nothing
generate/  made-up clusters
import_/   clusters of public traces
lint/      what a configuration makes possible, impossible or pointless
replay/    recorded answers of the real schedulers against the references
risk/      how often each running workload would be a victim
serve/     answers to other programs, over HTTP
simulate/  cycle after cycle, and loops of evictions
watch/     a live cluster, compared with replay and optimum
whatif/    what if the cluster were otherwise: edits of a state
"""
