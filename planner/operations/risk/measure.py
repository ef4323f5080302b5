"""Every preemptor planned for by itself, and how often each running workload is a victim.

Which preemptors, by a rule that is the same every time:

1. Everything that is pending, as it is, in the order of the dump.
2. Each distinct shape of what runs, submitted once more beside it, at the clock of the state:
   the most frequent shape first, then in the order of the dump. A shape is a queue, an effective
   priority, and everything about the pods that decides where they fit. Priorities are not varied:
   what came before at one priority comes again at that priority.

For Kueue the new workload waits in the LocalQueue of the old one. For YuniKorn the new ask belongs
to the same application and has just waited out the preemption delay of its queue; allocations that
need one node (DaemonSets) and placeholders are no shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from planner.coverage.answer import covering, uncovered
from planner.errors import InputError, InternalError, PlannerError, SchemaError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.operations.wing import risks
from planner.plan import AnyPlan, Published
from planner.plan.base import Record, Status, Told, Uncovered
from planner.plan.record import SchedulerId
from planner.scheduler import scheduler_of
from planner.solver.start import Given, deadline_after, solve, start
from planner.state import AnyState
from planner.verb import AnyQuestion, verb

Origin = Literal["pending", "running"]
"""pending: it waits in the state. running: the shape of what runs was submitted once more."""


class Attempt(Record):
    """One preemptor, planned for as if it came alone.

    ``preemptor`` is its key: namespace/name, or the allocation key of an ask. One of origin
    ``running`` has the shape of ``like``, and of ``alike`` workloads or allocations in all.
    ``name`` is what people call it, or the one that it is like. ``status`` is that of the
    optimum. ``greedy`` and ``optimum`` are the victims by their keys, each in the order of its
    plan.
    """

    preemptor: str
    name: str
    origin: Origin
    like: str | None = None
    alike: int = 1
    queue: str
    priority: int
    greedy_status: Status
    status: Status
    greedy: tuple[str, ...]
    optimum: tuple[str, ...]


class Exposed(Record):
    """A workload or allocation that runs, and for how many preemptors it is a victim.

    The shares are those of all preemptors that were answered, from 0 to 1.
    """

    key: str
    name: str
    queue: str
    priority: int
    greedy: int
    optimum: int
    greedy_share: float
    optimum_share: float


class Skipped(Record):
    """A preemptor that cannot be planned for, and why."""

    preemptor: str
    reason: str


class Risk(Published, Told):
    """How often everything that runs is a victim under the scheduler's own plan and the optimum.

    ``running`` has everything that runs, those most often victims of the scheduler's own plan
    first, then of the optimum. ``beyond_limit`` counts preemptors that the limit left out,
    ``unanswered`` those that the time did not suffice for. ``coverage`` is what may decide about
    those that were answered and is not modelled: then nothing is proved. ``notes`` are those of
    their plans, each once.
    """

    scheduler: SchedulerId
    objective: str
    digest: str
    preemptors: tuple[Attempt, ...]
    running: tuple[Exposed, ...]
    beyond_limit: int = 0
    unanswered: int = 0
    skipped: tuple[Skipped, ...] = ()
    coverage: tuple[Uncovered, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def _in_a_line(self) -> str:
        """How many preemptors were tried, and on how many that run."""
        return f"{self.scheduler}: preemptors={len(self.preemptors)} running={len(self.running)}"

    @property
    def is_proved(self) -> bool:
        """Whether every preemptor that was to be asked has a proved answer."""
        proved = all(one.status in {"optimal", "infeasible"} for one in self.preemptors)
        return proved and not (self.skipped or self.unanswered or self.coverage)


Shapes = Literal["pending", "running", "all"]
"""Which preemptors: what is pending, what runs submitted once more, or both."""
AGAIN: Final = "-again"
Thing = TypeVar("Thing")


class Hypothetical(Struct, frozen=True):
    """A preemptor by its key in the state, and where it comes from.

    ``name`` is what people call the workload it is ``like``; empty for what is pending itself.
    """

    key: str
    name: str = ""
    like: str | None = None
    alike: int = 1


class Running(NamedTuple):
    """What runs: its key, what people call it, its queue, and its priority."""

    key: str
    name: str
    queue: str
    priority: int


StateT = TypeVar("StateT")


class Submitting(Protocol[StateT]):
    """What a scheduler must provide so that victims can be counted."""

    def submitted_again(self, state: StateT) -> tuple[StateT, list[Hypothetical]]:
        """Return the state with each shape of what runs submitted once more; the new preemptors."""
        ...

    def running(self, state: StateT) -> Iterator[Running]:
        """Yield everything that runs, in the order of the dump."""
        ...


def frequent_first(things: Iterable[tuple[object, Thing]]) -> list[tuple[Thing, int]]:
    """Return the first thing of each shape and how many have the shape, most frequent first."""
    alike: dict[object, list[Thing]] = {}
    for shape, thing in things:
        alike.setdefault(shape, []).append(thing)
    ranked = sorted(alike.values(), key=len, reverse=True)  # stable: ties stay as in the dump
    return [(some[0], len(some)) for some in ranked]


def unused(name: str, used: set[str]) -> str:
    """Return a name derived from another that nothing has yet, and add it to the used names."""
    name += AGAIN
    while name in used:
        name += AGAIN
    used.add(name)
    return name


Progress = Callable[[int, int, str], None]
"""Told before each preemptor: how many are done, how many there are, and which is next."""
_SHARE_DIGITS: Final = 6


class Question(AnyQuestion, frozen=True):
    """Who may come, and how each is planned for.

    Parameters
    ----------
    pending
        The preemptors, by the keys of what is pending; when left out they are made up by the
        rule of ``planner.operations.risk.measure``.
    objective
        As for ``planner.solve``.
    shapes
        Which preemptors are made up: ``pending``, ``running`` or ``all``.
    limit
        How many preemptors at most: the first ones.
    time_limit
        Seconds for all preemptors together. Those not begun by then stay unanswered.
    rules
        As for ``planner.solve``.
    """

    pending: Sequence[str] | None = None
    objective: str | Profile = DEFAULT_PROFILE
    shapes: Shapes = "all"
    limit: int | None = None
    time_limit: float | None = None
    rules: str | None = None


ALL: Final = Question()


@verb
def risk(state: AnyState, asked: Question = ALL, progress: Progress | None = None) -> Risk:
    """Return how often everything that runs would be a victim, over a set of preemptors.

    Each preemptor is planned for as if it came alone, to the state as it is.

    Parameters
    ----------
    state
        What ``planner.read`` returned.
    asked
        The preemptors, and what is asked for each.
    progress
        Called before each preemptor.

    Raises
    ------
    InputError
        If there is no preemptor, none can be planned for, or an argument cannot be used.
    InternalError
        If a plan fails its own verification.
    """
    part = scheduler_of(state).found_in(risks(), "risk")
    profile, limit = find_profile(asked.objective), asked.limit
    if limit is not None and limit < 1:
        raise SchemaError("limit", f"{limit} cannot be used", "a number of preemptors, 1 or more")
    deadline = deadline_after(asked.time_limit)
    known, wanted = preemptors(state, asked.shapes, asked.pending)
    tried = wanted if limit is None else wanted[:limit]
    modelled = covering(known)
    missing, notes = dict[Uncovered, None](), dict[str, None]()
    attempts, skipped = list[Attempt](), list[Skipped]()
    for number, one in enumerate(tried):
        if deadline.passed:
            break
        if progress is not None:
            progress(number, len(tried), one.key)
        try:
            plan = solve(start(known, Given(one.key, rules=asked.rules)), profile, deadline)
            attempts.append(_attempt(one, plan))
            missing |= dict.fromkeys(uncovered(modelled, plan))
            notes |= dict.fromkeys((*plan.notes, *modelled.remarks(plan.preemptor)))
        except InternalError:
            raise
        except PlannerError as error:
            if len(skipped) + 1 == len(tried):
                raise  # none of them can be planned for, and this is why
            skipped.append(Skipped(preemptor=one.key, reason=str(error)))
    return Risk(
        scheduler=state.scheduler,
        objective=profile.name,
        digest=known.digest,
        preemptors=tuple(attempts),
        running=tuple(_running(part.running(state), attempts)),
        beyond_limit=len(wanted) - len(tried),
        unanswered=len(tried) - len(attempts) - len(skipped),
        skipped=tuple(skipped),
        coverage=tuple(missing),
        notes=tuple(notes),
    )


def preemptors(
    state: AnyState, shapes: Shapes, pending: Sequence[str] | None = None
) -> tuple[AnyState, list[Hypothetical]]:
    """Return the state with every preemptor pending in it, and the preemptors in their order.

    They are those of ``pending``, if that is given. What only waits holds no quota: the new ones
    do not change each other's answers.

    Raises ``InputError`` if there is no preemptor.
    """
    waiting = state.pending if pending is None else pending
    known, wanted = state, [Hypothetical(key) for key in dict.fromkeys(waiting)]
    if pending is None and shapes != "pending":
        known, again = scheduler_of(state).found_in(risks(), "risk").submitted_again(state)
        wanted = again if shapes == "running" else wanted + again
    if not wanted:
        words = {"pending": "is pending", "running": "runs", "all": "is pending or runs"}
        found = f"nothing {words[shapes]}: there is no preemptor to try"
        raise InputError(state.source, found, hint="name one, or have one made of a manifest")
    return known, wanted


def _attempt(asked: Hypothetical, plan: AnyPlan) -> Attempt:
    greedy = plan.greedy
    if greedy is None:
        found = f"the plan for {asked.key} has no plan of the scheduler's own beside it"
        raise InternalError(found)
    return Attempt(
        preemptor=plan.preemptor,
        name=asked.name or plan.about.name,
        origin="pending" if asked.like is None else "running",
        like=asked.like,
        alike=asked.alike,
        queue=plan.about.queue,
        priority=plan.priority,
        greedy_status=greedy.status,
        status=plan.status,
        greedy=greedy.keys,
        optimum=plan.keys,
    )


def _running(running: Iterable[Running], attempts: Sequence[Attempt]) -> list[Exposed]:
    """Count for everything that runs the preemptors it is a victim of, the most exposed first."""
    greedy = Counter(key for one in attempts for key in one.greedy)
    optimum = Counter(key for one in attempts for key in one.optimum)
    total = max(1, len(attempts))
    rows = [
        Exposed(
            **one._asdict(),
            greedy=greedy[one.key],
            optimum=optimum[one.key],
            greedy_share=round(greedy[one.key] / total, _SHARE_DIGITS),
            optimum_share=round(optimum[one.key] / total, _SHARE_DIGITS),
        )
        for one in running
    ]
    return sorted(rows, key=lambda row: (-row.greedy, -row.optimum))
