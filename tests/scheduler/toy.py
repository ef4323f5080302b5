# ruff: noqa: D101, D102 - the protocols of the planner say what each is
"""A scheduler of three laws, made of this file and the registry alone.

Jobs run in slots. T-1: a victim has a lower priority than who wants in. T-2: what is freed is
enough. T-3: no victim is needless. Its own choice is the lowest priority first, without looking
back; the best is the fewest victims.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from planner.commands.whatif.edit import Editable, Settable, Setting, Waiting
from planner.errors import InputError
from planner.objective.profiles import Profile
from planner.plan import Verdict, Verification
from planner.reader.parse import Document
from planner.reader.settings import Settings
from planner.reader.unknown import Ignored
from planner.scheduler import Scheduler, Words
from planner.solver.deadline import Deadline
from planner.solver.start import Given


@dataclass(frozen=True)
class Job:
    """What runs or waits."""

    name: str
    size: int
    priority: int


@dataclass(frozen=True)
class ToyState:
    """``slots`` are taken by what runs; ``waiting`` wants in."""

    slots: int
    running: tuple[Job, ...]
    waiting: tuple[Job, ...]
    scheduler: str = "toy"
    source: str = "toy"
    digest: str = "-"
    notes: tuple[str, ...] = ()

    @property
    def pending(self) -> tuple[str, ...]:
        """Who wants in, by name."""
        return tuple(one.name for one in self.waiting)

    def model_copy(self, update: Mapping[str, Any]) -> ToyState:
        """Return the state with other values, as pydantic does."""
        return replace(self, **update)


@dataclass(frozen=True)
class ToyPlan:
    """Which jobs are stopped for another."""

    preemptor: str
    status: str
    keys: tuple[str, ...]
    greedy: ToyPlan | None = None
    scheduler: str = "toy"


class Planned:
    """A job that wants in, ready to be planned for."""

    scheduler = "toy"
    turn = "next"

    def __init__(self, state: ToyState, job: Job) -> None:
        self.state, self.job = state, job

    def greedy_plan(self) -> ToyPlan:
        """Return the lowest first, without looking back."""
        victims: list[Job] = []
        for job in sorted(self.state.running, key=lambda one: (one.priority, one.name)):
            if enough(self.state, self.job, victims):
                break
            if job.priority < self.job.priority:
                victims.append(job)
        found = enough(self.state, self.job, victims)
        keys = tuple(one.name for one in victims) if found else ()
        return ToyPlan(self.job.name, "feasible" if found else "unknown", keys)


def enough(state: ToyState, job: Job, victims: Sequence[Job]) -> bool:
    """T-2."""
    free = state.slots - sum(one.size for one in state.running)
    return free + sum(one.size for one in victims) >= job.size


def verdicts(state: ToyState, job: Job, victims: Sequence[Job]) -> Iterator[Verdict]:
    rest = [[other for other in victims if other is not one] for one in victims]
    for law, title, holds in (
        ("T-1", "lower priority", all(one.priority < job.priority for one in victims)),
        ("T-2", "enough is freed", enough(state, job, victims)),
        ("T-3", "nobody is needless", not any(enough(state, job, some) for some in rest)),
    ):
        yield Verdict(law=law, title=title, holds=holds, detail="")


class Planner:
    def check(self, given: Given) -> None:
        if given.stable:
            raise InputError("stable", "toy jobs never come back")

    def start(self, state: ToyState, given: Given) -> Any:
        (job,) = [one for one in state.waiting if one.name == given.pending]
        return Planned(state, job)

    def solve(self, planning: Planned, profile: Profile, deadline: Deadline) -> Any:
        del profile, deadline
        state, job = planning.state, planning.job
        for count in range(len(state.running) + 1):
            for some in combinations(state.running, count):
                if all(one.holds for one in verdicts(state, job, some)):
                    keys = tuple(one.name for one in some)
                    return ToyPlan(job.name, "optimal", keys, planning.greedy_plan())
        return ToyPlan(job.name, "infeasible", (), planning.greedy_plan())

    def answer(self, planning: Planned, profile: Profile, deadline: Deadline, given: Given) -> Any:
        del given
        return self.solve(planning, profile, deadline)

    def is_outside(self, greedy: ToyPlan, plans: Sequence[ToyPlan], terms: Sequence[str]) -> bool:
        del greedy, plans, terms
        return False

    def lowered_quotas(self, state: ToyState) -> Sequence[str]:
        del state
        return ()

    def cases(self, rules: object, box: object, found: object) -> tuple[None, None]:
        del rules, box, found
        return None, None


class Editing:
    EXAMPLE: str = "slots=8"

    def edited(self, state: ToyState, setting: Setting) -> ToyState:
        assert setting.target == "slots"
        return replace(state, slots=int(setting.value))

    def waiting(self, state: ToyState, pending: Collection[str]) -> Iterator[Waiting]:
        for job in state.waiting:
            if job.name in pending:
                yield Waiting(key=job.name, name=job.name, queue="line", priority=job.priority)

    def queues(self, state: ToyState) -> Iterator[Editable]:
        slots = Settable(target="slots", group="", label="Slots", value=str(state.slots))
        yield Editable(kind="Line", name="line", settings=(slots,))

    def workloads(self, state: ToyState) -> Iterator[Editable]:
        for job in state.running:
            yield Editable.of_priority("Job", job.name, job.name, job.priority)


class Toy(Scheduler[ToyState, Any, Any, Any, Any]):
    """Whatever it does not override it does not have: the planner says so."""

    id = "toy"
    words = Words(
        *("Toy", "stop", "job", "Line", "Toy breaks {law}", "nobody does"),
        terms={"workloads": "jobs stopped", "victims@": "jobs of rank {}"},
    )

    def read_documents(
        self, documents: Sequence[Document], settings: Settings, ignored: Ignored | None
    ) -> ToyState | None:
        """Read a line of jobs; ``None`` where nobody speaks of slots."""
        del ignored
        value: Any = documents[0].value
        if not isinstance(value, dict) or "slots" not in value:
            return None
        running, waiting = (tuple(Job(*one) for one in value[part]) for part in ("runs", "waits"))
        return ToyState(value["slots"], running, waiting, source=settings.source)

    @property
    def planning(self) -> Planner:
        return Planner()

    def verify_plan(self, state: ToyState, plan: ToyPlan) -> Verification:
        (job,) = [one for one in state.waiting if one.name == plan.preemptor]
        victims = [one for one in state.running if one.name in plan.keys]
        found = tuple(verdicts(state, job, victims))
        return Verification(accepted=all(one.holds for one in found), verdicts=found)

    @property
    def editing(self) -> Editing:
        return Editing()


TOY: Final = Toy()
