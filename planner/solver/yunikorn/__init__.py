"""Plans for asks of YuniKorn.

start.py     what planning asks of YuniKorn, and the solve of a planned ask to its proven optimum
planning.py  what the core decides for one ask, what the laws permit, and the rules of a search
describe.py  victim sets as plans, and short answers in words
"""
