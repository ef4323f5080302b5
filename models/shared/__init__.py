"""Building blocks that know no scheduler.

builder.py  linear expressions and constraints over CP-SAT's own proto; some bind under a literal
classes.py  classes of interchangeable candidates: the decision variables; linear rows over classes
            that every legal victim set satisfies
measure.py  disruption terms as expressions
"""
