"""Proof trees grown for the levels of an answer: the checker of planner.proof is their judge.

program.py   a box with its rows in doubles, and a linear program over it: multipliers, or a point
dense.py     the simplex algorithm for small programs: to load a solver takes longer
grow.py      one tree, or a better set
split.py     how a box is split; kueue.py, yunikorn.py: which cases of their laws to split
earlier.py   the tree of an earlier level, followed where its steps hold for a later one
certifier.py the trees of one answer, level by level
settle.py    level after level: a tree, or the solver for a better answer, then a tree again
"""
