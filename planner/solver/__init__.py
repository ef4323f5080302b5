"""From a problem to its proven optimum: the only package that runs a solver.

start.py        the way in: makes a planning from a state and from what the user fixed
deadline.py     when to stop; waiting for long calls of a solver, which Ctrl-C can end
levels.py       level after level: a tree, or the solver for a better answer, then a tree again
finder.py       CP-SAT as the finder: levels in their order, and the first of ties
search.py       what a search asks of a scheduler's rules; the state of a search; one exact solve
engine.py       one CP-SAT run with settings measured and found safe; what it says proves nothing
answer.py       from a search to a plan: caps, certificate, verdict; plans that needed no search
kueue/          plans for pending workloads of Kueue
proving/        proof trees for the levels of an answer
yunikorn/       plans for asks of YuniKorn
"""
