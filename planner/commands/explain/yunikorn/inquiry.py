"""A pending ask and its plan, as questions are put to them, and the changes that would make one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import gcd
from typing import Final

from msgspec.structs import replace

from planner.commands.explain.inquiry import (
    Answer,
    Asked,
    Bounds,
    Edit,
    Explainer,
    Trial,
    capped,
    first,
)
from planner.commands.explain.record import Change
from planner.commands.explain.yunikorn.candidacy import excluded_by, standing
from planner.commands.explain.yunikorn.clash import clash_in_words, minimal_clash, shortfalls
from planner.commands.explain.yunikorn.record import (
    YuniKornClash,
    YuniKornExplanation,
    YuniKornStanding,
)
from planner.commands.whatif.edit import edit
from planner.errors import LookupFailed
from planner.laws import RULE_SETS
from planner.laws.yunikorn import YK_UNDER_GUARANTEED, Spared
from planner.models.yunikorn.candidates import is_under_guaranteed, short_of_guaranteed, used
from planner.objective.profiles import Profile
from planner.objective.yunikorn import chosen_node
from planner.plan.yunikorn import YuniKornPlan
from planner.quota.yunikorn.properties import DEFAULT, DISABLED, FENCE, PREEMPTION_POLICY
from planner.solver.deadline import Deadline
from planner.solver.levels import find_any
from planner.solver.search import Counts, Search
from planner.solver.start import Given
from planner.solver.yunikorn.describe import victims_in_words
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.solver.yunikorn.start import (
    LAST_TIER,
    is_spared,
    prepare_ask,
    settled_ask,
    solve,
    start,
)
from planner.state.yunikorn import QueueConfig, YuniKornState, format_yunikorn_quantity

HIGHEST: Final = 2**31 - 1
"""Priorities and offsets are 32-bit integers."""
ABSENT: Final = "none"


class YuniKornTrial(Trial[YuniKornPlanning]):
    """An ask on changed states."""

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
    problem, searches = trial.planning.problem, list[Iterator[Edit]]()
    ask, partition = problem.ask, trial.planning.cluster.partition
    named = bool(ask.allocation_key) and "=" not in ask.allocation_key + partition.name
    if named:
        searches += [_permissions(trial), _raised(trial, f"{trial.ask}.priority", ask.priority)]
    if not ask.required_node:
        # Edits can name all queues and types, and no queue is in two partitions.
        names = [*(queue.path for queue in problem.queues), *problem.types]
        alone = len(trial.planning.state.partitions) == 1
        unique = alone and not any("=" in name for name in names)
        named = named and unique
        if unique:
            own = problem.queues[problem.own_queue]
            path = f"queue/{own.path}.priority.offset"
            searches += [_raised(trial, path, own.priority_offset), _policies(trial)]
            searches += [_maxima(trial), _guaranteed(trial)]
    changes, tried = trial.all_proved(chain.from_iterable(searches))
    return changes, tried and named


def _permissions(trial: YuniKornTrial) -> Iterator[Edit]:
    """Yield what permits the ask to preempt at all, if something forbids it (YK-11)."""
    partition = trial.planning.cluster.partition
    if not partition.preemption.enabled:
        path = f"partition/{partition.name}.preemption.enabled"
        yield from trial.working(Edit(path, "false", "true"))
    if not trial.planning.asking.ask.x.allow_preempt_other:
        yield from trial.working(Edit(f"{trial.ask}.allowPreemptOther", "false", "true"))


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
            yield from trial.working(Edit(f"{path}.preemption.policy", policy, DEFAULT))
        if facts.priority_fence:
            yield from trial.working(Edit(f"{path}.priority.policy", FENCE, DEFAULT))


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
    problem = trial.planning.problem
    amounts = [problem.ask.resource.get(t, 0)]
    amounts += [allocation.resource.get(t, 0) for allocation in problem.allocations]
    for facts in problem.queues:
        known = (facts.guaranteed, facts.max, facts.allocated, facts.preempting)
        amounts += [resource.get(t, 0) for resource in known if resource]
    grain = max(1, gcd(*amounts))

    def at(number: int) -> Edit:
        before = ABSENT if now is None else format_yunikorn_quantity(now, t)
        after = format_yunikorn_quantity((now or 0) + number * grain, t)
        return Edit(path, before, after, f"+{format_yunikorn_quantity(number * grain, t)}")

    found = first(lambda number: trial.makes_plan(at(number).text), -(-most // grain))
    if found is not None:
        yield at(found)


_SHOWN = 10


class YuniKornInquiry(Explainer[YuniKornStanding, YuniKornClash, YuniKornExplanation]):
    """One ask of YuniKorn with its optimal plan, to be asked about."""

    taken = "preempted"

    def __init__(
        self,
        state: YuniKornState,
        given: Given,
        profile: Profile,
        costs: Mapping[str, int] | None,
        deadline: Deadline,
    ) -> None:
        self.planning = start(state, given, costs)
        self._plan = plan = solve(self.planning, profile, deadline)
        super().__init__(self.planning, plan, profile, deadline)
        self.greedy = plan.greedy or self.planning.greedy_plan()
        # By name from here on: in a changed state it need not be the only one that is pending.
        named = replace(given, pending=plan.preemptor)
        self._trial = YuniKornTrial(self.planning, named, costs, profile, deadline)

    @property
    def searched(self) -> bool:
        """Whether there was anything to search: otherwise nothing has to go, or nothing can."""
        return settled_ask(self.planning) is None

    @property
    def bounds(self) -> Sequence[Bounds]:
        """Alternatives keep to the caps, or do without them; the last tier goes last of all."""
        known = [Bounds()]
        if self.profile.caps:
            known.append(Bounds(capped=False))
        if self.spared != "nobody":
            known.append(Bounds(capped=False, last_resort=True))
        return known

    @property
    def spared(self) -> Spared:
        """Whom YK-01 spares because some legal set does without them."""
        plan, problem = self._plan, self.planning.problem
        if not plan.victims:
            return "nobody"
        victims = [self._positions[key] for key in plan.keys]
        if LAST_TIER in self.profile.levels and is_spared(problem, "last-tier", victims):
            return "last-tier"
        return "opted-out" if is_spared(problem, "opted-out", victims) else "nobody"

    def find(self, name: str) -> str:
        """Return the key of an allocation that is named by its key or its pod.

        Raises
        ------
        LookupFailed
            If it is not there, or several are.
        """
        allocations = self.planning.problem.allocations
        if any(one.allocation_key == name for one in allocations):
            return name
        keys = [one.allocation_key for one in allocations if one.pod == name]
        if len(keys) == 1:
            return keys[0]
        found = f"there is no allocation {name}"
        known = [one.pod or one.allocation_key for one in allocations]
        if keys:
            found, known = f"{len(keys)} allocations are of pod {name}", keys
        shown = ", ".join(known[:_SHOWN]) or "there are none"
        expected = f"an allocation key, or the namespace/name of its pod: {shown}"
        raise LookupFailed(self.planning.state.source, found, expected)

    def name(self, key: str) -> str:
        """Return the pod of an allocation, or its key where no pod is known."""
        return self.planning.problem.allocations[self._positions[key]].pod or key

    def may_be_taken(self, position: int) -> bool:
        """Say whether no law excludes an allocation by itself, but perhaps as a last resort."""
        return excluded_by(self.planning, position) is None

    def asked(self, bounds: Bounds, apart: Collection[int] = ()) -> Asked:
        """Return a search in which the positions ``apart`` have classes of their own."""
        search = prepare_ask(
            self.planning,
            capped(self.profile, bounds),
            self.deadline,
            self.greedy,
            apart,
            last_resort=bounds.last_resort,
        ).search
        return Asked(search, partial(self._plan_of, search))

    def standing(self, key: str) -> YuniKornStanding:
        """Say how the laws see an allocation."""
        found = standing(self.planning, self._positions[key], spared=self.spared)
        mine = {"by_scheduler": key in self.greedy.keys, "by_plan": key in self.plan.keys}
        return found.model_copy(update=mine)

    def place(self, standing: YuniKornStanding) -> str:
        """Say where a candidate stands in the core's order on its node."""
        place = f"place {standing.node_position} of {standing.node_candidates}"
        return f"{place} in YuniKorn's order on node {standing.node}"

    def clash(self) -> YuniKornClash:
        """Say why there is no plan, and what would change that."""
        planning = self.planning
        ids, proved = minimal_clash(planning.problem, planning.subject.rules, self.deadline)
        changes, tried_all = smallest_changes(self._trial)
        return YuniKornClash(
            laws=clash_in_words(planning, ids),
            proved=proved,
            shortfalls=shortfalls(planning),
            changes=changes,
            tried_all=tried_all,
        )

    def explanation(self, answer: Answer[YuniKornStanding, YuniKornClash]) -> YuniKornExplanation:
        """Put an answer together."""
        plan = self._plan
        keys = [*plan.keys, *(one.allocation for one in answer.standings)]
        if answer.other is not None:
            keys += answer.other.victims
        for each in answer.optima.plans if answer.optima else ():
            keys += each
        for change in answer.clash.changes if answer.clash else ():
            keys += change.victims
        named = {key: self.name(key) for key in dict.fromkeys(keys)}
        return YuniKornExplanation(
            rules=plan.rules,
            question=answer.question,
            answer=answer.text,
            preemptor=plan.preemptor,
            pod=plan.pod,
            application=plan.application,
            queue=plan.queue,
            priority=plan.priority,
            objective=plan.objective,
            status=plan.status,
            node=plan.node,
            victims=plan.keys,
            allocations=answer.standings,
            alternative=answer.other,
            optima=answer.optima,
            clash=answer.clash,
            pods={key: name for key, name in named.items() if name != key},
        )

    def _plan_of(self, search: Search, counts: Counts, proved: bool) -> YuniKornPlan:  # noqa: FBT001
        """Return class counts as a plan that the verifier accepted.

        It claims no proof to it: whether law 1 could be kept is what the bounds of a question say.
        """
        planning = self.planning
        positions = planning.in_candidate_order(search.classes.take(counts))
        node = chosen_node(planning.problem, positions)
        plan = planning.subject.plan(
            "optimum",
            "feasible",
            "",
            objective=self.profile.name,
            node=None if node is None else planning.problem.nodes[node],
            victims=positions,
            terms=planning.table.evaluate(positions),
        )
        status = "optimal" if proved else "feasible"
        return planning.accepted(plan).model_copy(update={"status": status})
