"""Proof trees grown for the levels of an answer: the checker of planner.proof is their judge.

phase_one.py  a linear program: multipliers that contradict, or a point
readable.py   multipliers with few rows and small numbers
look.py       a box with its rows in doubles: what may close it, what can bind in it
guide.py      what to split where nothing contradicts; kueue.py, yunikorn.py: by which cases
grow.py       one tree, or a better set
certify.py    the trees of a whole answer
settle.py     what an answer rests on: trees, the word of two engines, or neither
"""
