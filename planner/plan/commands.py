"""The calls of kubectl that carry a plan out, as they stand at its end."""

from planner.plan.base import Record


class Command(Record):
    """A call of kubectl: what it is for, and the command line as a shell takes it."""

    title: str
    command: str


class Commands(Record):
    """What ``planner apply --dry-run`` would print, of the objects that the plan was made of.

    ``reason`` says why there are none, where there are none. Each command tests that its object is
    still the one that was read.
    """

    steps: tuple[Command, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
