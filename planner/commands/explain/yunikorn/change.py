"""The smallest single changes that would make a plan exist, each found by solving again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Final

from planner.commands.explain.change import Edit, Trial, first
from planner.commands.explain.record import Change
from planner.commands.whatif.edit import edit
from planner.laws import RULE_SETS, YK_UNDER_GUARANTEED
from planner.models.yunikorn.guaranteed import used
from planner.models.yunikorn.need import is_under_guaranteed, short_of_guaranteed
from planner.objective.profiles import Profile
from planner.problem.yunikorn import YuniKornProblem
from planner.quota.yunikorn.properties import DEFAULT, DISABLED, FENCE, PREEMPTION_POLICY
from planner.solver.deadline import Deadline
from planner.solver.levels import find_any
from planner.solver.start import Given
from planner.solver.yunikorn.describe import victims_in_words
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.solver.yunikorn.start import prepare_ask, settled_ask, solve, start
from planner.state.yunikorn import QueueConfig
from planner.state.yunikorn_quantity import format_yunikorn_quantity

HIGHEST: Final = 2**31 - 1
"""Priorities and offsets are 32-bit integers."""
ABSENT: Final = "none"


@dataclass(frozen=True, slots=True)
class YuniKornTrial(Trial):
    """An ask on changed states.

    ``planning`` is the ask as it is, ``given`` names it and the side of the laws.
    """

    planning: YuniKornPlanning
    given: Given
    costs: Mapping[str, int] | None
    profile: Profile
    deadline: Deadline

    @property
    def ask(self) -> str:
        """How edits name the ask."""
        return f"ask/{self.planning.problem.ask.allocation_key}"

    def planned(self, change: str) -> YuniKornPlanning:
        """Return the ask as it is once an edit is made."""
        return start(edit(self.planning.state, [change]), self.given, self.costs)

    def is_possible(self, change: str) -> bool:
        """Say whether the ask can be placed once an edit is made, with or without victims."""
        planning = self.planned(change)
        answer = settled_ask(planning)
        if answer is not None:
            return answer[0] == "optimal"
        bare = replace(self.profile, levels=(), caps=())
        search = prepare_ask(planning, bare, self.deadline, planning.greedy_plan()).search
        return search.incumbent is not None or find_any(search, search.active) == "optimal"

    def proved(self, one: Edit) -> Change | None:
        """Solve the changed state; ``None`` if that finds no plan in time."""
        plan = solve(self.planned(one.text), self.profile, self.deadline)
        return one.change(plan, f"preempting {victims_in_words(len(plan.victims))}")


def smallest_changes(trial: YuniKornTrial) -> tuple[tuple[Change, ...], bool]:
    """Return every single change that works, and whether all were tried.

    Of a number it is the smallest step up; of a policy the other value. With a required node
    only what the ask itself may and is worth counts. What an edit cannot name is not tried: a
    key with an equals sign, queues that several partitions have.
    """
    searches = []
    key, partition = trial.planning.problem.ask.allocation_key, trial.planning.cluster.partition
    named = bool(key) and "=" not in key + partition.name
    if named:
        searches += [_permissions, _priorities]
    if not trial.planning.problem.ask.required_node:
        unique = _has_own_queues(trial)
        named = named and unique
        if unique:
            searches += [_offsets, _policies, _maxima, _guaranteed]
    changes, tried = trial.all_proved(one for search in searches for one in search(trial))
    return changes, tried and named


def _has_own_queues(trial: YuniKornTrial) -> bool:
    """Say whether edits can name all queues and types: no queue is in two partitions."""
    problem = trial.planning.problem
    names = [*(queue.path for queue in problem.queues), *problem.types]
    alone = len(trial.planning.state.partitions) == 1
    return alone and not any("=" in name for name in names)


def _permissions(trial: YuniKornTrial) -> Iterator[Edit]:
    """Yield what permits the ask to preempt at all, if something forbids it (YK-11)."""
    planning = trial.planning
    partition = planning.cluster.partition
    if not partition.preemption.enabled:
        yield from _if_works(
            trial, Edit(f"partition/{partition.name}.preemption.enabled", "false", "true")
        )
    if not planning.asking.ask.x.allow_preempt_other:
        yield from _if_works(trial, Edit(f"{trial.ask}.allowPreemptOther", "false", "true"))


def _priorities(trial: YuniKornTrial) -> Iterator[Edit]:
    """Yield the smallest higher priority of the ask that works."""
    now = trial.planning.problem.ask.priority
    yield from _raised(trial, f"{trial.ask}.priority", now)


def _offsets(trial: YuniKornTrial) -> Iterator[Edit]:
    """Yield the smallest higher priority offset of the ask's queue that works."""
    facts = trial.planning.problem.queues[trial.planning.problem.own_queue]
    yield from _raised(trial, f"queue/{facts.path}.priority.offset", facts.priority_offset)


def _raised(trial: YuniKornTrial, path: str, now: int) -> Iterator[Edit]:
    """Yield the smallest step up of a priority that works.

    What the laws ask of it changes only where it reaches the priority of an allocation, or
    passes that of an ask with a reservation.
    """
    planning = trial.planning
    mine = planning.problem.ask.priority
    steps = {worth - mine for worth in planning.subject.adjusted}
    steps |= {ask.priority + 1 - mine for ask in planning.cluster.asks.values()}
    ordered = sorted(step for step in steps if 0 < step <= HIGHEST - now)

    def at(number: int) -> Edit:
        step = ordered[number - 1]
        return Edit(path, str(now), str(now + step), f"+{step}")

    found = first(lambda number: trial.makes_plan(at(number).text), len(ordered))
    if found is not None:
        yield at(found)


def _policies(trial: YuniKornTrial) -> Iterator[Edit]:
    """Yield every fence that works when it is taken away, and every queue opened to preemption.

    A queue that is disabled gives its policy to those below it, so it is tried as well.
    """
    problem, root = trial.planning.problem, trial.planning.cluster.partition.root
    written = _written_policies(root.queues, root.name.lower())
    for facts in problem.queues:
        path = f"queue/{facts.path}"
        policy = FENCE if facts.preemption_fence else DISABLED
        disabled = facts.disabled and (facts.is_leaf or written.get(facts.path) == DISABLED)
        if facts.preemption_fence or disabled:
            yield from _if_works(trial, Edit(f"{path}.preemption.policy", policy, DEFAULT))
        if facts.priority_fence:
            yield from _if_works(trial, Edit(f"{path}.priority.policy", FENCE, DEFAULT))


def _written_policies(queues: Sequence[QueueConfig], above: str) -> dict[str, str]:
    """Return the preemption policies that queues have themselves, by path."""
    written: dict[str, str] = {}
    for queue in queues:
        path = f"{above}.{queue.name.lower()}"
        written[path] = queue.properties.get(PREEMPTION_POLICY, "")
        written |= _written_policies(queue.queues, path)
    return written


def _maxima(trial: YuniKornTrial) -> Iterator[Edit]:
    """Yield the smallest higher maximum of each queue and type that works.

    More than what is allocated and asked together is never needed.
    """
    problem = trial.planning.problem
    for queue in problem.path[:-1]:
        facts = problem.queues[queue]
        for t, now in sorted((facts.max or {}).items()):
            wanted = facts.allocated.get(t, 0) + problem.ask.resource.get(t, 0)
            yield from _enlarged(trial, f"queue/{facts.path}.max.{t}", t, now, wanted - now)


def _guaranteed(trial: YuniKornTrial) -> Iterator[Edit]:
    """Yield the smallest higher guaranteed of each queue and type that works.

    It is tried where the ask lacks some: at its own queue, and at those above it that count.
    There more protects the neighbours of the ask as well, so that still more may not help.
    """
    problem = trial.planning.problem
    short = short_of_guaranteed(problem)
    if YK_UNDER_GUARANTEED in RULE_SETS[trial.planning.subject.rules]:
        short = [] if is_under_guaranteed(problem) else None
    own = [(problem.own_queue, t) for t in sorted(problem.ask.resource)]
    places = dict.fromkeys(own if short is None or short else [])
    places |= dict.fromkeys((at.queue, problem.types[at.type]) for at in short or ())
    for queue, t in places:
        facts = problem.queues[queue]
        now = (facts.guaranteed or {}).get(t)
        wanted = used(facts, t) + problem.ask.resource[t] - (now or 0)
        yield from _enlarged(trial, f"queue/{facts.path}.guaranteed.{t}", t, now, wanted)


def _enlarged(
    trial: YuniKornTrial, path: str, t: str, now: int | None, most: int
) -> Iterator[Edit]:
    """Yield the smallest step up of an amount that works, of at most so much.

    What the laws compare changes only at multiples of what all amounts of the type have in
    common.
    """
    grain = _grain(trial.planning.problem, t)

    def at(number: int) -> Edit:
        before = ABSENT if now is None else format_yunikorn_quantity(now, t)
        after = format_yunikorn_quantity((now or 0) + number * grain, t)
        return Edit(path, before, after, f"+{format_yunikorn_quantity(number * grain, t)}")

    found = first(lambda number: trial.makes_plan(at(number).text), -(-most // grain))
    if found is not None:
        yield at(found)


def _grain(problem: YuniKornProblem, t: str) -> int:
    """Return the greatest common divisor of all amounts of a type."""
    amounts = [problem.ask.resource.get(t, 0)]
    amounts += [allocation.resource.get(t, 0) for allocation in problem.allocations]
    for facts in problem.queues:
        known = (facts.guaranteed, facts.max, facts.allocated, facts.preempting)
        amounts += [resource.get(t, 0) for resource in known if resource]
    return max(1, gcd(*amounts))


def _if_works(trial: YuniKornTrial, one: Edit) -> Iterator[Edit]:
    if trial.makes_plan(one.text):
        yield one
