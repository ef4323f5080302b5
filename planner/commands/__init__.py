"""A room for each command that is more than one plan; cli/ asks them, report/ shows what they say.

apply/     a plan carried out in a cluster
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
risk/      how often what runs would be a victim
serve/     answers to other programs, over HTTP
simulate/  cycle after cycle, and what goes round
watch/     a cluster as it goes on, against replay and optimum
whatif/    what if the cluster were otherwise: edits of a state
"""
