"""The wing of research: what nobody needs to plan for the cluster of today.

wing.py      what it adds to the planner
generate/    made-up clusters
import_/     clusters of public traces
simulate/    cycle after cycle, and loops of evictions
bench/       rivals on a fixed suite of states with their proven optima
rivals/      other ways to choose victims
kep83/       the rule set of KEP-83, by which Kueue got preemption
strict/      the rule set of documented precedence, beside Kueue's own
report/      its answers in every format; schemas.py: their JSON Schemas
cli/         its commands
"""
