"""Building blocks that know no scheduler.

builder.py  linear expressions and constraints over CP-SAT's own proto; some bind under a literal
classes.py  classes of victims that nothing tells apart: the decision variables
measure.py  disruption terms as expressions
row.py      linear rows that every legal victim set satisfies
"""
