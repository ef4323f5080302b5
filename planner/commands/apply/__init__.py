"""A plan carried out in a cluster, one call of kubectl after the other.

record.py  the record of a run: its steps, and its outcome
kueue/     the two ways that work with a live Kueue: evictions behind a hold, and boosts
"""

from planner.plan.record import COMMANDS as COMMANDS
