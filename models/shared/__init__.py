"""Building blocks that know no scheduler.

builder.py  linear expressions and constraints over CP-SAT's own proto
"""
