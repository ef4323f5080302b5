"""Why this victim, why not that one, why nothing: answers that are proved and can be checked.

record.py          what is answered, whichever the scheduler
inquiry.py         a pending workload and its plan, as questions are put to it; the minimal set of
                   laws that leave no plan; one value of a state changed
answer.py          a question to its answer, in a few sentences; the best plan that spares a victim,
                   or that takes one; all optimal plans
kueue/             the laws, clashes, changes and messages of Kueue
yunikorn/          the laws, clashes and changes of YuniKorn
"""

from collections.abc import Callable
from typing import Any, Final

from planner.scheduler import Part

MESSAGES: Final = Part[Callable[[str, Any], Any]]("texts about preemption")
"""Takes apart what a scheduler itself writes about a preemption, with a state to look names up."""
LONGEST: Final = 16_384
"""How many characters of it are read."""
PICTURE: Final = Part[Callable[..., Any]]("nodes")
"""Adds to a plan the nodes around it, where pods are placed on them; of the state and the plan."""
DEFAULT_LIMIT: Final = 10
"""How many optimal plans are listed unless the caller says otherwise."""
