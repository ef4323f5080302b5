"""Building blocks that know no scheduler.

builder.py  linear expressions and constraints over CP-SAT's own proto; some bind under a literal
classes.py  classes of victims that nothing tells apart: the decision variables; linear rows over
            them that every legal victim set satisfies
measure.py  disruption terms as expressions
"""
