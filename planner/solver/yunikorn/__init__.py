"""Plans for asks of YuniKorn.

start.py        what planning asks of YuniKorn
planning.py     what the core decides for one ask, and what the laws leave open
rules.py        YuniKorn's laws as a search uses them
solve.py        a planned ask to its proven optimum
last_resort.py  law 1: who opted out, or counts as last tier, under every objective
describe.py     victim sets as plans
explanation.py  short answers in words
"""
