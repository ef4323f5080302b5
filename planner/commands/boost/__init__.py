"""Priority boosts after which a scheduler's own algorithm takes the victims of a plan.

kueue/  the boosts of Kueue, the only scheduler that has any
"""
