"""Explanations of YuniKorn's plans.

record.py     what is answered
inquiry.py    an ask, its plan and the searches that questions are put to
candidacy.py  law by law in words: why an allocation may be taken, or may not
clash.py      the laws that leave no plan
shortfall.py  what is short: on a node, of a maximum, of a guaranteed
change.py     the smallest single changes that would make a plan exist
wording.py    amounts, queues and the fence in words
"""
