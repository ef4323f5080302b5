"""Proof trees, derived from a state and checked without a solver.

claims.py        what a plan claims, as questions
question.py      a question, its rows and splits, and the walk through a tree
box.py           boxes of victim sets, rows over them, and their sums
sums.py          bounds of whole levels by one sum of rows, in words
classes.py       classes of candidates that nothing tells apart
measures.py      bounds on disruption terms as rows
all_but_last.py  the rows of a law that all victims but the last have to keep
kueue/           the laws of Kueue and KEP-83; yunikorn/ those of YuniKorn
"""
