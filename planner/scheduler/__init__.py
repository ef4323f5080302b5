"""The schedulers that can be planned for: each is a value, and this is where they are registered.

record.py    what a scheduler is: its words, and where its parts stand
kueue.py     Kueue, with KEP-83 as a rule set of it; who may choose its flavors and places
yunikorn.py  YuniKorn
"""

from planner.scheduler.kueue import KUEUE, OWN, Flavors, Placement
from planner.scheduler.record import (
    Part,
    Scheduler,
    Words,
    find_scheduler,
    register,
    scheduler_of,
    schedulers,
)
from planner.scheduler.yunikorn import YUNIKORN

__all__ = [
    "KUEUE",
    "OWN",
    "YUNIKORN",
    "Flavors",
    "Part",
    "Placement",
    "Scheduler",
    "Words",
    "find_scheduler",
    "register",
    "scheduler_of",
    "schedulers",
]

register(KUEUE)
register(YUNIKORN)
