"""One pending workload: every algorithm's answer, all measured by one table of terms.

What can be compared, by name:

greedy             the scheduler's own answer, whichever the scheduler
kueue, yunikorn    the same, of one scheduler only; Kueue as the state configures it
kueue-classical    Kueue as if the Configuration had no fairSharing
kueue-fair         Kueue as if it had, with both strategies
kueue-fair:final   with LessThanOrEqualToFinalShare only
kueue-fair:initial with LessThanInitialShare only
kep83              the algorithm that Kueue was proposed with in 2022; kep83:NAME=VALUE,... with
                   options, see `planner.state.kep83`
optimum:PROFILE    the best plan under an objective, by the state's own rules
kep83/optimum:PROFILE
                   the same by KEP-83's rules, also with options
any/optimum:PROFILE
                   the same with pods put wherever there is room (``placement="any"``), where a
                   topology decides about them; what it spares is what fragmentation costs

The lists of strategies may be written out, too: ``kueue-fair:LessThanInitialShare``. Everything
else of the Configuration stays, feature gates too.

Source: KEP-83; docs/semantics/kueue.md §5 and §6, and §6.7 for the lists that Kueue accepts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, TypeVar

from planner.commands.audit.instance import Instance
from planner.commands.audit.judge import evicted
from planner.commands.audit.record import Failure
from planner.commands.compare.record import Row, RowStatus, StateComparison
from planner.coverage.answer import Covering, covering, uncovered
from planner.errors import InternalError, PlannerError, SchemaError, UnsupportedError
from planner.objective.profile_file import SUFFIX, find_profile
from planner.objective.profiles import PROFILES, Profile
from planner.plan import AnyPlan, Assume, Placement, Plan
from planner.plan.naming import names_of, resources_of
from planner.quota.kueue.assignment import Assignment
from planner.solver.answer import broken
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, solve, start
from planner.state import AUTO, AnyState, RequestsFrom, State, YuniKornState
from planner.state.kep83 import NAME as KEP83
from planner.state.kep83 import Kep83, parse_rules
from planner.state.kueue_configuration import BOTH_STRATEGIES, FairSharing, Strategy
from planner.verifier.kueue.plan import verify_plan

StateT = TypeVar("StateT", bound=AnyState)
Scheduler = Literal["kueue", "yunikorn"]

DEFAULT_ALGORITHMS: Final = ("greedy", "optimum:no-regret")
OPTIMUM: Final = "optimum:"
_AT_WILL: Final = "any/"
_FAIR: Final = "kueue-fair"


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One way to answer; see the module for what there is.

    ``scheduler`` is the only one it is for, ``None`` for any. ``profile`` makes it an optimum.
    ``fair_sharing`` is what takes the place of the state's own setting where ``edits`` says so;
    ``None`` is classical preemption. ``rules`` are those of KEP-83 instead of Kueue's own.
    ``placement`` says who places pods on nodes.
    """

    name: str
    scheduler: Scheduler | None = None
    profile: Profile | None = None
    edits: bool = False
    fair_sharing: FairSharing | None = None
    rules: Kep83 | None = None
    placement: Placement = "kueue"

    def state(self, state: StateT) -> StateT:
        """Return the state as this algorithm finds it."""
        if not self.edits or not isinstance(state, State):
            return state
        edited = {"fair_sharing": self.fair_sharing}
        return state.model_copy(
            update={"configuration": state.configuration.model_copy(update=edited)}
        )

    def why_not(self, state: AnyState) -> str:
        """Say why it means nothing for a state; empty if it does."""
        if self.scheduler in {None, scheduler_of(state)}:
            return ""
        return f"{self.name} means nothing for a state of {scheduler_of(state)}"


def _fair(name: str, strategies: tuple[Strategy, ...]) -> Algorithm:
    return Algorithm(
        name,
        "kueue",
        edits=True,
        fair_sharing=FairSharing.model_validate({"preemptionStrategies": strategies}),
    )


def _kep83(options: Kep83) -> Algorithm:
    return Algorithm(options.text, "kueue", edits=True, rules=options)


ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("greedy"),
        Algorithm("kueue", "kueue"),
        Algorithm("kueue-classical", "kueue", edits=True),
        _fair(_FAIR, BOTH_STRATEGIES),
        _fair(f"{_FAIR}:final", BOTH_STRATEGIES[:1]),
        _fair(f"{_FAIR}:initial", BOTH_STRATEGIES[1:]),
        _kep83(Kep83()),
        Algorithm("yunikorn", "yunikorn"),
    )
}
"""All that are no optimum, by name."""

_WRITTEN_OUT: Final = {
    f"{_FAIR}:{'+'.join(algorithm.fair_sharing.strategies)}": algorithm
    for algorithm in ALGORITHMS.values()
    if algorithm.fair_sharing is not None
}


def scheduler_of(state: AnyState) -> Scheduler:
    """Return the scheduler that a state is of."""
    return "yunikorn" if isinstance(state, YuniKornState) else "kueue"


def algorithm_names() -> tuple[str, ...]:
    """Return the names of all algorithms, those of the optima under the known profiles too."""
    return (*ALGORITHMS, *(f"{OPTIMUM}{name}" for name in PROFILES))


def find_algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name; that of an optimum may end in a TOML file.

    Raises
    ------
    InputError
        If there is no such algorithm, or the file of its objective or an option cannot be used.
    """
    if name.startswith(KEP83):
        return _by_kep83(name)
    if name.startswith(f"{_AT_WILL}{OPTIMUM}"):
        best = find_algorithm(name.removeprefix(_AT_WILL))
        return replace(best, name=f"{_AT_WILL}{best.name}", scheduler="kueue", placement="any")
    if name.startswith(OPTIMUM):
        wanted = name.removeprefix(OPTIMUM)
        if wanted in PROFILES or wanted.endswith(SUFFIX):
            profile = find_profile(wanted)
            return Algorithm(f"{OPTIMUM}{profile.name}", profile=profile)
    found = ALGORITHMS.get(name) or _WRITTEN_OUT.get(name)
    if found is None:
        names = f"{', '.join(algorithm_names())}, or {OPTIMUM}FILE{SUFFIX}"
        raise SchemaError("algorithm", f'there is no algorithm "{name}"', names)
    return found


def _by_kep83(name: str) -> Algorithm:
    rules, slash, wanted = name.partition(f"/{OPTIMUM}")
    found = _kep83(parse_rules(rules))
    if not slash:
        return found
    best = find_algorithm(f"{OPTIMUM}{wanted}")
    return replace(found, name=f"{found.name}/{best.name}", profile=best.profile)


def find_algorithms(names: Iterable[str]) -> tuple[Algorithm, ...]:
    """Return the algorithms of some names, each once, in order.

    Raises
    ------
    InputError
        If one cannot be used, there is none, or two objectives have one name.
    """
    found: dict[str, Algorithm] = {}
    for name in names:
        algorithm = find_algorithm(name)
        if found.setdefault(algorithm.name, algorithm) != algorithm:
            raise SchemaError(
                "algorithm", f'two objectives have the name "{algorithm.name}"', "a name for each"
            )
    if not found:
        raise SchemaError("algorithm", "none is given", "one algorithm, or more")
    return tuple(found.values())


DIGITS: Final = 6
"""Digits of a ratio and of seconds after the point."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every state: algorithms, seconds for each answer, the clock, the rules.

    ``rules`` is the side that is taken where YuniKorn's written laws and its code differ.
    ``pending`` is the only one asked about, if it is given. ``release`` is the release of Kueue
    whose rules hold; ``auto`` that of each state. ``requests`` is as for ``planner.read``.
    ``assume`` is the user's word that what is not modelled decides nothing.
    """

    algorithms: tuple[Algorithm, ...]
    time_limit: float | None = None
    now: datetime | None = None
    rules: str | None = None
    pending: str | None = None
    release: str = AUTO
    requests: RequestsFrom = "template"
    assume: Assume | None = None


def compare_instance(instance: Instance, question: Question) -> StateComparison:
    """Let every algorithm answer for every pending workload of a state.

    One that cannot be planned for is a failure, and does not stop the others.

    Raises
    ------
    InternalError
        If a plan fails its own verification.
    """
    rows: list[Row] = []
    failures: list[Failure] = []
    known = None if question.assume else covering(instance.state)
    rules = question.rules if isinstance(instance.state, YuniKornState) else None
    for pending in (question.pending,) if question.pending else instance.pending:
        given = Given(pending, instance.assignment, question.now, rules)
        try:
            case = _Case(instance, given, question.time_limit, known)
        except InternalError:
            raise
        except PlannerError as error:
            failures.append(Failure(state=instance.name, pending=pending, detail=str(error)))
        else:
            rows += map(case.row, question.algorithms)
    return StateComparison(state=instance.name, rows=tuple(rows), failures=tuple(failures))


class _Case:
    """A pending workload, and the planning of the state as it is that measures every answer.

    No objective is ever solved in that planning: its terms stay what the state tells.
    """

    def __init__(
        self,
        instance: Instance,
        given: Given,
        time_limit: float | None,
        known: Covering | None,
    ) -> None:
        self._instance = instance
        self._given = given
        self._time_limit = time_limit
        self._known = known
        self._own = own = start(instance.state, given)
        self._preemptor = own.preemptor_key
        self._position = {key: position for position, key in enumerate(own.keys)}

    def row(self, algorithm: Algorithm) -> Row:
        """Return the row of an algorithm."""
        reason = algorithm.why_not(self._instance.state)
        if algorithm.placement == "any" and not reason and not self._places_pods:
            reason = "no topology decides about its pods, or not all is known of the nodes"
        if reason:
            return self._row(algorithm, "skipped", reason)
        try:
            plan, seconds = self._answer(algorithm)
        except UnsupportedError as error:
            return self._row(algorithm, "skipped", str(error))
        except InternalError:
            raise
        except PlannerError as error:
            return self._row(algorithm, "failed", str(error))
        return self._measured(algorithm, plan, seconds)

    def _answer(self, algorithm: Algorithm) -> tuple[AnyPlan, float]:
        """Return the plan of an algorithm, and the seconds that it took."""
        state = algorithm.state(self._instance.state)
        began = time.perf_counter()
        rules = algorithm.rules or self._given.rules
        planning = start(state, replace(self._given, rules=rules, placement=algorithm.placement))
        plan: AnyPlan
        if algorithm.profile is None:
            plan = planning.greedy_plan()
        else:
            plan = solve(planning, algorithm.profile, Deadline.after(self._time_limit))
        return plan, round(time.perf_counter() - began, DIGITS)

    def _row(self, algorithm: Algorithm, status: RowStatus, detail: str) -> Row:
        """Return what a row says in any case."""
        return Row(
            state=self._instance.name,
            pending=self._preemptor,
            scheduler=self._instance.state.scheduler,
            algorithm=algorithm.name,
            status=status,
            detail=detail,
            running=len(self._position),
            candidates=int(self._own.eligible.sum()),
        )

    def _measured(self, algorithm: Algorithm, plan: AnyPlan, seconds: float) -> Row:
        is_optimum = algorithm.profile is not None
        by_other_rules = algorithm.edits or algorithm.placement != "kueue"
        found: dict[str, object] = {
            "rules": plan.rules,
            "victims": plan.keys,
            "names": names_of(plan),
            "resources": resources_of(plan),
            "outside_rules": self._outside(plan) if by_other_rules else plan.outside_rules,
            "levels": plan.certificate.levels if plan.certificate else (),
            "proved": plan.status in {"optimal", "infeasible"} if is_optimum else None,
            "seconds": seconds,
        }
        if plan.status in {"optimal", "feasible"}:
            found["own_flavors"] = self._has_own_flavors(plan)
            found["terms"] = self._own.table.evaluate(map(self._position.__getitem__, plan.keys))
            found["ratio"], found["ratio_of"] = _ratio(plan)
        missing = uncovered(self._known, plan) if self._known else ()
        status: RowStatus = plan.status
        if missing:
            status = "conditional"
            found |= {"uncovered": tuple(dict.fromkeys(one.feature for one in missing))}
            found["proved"] = None
        return self._row(algorithm, status, plan.explanation).model_copy(update=found)

    @property
    def _places_pods(self) -> bool:
        return isinstance(self._own, Planning) and self._own.placement is not None

    def _has_own_flavors(self, plan: AnyPlan) -> bool | None:
        if not (isinstance(plan, Plan) and isinstance(self._own, Planning)):
            return None
        return _chosen(plan.assignment) == _chosen(self._own.decision.assignment)

    def _outside(self, plan: AnyPlan) -> tuple[str, ...]:
        """Return the laws of the state as it is that victims found by other rules break.

        The flavors are those of the plan. Of the attempts that Kueue could make, the one that
        breaks the fewest laws counts.
        """
        own, state = self._own, self._instance.state
        if not plan.victims or not (
            isinstance(plan, Plan) and isinstance(own, Planning) and isinstance(state, State)
        ):
            return ()
        if plan.assignment != own.decision.assignment:
            own = own.with_flavors(plan.assignment, own.eligible)
        victims = own.describe_in_order([self._position[key] for key in plan.keys])
        claims = [
            own.subject.plan(
                "kueue", "feasible", "", objective="", victims=victims, borrowing=borrowing
            )
            for borrowing in (False, True)
        ]
        found = [broken(verify_plan(state, one, snapshot=own.snapshot).verdicts) for one in claims]
        return min(found, key=len)


def _chosen(assignment: Assignment) -> list[tuple[str, int | None, dict[str, str]]]:
    """Return pods and flavors, without what says whether they fit."""
    return [
        (pods.name, pods.count, {name: one.flavor for name, one in pods.flavors.items()})
        for pods in assignment.pod_sets
    ]


def _ratio(plan: AnyPlan) -> tuple[float | None, str | None]:
    """Return the largest ratio of what is evicted to what is requested, and of which resource."""
    if not plan.victims:
        return 0.0, None
    wanted = {place: amount for place, amount in plan.requested.items() if place in plan.short}
    if not wanted:
        return None, None
    held = evicted(plan)
    ratios = {place: held.get(place, 0) / amount for place, amount in wanted.items()}
    scarcest = max(ratios, key=ratios.__getitem__)
    return round(ratios[scarcest], DIGITS), "/".join(filter(None, scarcest))
