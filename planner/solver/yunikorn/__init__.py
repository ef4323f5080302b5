"""Plans for asks of YuniKorn.

start.py     what planning asks of YuniKorn, and a planned ask to its proven optimum
planning.py  what the core decides for one ask, what the laws leave open, and its rules
describe.py  victim sets as plans, and short answers in words
"""
