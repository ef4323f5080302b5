"""Explanations of Kueue's plans.

record.py     what is answered
inquiry.py    a pending workload, its plan and the searches that questions are put to
candidacy.py  law by law in words: why a workload may be taken, or may not
clash.py      the laws that leave no plan, and what is short
change.py     the smallest single changes that would make a plan exist
message.py    the text of Kueue's events and conditions, taken apart
"""
