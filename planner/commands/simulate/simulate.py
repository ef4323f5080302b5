"""The way into a simulation: a state and what is asked, to what happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from planner.commands.simulate.record import Simulation
from planner.commands.simulate.run import Limits, Report, run
from planner.commands.simulate.script import MOST_S, NOTHING_SAID, Leaving, Script
from planner.commands.simulate.world import World, totals_of
from planner.coverage.answer import covering
from planner.errors import InputError, SchemaError
from planner.garbage import tidy
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.plan import AnyPlan
from planner.scheduler import Part
from planner.state import AnyState

OPTIMUM: Final = "optimum"
"""Decides in the place of a scheduler."""
STABLE: Final = "stable"
BOOST: Final = "boost"
"""Decide in the place of Kueue: see ``simulate``."""
CYCLES: Final = 100_000
STORM: Final = 3
EVICTION_S: Final = 30
"""Kubernetes' own default of terminationGracePeriodSeconds."""


@dataclass(slots=True)
class Unproved:
    """How many decisions were not proved best, of how many plans."""

    count: int = 0
    plans: int = 0

    def note(self, plan: AnyPlan) -> None:
        """Count a plan, and whether it is without proof; memory is tidied between plans."""
        self.count += plan.status in {"feasible", "unknown"}
        self.plans += 1
        tidy(self.plans)


class Asked(NamedTuple):
    """Who decides, and what the optimum has to know where that decides."""

    decider: str
    profile: Profile
    time_limit: float | None
    rules: str | None


class Simulated(Protocol):
    """What a simulation asks of a scheduler."""

    INSTEAD: tuple[str, ...]
    """Who may choose the victims in its place."""

    def check(self, state: AnyState, asked: Asked) -> None:
        """Refuse what cannot be simulated."""

    def world(
        self, state: AnyState, script: Script, leaving: Leaving, asked: Asked, unproved: Unproved
    ) -> World:
        """Return a cluster in which the scheduler chooses the victims itself, or plans do.

        What is not proved of plans is noted.
        """


SIMULATED: Final = Part[Simulated]("simulation")


def simulate(  # noqa: PLR0913 - the public signature
    state: AnyState,
    decider: str | None = None,
    *,
    script: Script = NOTHING_SAID,
    until_s: int | None = None,
    cycles: int = CYCLES,
    eviction_s: int = EVICTION_S,
    apart_s: int = 0,
    storm: int = STORM,
    objective: str | Profile = DEFAULT_PROFILE,
    time_limit: float | None = None,
    rules: str | None = None,
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
        out; or ``optimum``: the least disruptive plan in their place. Of Kueue also ``stable``:
        the least disruptive of the plans after which no victim would preempt again, or of all if
        there is none; and ``boost``: the least disruptive plan where priority boosts would lead
        Kueue to it, its own victims elsewhere.
    script
        Run times, checkpoints and arrivals, as ``planner.commands.simulate.read_script``
        returns them.
    until_s, cycles
        After how many seconds, at most 2^31, and after how many scheduling cycles, to end at the
        latest.
    eviction_s
        Kueue: how many seconds a victim keeps its quota, at least 1.
    apart_s
        Kueue: how many seconds longer each victim of a decision takes than the one before.
    storm
        How many evictions of one workload are no storm yet.
    objective, time_limit, rules
        For all but the scheduler itself: what to minimise, the seconds that one plan may take,
        and YuniKorn's ``design``, also when left out, or ``code``.
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
    profile = objective if isinstance(objective, Profile) else find_profile(objective)
    simulated = SIMULATED.of(state)
    asked = Asked(decider or state.scheduler, profile, time_limit, rules)
    known = (state.scheduler, *simulated.INSTEAD)
    if asked.decider not in known:
        found = f'"{asked.decider}" does not decide in this cluster'
        raise InputError("decider", found, " or ".join(known))
    simulated.check(state, asked)
    leaving, unproved = Leaving(eviction_s, apart_s), Unproved()
    world = simulated.world(state, script, leaving, asked, unproved)
    outcome = run(world, Limits(until_s, cycles, storm), report)
    fates = outcome.tally.fates(outcome.at_s)
    return Simulation(
        scheduler=state.scheduler,
        decider=asked.decider,
        objective=None if asked.decider == state.scheduler else profile.name,
        digest=state.digest,
        start=world.start,
        duration_s=outcome.at_s,
        cycles=world.cycles,
        ended=outcome.ended,
        eviction_s=eviction_s,
        apart_s=apart_s,
        storm=storm,
        coverage=world.left_out(covering(state).everything()),
        unproved=unproved.count,
        totals=totals_of(fates),
        names=dict(world.names),
        use=world.use(outcome.shares),
        loops=outcome.loops,
        feuds=outcome.feuds,
        storms=outcome.storms,
        workloads=fates,
        timeline=tuple(outcome.timeline),
    )
