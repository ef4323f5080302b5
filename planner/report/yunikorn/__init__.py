"""What only results about YuniKorn have.

table.py, plain.py, page.py  the plan for an ask, in each format
explanation.py               its allocations in an explanation
words.py                     amounts, and the last tier in words
"""
