"""Why this victim, why not that one, why nothing: answers that are proved and can be checked.

record.py          what is answered, whichever the scheduler
any.py             an answer of any scheduler
inquiry.py         a pending workload and its plan, as questions are put to it
answer.py          a question to its answer
counterfactual.py  the best plan that spares a victim, or that takes one; who is necessary
optima.py          all optimal plans, counted and listed
change.py          one value of a state set to another, and what comes of it
minimal.py         the minimal set of laws that leave no plan
words.py           answers in a few sentences
kueue/             the laws, clashes, changes and messages of Kueue
yunikorn/          the laws, clashes and changes of YuniKorn
"""

from typing import Final

DEFAULT_LIMIT: Final = 10
"""How many optimal plans are listed unless the caller says otherwise."""
