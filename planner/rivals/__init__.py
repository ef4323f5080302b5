"""Other ways to choose victims, for a benchmark: on the same problem, under the same laws.

contest.py    one case and objective, a judge that counts its judgements, and a rival's answer
rules.py      rules of thumb: greedy ones, and those of other schedulers where they can be compared;
              random orders, and local search
exact.py      engines on the model as it stands: CP-SAT, SCIP, HiGHS; and rounding of its
              relaxation; the planner's own search, whole, and without each of its parts
mathopt.py    a CP-SAT model as a mixed-integer program for SCIP and HiGHS
table.py      all rivals by name, each with its source
kueue.py, yunikorn.py
              what the rivals need to know of a scheduler

No rival is believed: the verifier judges the victims it chooses, and the terms measure them.
"""
