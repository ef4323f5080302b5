"""The answers of the wing of operations, in every format.

answers.py          which function writes which answer
kueue_apply.py      a plan carried out
lint.py, sarif.py   findings on a configuration
risk.py             how often whom
steer.py, watch.py  lines of what happens
"""
