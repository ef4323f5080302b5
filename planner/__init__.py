"""Plan preemptions for Kueue clusters: who must go, and is that provably the least.

Names are loaded on first use, so that importing the package costs next to nothing.
"""

from typing import TYPE_CHECKING

__all__ = [
    "Certificate",
    "Front",
    "JointPlan",
    "Plan",
    "PlannerError",
    "State",
    "Victim",
    "__version__",
    "audit",
    "check",
    "explain",
    "front",
    "generate",
    "greedy",
    "lint",
    "read",
    "risk",
    "simulate",
    "solve",
    "solve_joint",
    "verify",
]

if TYPE_CHECKING:
    from planner.api import explain, front, greedy, solve, verify
    from planner.auditing import audit
    from planner.checking.plan import check
    from planner.errors import PlannerError
    from planner.exposure import risk
    from planner.generation import generate
    from planner.joint import solve_joint
    from planner.linting import lint
    from planner.plan import Certificate, Front, JointPlan, Plan, Victim
    from planner.reader import read
    from planner.simulation import simulate
    from planner.state import State

    __version__: str
else:
    # Where each public name lives. Rooms are nouns (reader, solver, verifier) and functions are
    # verbs (read, solve, verify): importing a room binds its name here, and a room called like
    # a function would take the function's place.
    _HOME = {
        "Certificate": "planner.plan",
        "Front": "planner.plan",
        "JointPlan": "planner.plan",
        "Plan": "planner.plan",
        "PlannerError": "planner.errors",
        "State": "planner.state",
        "Victim": "planner.plan",
        "audit": "planner.auditing",
        "check": "planner.checking.plan",
        "explain": "planner.api",
        "front": "planner.api",
        "generate": "planner.generation",
        "greedy": "planner.api",
        "lint": "planner.linting",
        "read": "planner.reader",
        "risk": "planner.exposure",
        "simulate": "planner.simulation",
        "solve": "planner.api",
        "solve_joint": "planner.joint",
        "verify": "planner.api",
    }

    # Hidden from type checkers: to them, it would make every misspelt name a valid one.
    def __getattr__(name: str) -> object:
        """Load a public name when it is first asked for (PEP 562)."""
        if name == "__version__":
            from importlib.metadata import version

            value = version("preemption-planner")
        elif name in _HOME:
            from importlib import import_module

            value = getattr(import_module(_HOME[name]), name)
        else:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
