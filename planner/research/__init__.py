"""The wing of research: what nobody needs to plan for a cluster of today.

wing.py     what it adds to the planner
kep83/      the rule set of KEP-83, by which Kueue got preemption
strict/     the rule set of documented precedence, beside Kueue's own
"""
