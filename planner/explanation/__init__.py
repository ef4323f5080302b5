"""Why this victim, why not that one, why nothing: answers that are proved and can be checked.

record.py          what is answered
inquiry.py         a pending workload, its plan and the searches that questions are put to
answer.py          a question to its answer
candidacy.py       law by law in words: why a workload may be taken, or may not
counterfactual.py  the best plan that spares a workload, or that takes it; who is necessary
optima.py          all optimal plans, counted and listed
clash.py           the minimal set of laws that leave no plan
change.py          the smallest single changes that would make a plan exist
words.py           answers in a few sentences
message.py         the text of Kueue's events and conditions, taken apart
"""
