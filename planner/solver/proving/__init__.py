"""Proof trees grown for the levels of an answer: the checker of planner.proof is their judge.

phase_one.py  a linear program: multipliers that contradict, or a point
readable.py   multipliers with few rows and small numbers
guide.py      what to split where nothing contradicts
grow.py       one tree, or a better set
certify.py    the trees of a whole answer
"""
