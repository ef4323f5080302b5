"""Why this victim, why not that one, why no plan: answers that are proved and can be checked.

record.py          the answers as records, whichever the scheduler
inquiry.py         a pending workload and its plan, to ask questions about; the minimal set of laws
                   that leave no plan; the changes of one value that make a plan exist
answer.py          from a question to its answer in a few sentences; the best plan that spares a
                   victim, or that takes a candidate; all optimal plans
kueue/             the laws, clashes, changes and messages of Kueue
yunikorn/          the laws, clashes and changes of YuniKorn
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from planner.scheduler import Part

MESSAGES: Final = Part[Callable[[str, Any], tuple[Any, Sequence[str]]]]("texts about preemption")
"""Parses what a scheduler itself writes about a preemption, with notes on what it leaves out.

Names are looked up in a state.
"""
LONGEST: Final = 16_384
"""The most characters that such a text may have."""
PICTURE: Final = Part[Callable[..., Any]]("nodes")
"""Given a state and a plan, adds the nodes around the plan where pods are placed on nodes."""
DEFAULT_LIMIT: Final = 10
"""How many optimal plans are listed unless the caller says otherwise."""
