"""A plan carried out in a cluster, one call of kubectl after the other.

record.py  what was done, and what came of it
kueue/     the two ways that a live Kueue goes along with: evictions behind a hold, and boosts
"""
