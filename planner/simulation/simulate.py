"""The way into a simulation: a state and what is asked, to what happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from planner.errors import InputError, SchemaError, UnsupportedError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.reference.decision import decide
from planner.reference.yunikorn.decision import decide as decide_ask
from planner.simulation.kueue_leave import Leaving
from planner.simulation.kueue_world import KueueWorld
from planner.simulation.record import Simulation
from planner.simulation.run import Limits, Report, run
from planner.simulation.script import MOST_S, NOTHING_SAID, Script
from planner.simulation.tally import totals_of
from planner.simulation.world import World
from planner.simulation.yunikorn_world import YuniKornWorld
from planner.state import AnyState, State, YuniKornState

if TYPE_CHECKING:
    from planner.solver.yunikorn.planning import Laws

DeciderName = Literal["kueue", "optimum", "yunikorn"]

_LAST_YEAR: Final = 9_900
CYCLES: Final = 100_000
STORM: Final = 3
EVICTION_S: Final = 30
"""Kubernetes' own default of terminationGracePeriodSeconds."""


def simulate(  # noqa: PLR0913 - the public signature
    state: AnyState,
    decider: DeciderName | None = None,
    *,
    script: Script = NOTHING_SAID,
    until_s: int | None = None,
    cycles: int = CYCLES,
    eviction_s: int = EVICTION_S,
    apart_s: int = 0,
    storm: int = STORM,
    objective: str | Profile = DEFAULT_PROFILE,
    time_limit: float | None = None,
    laws: Laws | None = None,
    report: Report = lambda *_: None,
) -> Simulation:
    """Let a cluster go on from a state, scheduling cycle after scheduling cycle.

    Victims come back as pending, and everybody who waits competes again by the scheduler's own
    rules. States that come back, workloads that evict each other and those evicted too often are
    found on the way. The same input gives the same answer.

    Parameters
    ----------
    state
        What ``planner.read`` returned; its clock is the start.
    decider
        Who chooses the victims: the scheduler itself, ``kueue`` or ``yunikorn``, also when left
        out; or ``optimum``: the least disruptive plan in their place.
    script
        Run times, checkpoints and arrivals, as ``planner.simulation.read_script`` returns them.
    until_s, cycles
        After how many seconds, at most 2^31, and after how many scheduling cycles, to end at the
        latest.
    eviction_s
        Kueue: how many seconds a victim keeps its quota, at least 1.
    apart_s
        Kueue: how many seconds longer each victim of a decision takes than the one before.
    storm
        How many evictions of one workload are no storm yet.
    objective, time_limit, laws
        For the optimum: what to minimise, the seconds that one decision may take, and YuniKorn's
        ``design``, also when left out, or ``code``.
    report
        Is told the clock and the number of cycles now and then.

    Raises
    ------
    InputError
        If the decider is not for this scheduler, or a parameter, the script or an annotation
        cannot be used.
    """
    until_s = MOST_S if until_s is None else until_s
    seconds = (until_s, eviction_s, apart_s)
    if min(cycles, eviction_s, storm) < 1 or not all(0 <= s <= MOST_S for s in seconds):
        expected = f"1 or more, until_s 0 or more, seconds up to {MOST_S}"
        raise SchemaError("simulate", "a limit is out of range", expected)
    own: DeciderName = "yunikorn" if isinstance(state, YuniKornState) else "kueue"
    chosen = _chosen(own, decider, laws)
    if isinstance(state, State) and state.now.year > _LAST_YEAR:
        raise UnsupportedError(state.source, f"its clock is {state.now}", "a year before 9900")
    profile = objective if isinstance(objective, Profile) else find_profile(objective)
    unproved: Callable[[], int] = int
    leaving = Leaving(eviction_s, apart_s)
    if chosen == "optimum":
        asked = _Asked(profile, time_limit, laws or "design")
        world, unproved = _planned_world(state, script, leaving, asked)
    else:
        world = _own_world(state, script, leaving)
    outcome = run(world, Limits(until_s, cycles, storm), report)
    fates = outcome.tally.fates(outcome.at_s)
    return Simulation(
        scheduler="yunikorn" if isinstance(state, YuniKornState) else "kueue",
        decider=chosen,
        objective=profile.name if chosen == "optimum" else None,
        digest=state.digest,
        start=world.start,
        duration_s=outcome.at_s,
        cycles=world.cycles,
        ended=outcome.ended,
        eviction_s=eviction_s,
        apart_s=apart_s,
        storm=storm,
        unproved=unproved(),
        totals=totals_of(fates),
        use=world.use(outcome.shares),
        loops=outcome.loops,
        feuds=outcome.feuds,
        storms=outcome.storms,
        workloads=fates,
        timeline=tuple(outcome.timeline),
    )


def _chosen(own: DeciderName, decider: DeciderName | None, laws: Laws | None) -> DeciderName:
    """Return who decides in a cluster of a scheduler."""
    chosen = decider or own
    if chosen not in {own, "optimum"}:
        expected = f"{own} or optimum"
        raise InputError("decider", f'"{chosen}" does not decide in this cluster', expected)
    if laws is not None and (own, chosen) != ("yunikorn", "optimum"):
        expected = "leave it out: only the optimum in the place of YuniKorn's choice takes a side"
        raise InputError("laws", f'"{laws}" means nothing here', expected)
    return chosen


class _Asked(NamedTuple):
    """What the optimum has to know."""

    profile: Profile
    time_limit: float | None
    laws: Laws


def _own_world(state: AnyState, script: Script, leaving: Leaving) -> World:
    """Return a cluster whose scheduler chooses the victims itself."""
    if isinstance(state, YuniKornState):
        return YuniKornWorld(state, script, lambda _, cluster, asking: decide_ask(cluster, asking))
    return KueueWorld(state, script, decide, leaving)


def _planned_world(
    state: AnyState, script: Script, leaving: Leaving, asked: _Asked
) -> tuple[World, Callable[[], int]]:
    """Return a cluster in which the optimum chooses, and what counts what it did not prove."""
    # Only the optimum needs a solver, which takes longer to load than a small simulation.
    from planner.simulation.optimum import Doubts, KueueOptimum, YuniKornOptimum  # noqa: PLC0415

    doubts, (profile, time_limit, laws) = Doubts(), asked
    world: World
    if isinstance(state, YuniKornState):
        world = YuniKornWorld(state, script, YuniKornOptimum(profile, laws, time_limit, doubts))
    else:
        optimum = KueueOptimum(state, profile, time_limit, doubts)
        world = KueueWorld(state, script, optimum, leaving)
    return world, lambda: doubts.unproved
