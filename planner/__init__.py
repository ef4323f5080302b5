"""Plan preemptions for Kueue and YuniKorn: the least disruptive legal victims, with a proof.

Names are loaded on first use, so that importing the package costs next to nothing.

The state of a cluster, and how it is read:

state/         its frozen schema; quantity.py: exact quantities; errors.py: every exception
reader/        from what kubectl and the schedulers print to a state
dump/          generated and imported clusters, written as kubectl would print them

The question, and three independent ways to answer it (reference/, models/, verifier/):

scheduler/     Kueue and YuniKorn as objects: their words, and what is asked of them
quota/         the quota arithmetic that all three share
problem/       one decision in integers: the only thing a model sees
laws/          the schedulers' rules, each with an id
rules.py       a rule set beside the scheduler's own: what it has to bring along
term.py        the disruption terms: their names, ids, titles and units
reference/     the schedulers' own algorithms, replayed without a solver
models/        the rules as constraints
verifier/      a finished plan against the rules, without a solver

From a question to a plan:

case/          what is decided for one preemptor, and by which rules: made once, passed on
objective/     what disruption means: terms, and profiles that order them
solver/        a problem to its proven optimum
proof/         proof trees, derived from a state and checked without a solver
plan/          the output schemas
coverage/      what of a state is not modelled, reported with every answer
api.py         the library's verbs; kueue_verbs.py: the verbs that only Kueue has; verb.py: what
               every verb refuses
garbage.py     Python's garbage collector, paused or bounded where it would find nothing
stage.py       the progress of long work, reported to a listener

Commands on states and plans, and their output:

commands/      a package for each command beyond a single plan: audit, explain, whatif, ...
batch/         many states in parallel, on one machine or many
report/        one renderer per format
cli/           the command line; __main__.py: `python -m planner`

What stands on all of this and can be taken away; wing.py finds what is there:

research/      generate, import, simulate and bench
operations/    snapshot, lint, risk, watch, steer, apply, serve and mcp
"""

from typing import TYPE_CHECKING

__all__ = [
    "AnyPlan",
    "AnyState",
    "Audit",
    "Boosts",
    "Certificate",
    "Changes",
    "Check",
    "Explanation",
    "Front",
    "InputError",
    "JointPlan",
    "Plan",
    "PlannerError",
    "Profile",
    "State",
    "Verification",
    "Victim",
    "WhatIf",
    "YuniKornExplanation",
    "YuniKornPlan",
    "YuniKornState",
    "YuniKornVictim",
    "__version__",
    "audit",
    "boost",
    "check",
    "explain",
    "front",
    "greedy",
    "read",
    "render",
    "solve",
    "solve_joint",
    "verify",
    "whatif",
]

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Concatenate, Literal, ParamSpec, Protocol, TypeVar, Unpack, overload

    from planner import api
    from planner.api import front, verify, whatif
    from planner.commands.audit import audit
    from planner.commands.audit.record import Audit
    from planner.commands.boost.kueue.find import Boosts
    from planner.commands.check.plan import Check, check
    from planner.commands.explain.kueue.record import Explanation
    from planner.commands.explain.yunikorn.record import YuniKornExplanation
    from planner.commands.whatif.edit import WhatIf
    from planner.errors import InputError, PlannerError
    from planner.kueue_verbs import boost, solve_joint
    from planner.objective.profiles import Profile
    from planner.plan import AnyPlan, Certificate, Verification
    from planner.plan.front import Front
    from planner.plan.kueue import JointPlan, Plan, Victim
    from planner.plan.yunikorn import YuniKornPlan, YuniKornVictim
    from planner.reader import Readable
    from planner.reader.settings import How
    from planner.report.render import render
    from planner.state import AnyState
    from planner.state.kueue import Changes, State
    from planner.state.yunikorn import YuniKornState

    __version__: str

    # The type of an answer follows from the scheduler of the state; the other parameters, and the
    # documentation, are those of the function.
    _Rest = ParamSpec("_Rest")
    _Kueue_co = TypeVar("_Kueue_co", covariant=True)
    _YuniKorn_co = TypeVar("_YuniKorn_co", covariant=True)
    _Any_co = TypeVar("_Any_co", covariant=True)

    class _Verb(Protocol[_Rest, _Kueue_co, _YuniKorn_co, _Any_co]):
        """A verb whose type of answer is that of the state's scheduler."""

        @overload
        def __call__(self, state: State, *args: _Rest.args, **named: _Rest.kwargs) -> _Kueue_co: ...
        @overload
        def __call__(
            self, state: YuniKornState, *args: _Rest.args, **named: _Rest.kwargs
        ) -> _YuniKorn_co: ...
        @overload
        def __call__(
            self, state: AnyState, *args: _Rest.args, **named: _Rest.kwargs
        ) -> _Any_co: ...

    def _verb(
        verb: Callable[Concatenate[AnyState, _Rest], _Any_co],
        kueue: type[_Kueue_co],
        yunikorn: type[_YuniKorn_co],
    ) -> _Verb[_Rest, _Kueue_co, _YuniKorn_co, _Any_co]: ...

    class _Read(Protocol):
        """The type of a state follows from the scheduler that is named."""

        @overload
        def __call__(
            self, source: Readable, *, scheduler: Literal["kueue"], **how: Unpack[How]
        ) -> State: ...
        @overload
        def __call__(
            self, source: Readable, *, scheduler: Literal["yunikorn"], **how: Unpack[How]
        ) -> YuniKornState: ...
        @overload
        def __call__(
            self, source: Readable, *, scheduler: str | None = None, **how: Unpack[How]
        ) -> AnyState: ...

    read: _Read
    explain = _verb(api.explain, Explanation, YuniKornExplanation)
    greedy = _verb(api.greedy, Plan, YuniKornPlan)
    solve = _verb(api.solve, Plan, YuniKornPlan)
else:
    # The module of each public name. Packages are nouns (reader, solver, verifier) and functions
    # are verbs (read, solve, verify): importing a package binds its name here, and a package called
    # like a function would take the function's place.
    _HOME = {
        name: home
        for home, names in {
            "planner.api": "explain front greedy solve verify whatif",
            "planner.commands.audit": "audit",
            "planner.commands.audit.record": "Audit",
            "planner.commands.boost.kueue.find": "Boosts",
            "planner.commands.check.plan": "Check check",
            "planner.commands.explain.kueue.record": "Explanation",
            "planner.commands.explain.yunikorn.record": "YuniKornExplanation",
            "planner.commands.whatif.edit": "WhatIf",
            "planner.errors": "InputError PlannerError",
            "planner.kueue_verbs": "boost solve_joint",
            "planner.objective.profiles": "Profile",
            "planner.plan": "AnyPlan Certificate Verification",
            "planner.plan.front": "Front",
            "planner.plan.kueue": "JointPlan Plan Victim",
            "planner.plan.yunikorn": "YuniKornPlan YuniKornVictim",
            "planner.reader": "read",
            "planner.report.render": "render",
            "planner.state": "AnyState",
            "planner.state.kueue": "Changes State",
            "planner.state.yunikorn": "YuniKornState",
        }.items()
        for name in names.split()
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
