"""Preemptors served one after another, by Kueue's own decisions: replays, and Kueue's own cycles.

Before each step the former victims are gone and the former preemptors hold what they were
assigned; the clock stands still. Kueue assigns the flavors anew in every state. A step is legal if
it has no victims and the preemptor fits; or if Kueue would look for victims, and the verifier
accepts those of the step in one of the attempts that Kueue would make. A former preemptor is never
a victim.

Source: docs/semantics/kueue.md §4 to §6; docs/design/theory.md §2.2 and §2.3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from planner.case.kueue import Case
from planner.objective.profiles import Profile
from planner.plan import Conclusion, Verification
from planner.plan.kueue import Plan
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.aftermath import admit, snapshot_after
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.turn import standing
from planner.reference.kueue.cycle.waiting import waiting_queues
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import solve_planning
from planner.state.kueue import State
from planner.verifier.kueue.plan import verify_plan

Step = tuple[Preemptor, Sequence[str]]
"""Who is served, and the victims as namespace/name."""


class Served(Struct, frozen=True):
    """A step that was replayed: what Kueue decides there, and the verified plan."""

    case: Case
    plan: Plan
    verification: Verification


def replay(
    state: State, snapshot: Snapshot, steps: Sequence[Step]
) -> tuple[list[Served], Case | None]:
    """Serve preemptors one after another; return the legal steps, and the first that is not."""
    done: list[Served] = []
    for preemptor, victims in steps:
        case = Case(state, snapshot, preemptor)
        served = _serve(case, victims)
        if served is None:
            return done, case
        done.append(served)
        snapshot = after(case, victims)
    return done, None


def after(case: Case, victims: Collection[str]) -> Snapshot:
    """Return the snapshot after a step: victims gone, the preemptor admitted."""
    holder = admit(case.snapshot, case.preemptor, case.assignment)
    workloads = case.problem.workloads
    gone = [workloads[at] for at, key in enumerate(workloads.keys) if key in victims]
    return snapshot_after(case.snapshot, holder, gone)


def _serve(case: Case, victims: Sequence[str]) -> Served | None:
    """Return a step with its verified plan, ``None`` if it is not legal."""
    assignment = case.assignment
    if assignment.mode == "NoFit" or len(assignment.pod_sets) < len(case.preemptor.pod_sets):
        return None
    planning = Planning(case)
    place = {key: i for i, key in enumerate(planning.keys)}
    # Kueue looks for victims in mode Preempt only, and never among those admitted on the way.
    if victims and (assignment.mode != "Preempt" or not place.keys() >= {*victims}):
        return None
    positions = [place[key] for key in victims]
    if not (planning.candidates[positions].all() if victims else planning.fits_at_once):
        return None
    terms = planning.table.evaluate(positions)
    step: Conclusion[Plan] = Conclusion("feasible", "one step of a joint plan", "joint", terms)
    # In Kueue's order: the step belongs to the first attempt that permits its victims.
    attempt = planning.attempt_of(positions) if victims else None
    plan = planning.plan(step, planning.describe_in_order(positions), borrowing=attempt)
    verification = verify_plan(planning.state, plan, snapshot=case.snapshot)
    return Served(case, plan, verification) if verification.accepted else None


class Turn(Struct, frozen=True):
    """One turn of serving as Kueue does: Kueue's own decision, and who is evicted for it.

    ``evicted`` includes preemptors that an earlier turn admitted.
    """

    preemptor: Preemptor
    admitted: bool
    evicted: tuple[str, ...] = ()


class OneByOne(Struct, frozen=True):
    """All turns of serving as Kueue does, and the snapshot that they leave."""

    turns: tuple[Turn, ...]
    left: Snapshot

    @property
    def holding(self) -> list[str]:
        """The preemptors that were admitted and not evicted by a later turn."""
        held = [turn.preemptor.key for turn in self.turns if turn.admitted]
        gone = {key for turn in self.turns for key in turn.evicted}
        return [key for key in held if key not in gone]


def serve_in_cycles(state: State, snapshot: Snapshot, preemptors: Sequence[Preemptor]) -> OneByOne:
    """Serve preemptors in the cycles in which Kueue comes to them; nobody else waits.

    Victims are gone, and preemptors admitted, at the end of the cycle. Pods are ready at once.
    Preemptors that are never served come last.
    """
    settings = snapshot.configuration.model_copy(update={"wait_for_pods_ready": None})
    snapshot = replace(snapshot, configuration=settings)
    left = {one.key: one for one in preemptors}
    queues = waiting_queues(state, snapshot)
    for waiting in queues.values():
        waiting.active = [one for one in waiting.active if one.key in left]
        waiting.parked = []  # who backs off is not served
    turns: list[Turn] = []
    seen: set[object] = set()
    for number in count():
        ran = schedule(state, snapshot, queues, cycle=number)
        served = [entry for entry in ran.entries if entry.outcome in {"admitted", "preempting"}]
        for entry in served:
            preemptor, queue = entry.preemptor, queues[entry.preemptor.queue]
            del left[preemptor.key]
            queue.active = [one for one in queue.active if one.key != preemptor.key]
            queue.generation += 1
            decision = entry.decision
            assert decision is not None, "an inadmissible head is not served"  # noqa: S101
            if len(decision.assignment.pod_sets) < len(preemptor.pod_sets):
                turns.append(Turn(preemptor, admitted=False))  # the API server refuses it
                continue
            gone = [one.workload for one in decision.search.targets]
            turns.append(Turn(preemptor, admitted=True, evicted=tuple(one.key for one in gone)))
            holder = admit(snapshot, preemptor, decision.assignment)
            snapshot = snapshot_after(snapshot, holder, gone)
        if any(turn.evicted for turn in turns[len(turns) - len(served) :]):
            for waiting in queues.values():
                waiting.wake(lambda _: True)
        if served:
            seen.clear()
        elif (marks := standing(queues)) in seen:
            break
        else:
            seen.add(marks)
    return OneByOne((*turns, *(Turn(one, admitted=False) for one in left.values())), snapshot)


def serve_at_best(
    state: State,
    snapshot: Snapshot,
    preemptors: Iterable[Preemptor],
    profile: Profile,
    deadline: Deadline,
) -> list[Step]:
    """Serve preemptors in the order given, each by its own best plan in the state reached.

    A preemptor without such a plan, or whose plan evicts a former preemptor, is left out.
    """
    steps: list[Step] = []
    served: set[str] = set()
    for preemptor in preemptors:
        case = Case(state, snapshot, preemptor)
        plan = solve_planning(Planning(case), profile, deadline.half())
        if plan.status in {"optimal", "feasible"} and served.isdisjoint(plan.keys):
            steps.append((preemptor, plan.keys))
            served.add(preemptor.key)
            snapshot = after(case, plan.keys)
    return steps


def refitting(left: Snapshot, victims: Iterable[Admitted]) -> tuple[str, ...]:
    """Return which victims would fit again in their queues, one after the other in this order.

    Each usage is compared with what is available in the end: who fits was evicted for nothing.
    """
    usage, found = left.usage.copy(), []
    for victim in victims:
        room = (
            amount <= max(0, usage.available(victim.queue, fr)) or not amount
            for fr, amount in victim.usage.items()
        )
        if all(room):
            usage.add(victim.queue, victim.usage)
            found.append(victim.key)
    return tuple(found)
