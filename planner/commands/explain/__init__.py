"""Why this victim, why not that one, why no plan: answers that are proved and can be checked.

record.py          the answers as records, whichever the scheduler
inquiry.py         a pending workload and its plan, to ask questions about; the minimal set of laws
                   that leave no plan; the changes of one value that make a plan exist
answer.py          from a question to its answer in a few sentences; the best plan that spares a
                   victim, or that takes a candidate; all optimal plans
kueue/             the laws, clashes, changes and messages of Kueue
yunikorn/          the laws, clashes and changes of YuniKorn
"""

from typing import Final

LONGEST: Final = 16_384
"""The most characters that a text may have which a scheduler itself writes about a preemption."""
DEFAULT_LIMIT: Final = 10
"""How many optimal plans are listed unless the caller says otherwise."""
