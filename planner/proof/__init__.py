"""Proof trees, derived from a state and checked without a solver.

claims.py        what a plan claims, as questions
question.py      a question, its rows and splits, the walk through a tree; bounds of whole levels by
                 one sum of rows, in words
box.py           boxes of victim sets, rows over them, and their sums
measures.py      bounds on disruption terms as rows
replayed.py      rows of terms that only the scheduler tells
kueue/           the laws of Kueue; yunikorn/ those of YuniKorn
"""
