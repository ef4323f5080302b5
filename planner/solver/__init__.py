"""From a problem to its proven optimum: the only package that runs a solver.

start.py        the way in: makes a planning from a state and from what the user fixed
deadline.py     when to stop; waiting for long calls of a solver, which Ctrl-C can end
search.py       what a search asks of a scheduler's rules; the state of a search; one exact solve
levels.py       lexicographic levels: minimise on as few classes as the proof permits, prove, fix
tie_break.py    the canonical answer among equal ones
bound.py        lower bounds from linear-programming duals, recomputed in exact integers
attempt.py      how a model is asked, and what comes of it
engine.py       one CP-SAT run with settings measured and found safe; its claims are checked
glop.py         linear programs for GLOP
pareto.py       the Pareto front of two measures
answer.py       from a search to a plan: caps, certificate, verdict; plans that needed no search
kueue/          plans for pending workloads of Kueue, joint plans included
proving/        proof trees for the levels of an answer
yunikorn/       plans for asks of YuniKorn
"""
