"""Proof trees grown for the levels of an answer: the checker of planner.proof is their judge.

program.py   a box with its rows in doubles, and a linear program over it: multipliers, or a point
grow.py      one tree, or a better set
rounding.py  sums of rows that are rounded to whole victims
split.py     how a box is split; kueue.py, yunikorn.py: which cases of their laws to split
earlier.py   the tree of an earlier level, followed where its steps hold for a later one
"""
