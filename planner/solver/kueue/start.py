"""What planning asks of Kueue: who is pending, how a workload is prepared, and how it is solved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final

from planner.case.kueue import Case, in_modes, with_topologies
from planner.case.kueue_plan import MOST_SHOWN, hold_in_words, on_run_times
from planner.case.kueue_release import by_other_releases, under_release
from planner.case.kueue_room import where_short
from planner.errors import InputError, PlannerError
from planner.garbage import without_garbage_collection
from planner.objective.profiles import Profile
from planner.plan.base import name_some
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import (
    check_flavors,
    flavor_resources,
    parse_assignment,
    read_assignment,
)
from planner.quota.kueue.placement import snapshot_for
from planner.quota.kueue.preemptor import deactivated, find_preemptor, key_of
from planner.quota.kueue.snapshot import build_snapshot, take_snapshot
from planner.reference.kueue.chance import Crash
from planner.reference.kueue.cycle.comeback import overtaking
from planner.reference.kueue.cycle.nomination import are_before
from planner.reference.kueue.cycle.turn import InTheWay, in_the_way, is_large
from planner.reference.kueue.decision import Decision
from planner.rules import Piece
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import solve_planning
from planner.solver.kueue.stability import (
    Solve,
    as_asked,
    in_time,
    looks_ahead,
    solve_stable,
    with_stability,
)
from planner.solver.proving.kueue import cases
from planner.solver.start import Given, only_pending
from planner.stage import begin
from planner.state.clock import clock_of
from planner.state.kueue import State
from planner.wing import find_rules

BY_ITS_CODE: Final = "leave it out: plans of Kueue keep to its code"
"""What to do with rules of YuniKorn."""
PLANNING: Final = Piece[Callable[[], type[Planning]]]("planning", lambda: Planning)
"""Loads what prepares a pending workload to be planned by a rule set."""

NOT_LOOKED_AT: Final = (
    "so many hold quota that it was not looked at whether heads of other ClusterQueues come first"
)


def with_turn(
    planning: Planning, plan: Plan, deadline: Deadline, notes: tuple[str, ...] = ()
) -> Plan:
    """Return a plan, and Kueue's own beside it, with what keeps Kueue from serving the preemptor.

    Who is in the way in every cycle is looked for where somebody is before it in the next one.
    """
    plan = plan.model_copy(update={"notes": (*plan.notes, *notes)})
    if plan.greedy is None:
        return plan
    case, reason = planning.case, planning.case.held_back
    found = who_is_in_the_way(case, deadline)
    if found is not None:
        said = in_words(case, found)
    elif reason is not None:
        said = hold_in_words(plan.preemptor, reason)
    elif is_large(case.state, case.snapshot, case.preemptor):
        return plan.model_copy(update={"notes": (*plan.notes, NOT_LOOKED_AT)})
    else:
        return plan.model_copy(update={"notes": (*plan.notes, *_overtaken(case, plan))})
    update: dict[str, object] = {"held_back": reason}
    theirs = {"explanation": said, "in_the_way": found.workloads if found else ()}
    greedy = plan.greedy.model_copy(update=update | theirs)
    return plan.model_copy(update=update | {"greedy": greedy, "notes": (*plan.notes, said)})


def _overtaken(case: Case, plan: Plan) -> Iterator[str]:
    """Say which victims of a plan Kueue admits again before the preemptor, if it does so."""
    place = {key: at for at, key in enumerate(case.problem.workloads.keys)}
    going = [(case.problem.workloads[place[one.workload]], one.reason) for one in plan.victims]
    if not going or case.options:  # what other rules do then nobody knows
        return
    back = overtaking(case.state, case.snapshot, case.preemptor, going)
    if back:
        names = name_some(back, MOST_SHOWN)
        yield (
            f"once its victims are gone, Kueue admits {names} before {plan.preemptor}, which finds "
            "no room then; the gate PrioritizePreemptorWorkloads would put it first"
        )


def who_is_in_the_way(case: Case, deadline: Deadline) -> InTheWay | None:
    """Return who keeps Kueue from serving the preemptor in every cycle, if that is known.

    Nobody does that where Kueue would do nothing for it in its turn either.
    """
    reason, decision = case.held_back, case.decision
    acts = decision.search.targets or decision.assignment.mode == "Fit"
    if reason is None or reason.why not in {"notHead", "notFirst"} or not acts:
        return None
    return in_the_way(case.state, case.snapshot, case.preemptor, lambda: deadline.passed)


def in_words(case: Case, found: InTheWay) -> str:
    """Say who is in the way, and what Kueue's own answer then is."""
    if found.own_queue:
        (head,), (queue,) = found.workloads, found.queues
        why = f"{head} is the head of ClusterQueue {queue}, which is StrictFIFO"
    else:
        before = are_before(found.workloads, found.queues, " in every cycle")
        why = f"{before} and reserves the room (KL-19)"
    key = case.preemptor.key
    if case.decision.search.targets:
        what = f"Kueue itself evicts nobody for {key}"
        plan = "what it would evict is what it would choose if the turn came"
    else:
        what, plan = f"Kueue never admits {key}", "the plan is what would be if the turn came"
    return f"{what}, as long as nothing changes: {why}; {plan}"


__all__ = ["answer", "cases", "check", "is_outside", "lowered_quotas", "solve", "start"]


def check(given: Given) -> None:
    """Refuse to choose flavors that are fixed, and what only Kueue's own rules can answer.

    Raises `InputError` if one of these is asked for.
    """
    chosen, by_others, out = given.flavors != "kueue", given.rules is not None, "leave it out"
    fixed = "the assignment has fixed the flavors already"
    lowered = "Kueue evicts nobody where a quota was lowered"
    next_ = "what victims do next is for Kueue's own rules, not for others"
    for refused, where, found, hint in (
        (chosen and given.assignment is not None, "flavors", fixed, "leave one of the two out"),
        (chosen and by_others, "flavors", "flavors are chosen by Kueue's own rules only", out),
        (given.quota is not None, "quota", lowered, "--quota is for queues of YuniKorn"),
        (by_others and (given.stability or given.stable), "stability", next_, out),
    ):
        if refused:
            raise InputError(where, found, hint=hint)


@without_garbage_collection()
def start(state: State, given: Given) -> Planning:
    """Make a pending workload ready for planning.

    Raises `InputError` if it cannot be planned for, or an option means nothing to Kueue.
    """
    if given.rules in ("design", "written", "code"):
        raise InputError("rules", f'"{given.rules}" means nothing for Kueue', hint=BY_ITS_CODE)
    begin("preparing")
    rules = find_rules(given.rules)
    options = rules.read(given.rules or "")
    state = rules.state(state)
    now = clock_of(given.now)
    flavors = None if given.assignment is None else parse_assignment(given.assignment)
    if flavors is not None:
        check_flavors(flavors, state)
    extra = flavor_resources(flavors) if flavors else ()
    waiting = list(dict.fromkeys(state.pending))
    if given.pending:
        wanted = key_of(state, given.pending, waiting)
    else:
        wanted = only_pending(
            state,
            waiting,
            idle=lambda: deactivated(state),
            instead="planner whatif STATE --workload FILE plans for the manifest of a job; ",
        )
    if given.rules is None:
        snapshot = snapshot_for(state, now, extra, wanted)
    else:
        snapshot = take_snapshot(state, now, extra)
    preemptor = find_preemptor(state, snapshot, wanted)
    fixed = None
    if flavors is not None and given.recorded:
        fixed = read_assignment(flavors, preemptor)
    elif flavors is not None:
        fixed = in_modes(flavors, snapshot, preemptor, options)
    if not rules.replaces:
        snapshot = under_release(state, snapshot, preemptor)
    case = Case(state, snapshot, preemptor, fixed, given.costs, options)
    return PLANNING.for_rules(rules)()(case, given.certify)


def solve(planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
    """Return the best legal plan under a profile, verified, with its certificate.

    Raises what `solve_planning` does.
    """
    return in_time(solve_planning, planning, profile, deadline)


def answer(planning: Planning, profile: Profile, deadline: Deadline, given: Given) -> Plan:
    """Return the best legal plan, who is in the way, and whether victims would preempt again.

    Nothing is said of what happens next under rules that are not Kueue's own.
    """
    solved: Solve = solve
    if given.flavors == "optimal":
        from planner.solver.kueue.flavors import solve_flavors  # noqa: PLC0415

        solved = partial(in_time, solve_flavors)
        # Which of the flavors that the rules permit has room on its nodes is not looked at.
        planning = planning.by_quota_alone()
    planning = as_asked(planning, profile, stable=given.stable)
    if given.stable:
        found = with_run_times(planning, solve_stable(solved, planning, profile, deadline))
        return with_stability(planning, with_turn(planning, found, deadline), deadline)
    plan = with_run_times(planning, solved(planning, profile, deadline))
    case = planning.case
    if not case.options:
        notes = chain(
            by_recorded_requests(case, solved, profile, deadline),
            by_other_releases(case, lambda: deadline.passed),
            with_placement(case),
            by_nodes_alone(case, plan),
        )
        plan = with_turn(planning, plan, deadline, tuple(notes))
    asked = given.stability or looks_ahead(profile)
    # Where pods are placed on nodes, quota alone does not say what victims do next.
    cheap = not case.options and case.placement is None and given.stability is None
    if asked or cheap:
        return with_stability(planning, plan, deadline, cheaply=not asked)
    return plan


def with_run_times(planning: Planning, plan: Plan) -> Plan:
    """Return a plan with remarks on what the dump does not tell of its victims' run times."""
    workloads = planning.problem.workloads
    victims = [workloads[at] for at in planning.positions(plan.keys)]
    notes = on_run_times(planning.state, victims)
    return plan.model_copy(update={"notes": (*plan.notes, *notes)})


def is_outside(greedy: Plan, plans: Sequence[Plan], terms: Sequence[str]) -> bool:
    """Say whether Kueue's own plan breaks its own rules, as it can under fair sharing."""
    del plans, terms
    return bool(greedy.outside_rules)


def lowered_quotas(state: State) -> Sequence[str]:
    """Return nothing: Kueue evicts nobody where a quota was lowered."""
    del state
    return ()


MOST_NAMED: Final = 5
"""How many victims of the plan by recorded requests are named at most."""
MOST_TARGETS: Final = 10
"""How many of those whom Kueue itself evicts are named at most."""


def by_recorded_requests(
    case: Case, solved: Solve, profile: Profile, deadline: Deadline
) -> Iterator[str]:
    """Say what the plan would be by the requests that Kueue recorded.

    Nothing is said where these are the same, flavors are given, or time is up (rule E1 of
    docs/semantics/kueue-features.md §10).
    """
    configuration = case.snapshot.configuration
    recorded = case.preemptor.workload.status.resource_requests
    known = not recorded or configuration.requests_from == "recorded"
    if known or case.fixed is not None or deadline.passed:
        return
    changed = configuration.counting("recorded")
    state = case.state.model_copy(update={"configuration": changed})
    snapshot = build_snapshot(state, case.snapshot.now, placing=case.placement is not None)
    preemptor = find_preemptor(state, snapshot, case.preemptor.key)
    mine, theirs = (
        [
            (one.name, {name: units for name, units in one.totals.items() if units})
            for one in who.pod_sets
        ]
        for who in (case.preemptor, preemptor)
    )
    if mine == theirs:  # they differ in zeros at most: the plan would be the same
        return
    try:
        other = Case(state, snapshot, preemptor, costs=case.costs)
        found = solved(Planning(other), profile, deadline)
        who = f" ({name_some(found.keys, MOST_NAMED)})" if found.keys else ""
        said = f"{found.explanation}{who}"
    except PlannerError as error:
        said = f"there is no plan: {error}"
    yield f"by the requests that Kueue recorded: {said}; it can plan by these, too"


def with_placement(case: Case) -> Iterator[str]:
    """Say what Kueue itself would do where a topology decides, and the plan looks at none."""
    found = with_topologies(case) if case.placement is None else None
    if found is None:
        return
    placing, why = found
    if why:
        yield f"what Kueue itself does with pods placed on nodes was not replayed: {why}"
        return
    try:
        decided = _in_words(case.preemptor.key, placing.decision)
        yield f"with pods placed on nodes, Kueue itself {decided}"
    except Crash as error:
        yield str(error)


def by_nodes_alone(case: Case, plan: Plan) -> Iterator[str]:
    """Say what the nodes lack where victims have to go although there is quota enough."""
    if plan.victims and not any(one.shortfall for one in plan.demand):
        short = where_short(case)
        if short:
            yield f"there is quota enough, and the nodes lack room: {short}"


def _in_words(key: str, decision: Decision) -> str:
    targets = [target.workload.key for target in decision.targets]
    if decision.assignment.mode == "Fit":
        return f"admits {key} at once"
    if targets:
        return f"evicts {name_some(targets, MOST_TARGETS)} for {key}"
    why = f": {decision.assigned.message}" if decision.assigned.message else ""
    if decision.assignment.mode == "NoFit":
        return f"has no room for {key}, whoever goes{why}"
    return f"finds nobody to evict for {key}{why}"
