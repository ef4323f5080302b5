"""Proof trees grown for the levels of an answer: the checker of planner.proof is their judge.

grow.py         one tree, or a better set
rows.py         a box with its rows in doubles
program.py      a linear program over it: multipliers, a point, and what parts of the box are worth
multipliers.py  doubles made integers, precise or short
rounding.py     sums of rows that are rounded to whole victims
cover.py        the cheapest way to keep one row, against what the measure allows
split.py        how a box is split; kueue.py, yunikorn.py: which cases of their laws to split
earlier.py      the tree of an earlier level, followed where its steps hold for a later one
"""
