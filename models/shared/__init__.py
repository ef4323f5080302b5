"""Building blocks that know no scheduler.

builder.py  linear expressions and constraints over CP-SAT's own proto
classes.py  classes of victims that nothing tells apart: the decision variables
guarded.py  the same, binding only where a literal holds
measure.py  disruption terms as expressions
row.py      linear rows that every legal victim set satisfies
"""
