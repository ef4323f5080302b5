"""Priority boosts after which a scheduler's own algorithm takes the victims of a plan.

kueue/  the only one that has such boosts
"""
