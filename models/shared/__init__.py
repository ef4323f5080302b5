"""Building blocks that know no scheduler.

builder.py  linear expressions and constraints over CP-SAT's own proto; some bind under a literal
classes.py  classes of candidates as a model sees them: the decision variables; the laws in force
measure.py  disruption terms as expressions
"""
