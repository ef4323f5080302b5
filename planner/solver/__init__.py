"""Problem to proven optimum: the only room that runs a solver.

start.py        the way in: a state, and what the user fixed, to a planning
given.py        what the user fixed
wishes.py       the wishes of an objective, imposed on a search
rules.py        what a search must know of a scheduler's rules
levels.py       lexicographic levels: minimise, prove, fix
core.py         the least value of one measure, on as few classes as the proof permits
bound.py        lower bounds from linear-programming duals, recomputed in exact integers
linear_program.py  bounds of relaxations, each choice that a law leaves made both ways
simplex.py      a linear program that is solved again and again with other bounds
search.py       the state of a search, and one exact solve within it
engine.py       one CP-SAT run with the settings that were measured and found safe
exact.py        what a CP-SAT model says of a point, in Python's integers
second_opinion.py  whether any answer is left, asked of two engines
milp.py         a CP-SAT model as a mixed-integer program, for these
equals.py       another answer among equals
tie_break.py    the canonical answer among them
pending.py      what to plan for when nobody says
pareto.py       the Pareto front of two measures
comparison.py   an optimum beside the scheduler's own plan: caps, and what may not be worse
certificate.py  what every certificate says: values, bounds, the solver
verdict.py      a plan that the verifier accepts, with its verdicts; any other is refused
answer.py       the plans of a question that needed no solver, or has no answer
kueue/          plans for pending workloads of Kueue
joint/          one plan for several of them
kep83/          the same by the rules of KEP-83
proving/        proof trees for the levels of an answer
yunikorn/       plans for asks of YuniKorn
"""
