"""Problem to proven optimum: the only room that runs a solver.

start.py        the way in: a state, and what the user fixed, to a planning
deadline.py     when to stop; long calls of a solver, which Ctrl-C ends
search.py       what a search must know of a scheduler's rules, its state, one exact solve within it
levels.py       lexicographic levels: minimise on as few classes as the proof permits, prove, fix
tie_break.py    the canonical answer among equals
bound.py        lower bounds from linear-programming duals, recomputed in exact integers
engine.py       one CP-SAT run with the settings that were measured and found safe; its word checked
mathopt.py      linear and mixed-integer programs for the engines of MathOpt
second_opinion.py  whether any answer is left, asked of two engines
pareto.py       the Pareto front of two measures
answer.py       from a search to a plan: caps, certificate, verdict; plans that needed no search
kueue/          plans for pending workloads of Kueue, joint plans and those by KEP-83 among them
proving/        proof trees for the levels of an answer
yunikorn/       plans for asks of YuniKorn
"""
