"""What can be compared.

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

The lists of strategies may be written out, too: ``kueue-fair:LessThanInitialShare``. Everything
else of the Configuration stays, feature gates too.

Source: KEP-83; docs/semantics/kueue.md §5 and §6, and §6.7 for the lists that Kueue accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from planner.errors import SchemaError
from planner.objective.profile_file import SUFFIX, find_profile
from planner.objective.profiles import PROFILES, Profile
from planner.state import AnyState, State, YuniKornState
from planner.state.configuration import BOTH_STRATEGIES, FairSharing, Strategy
from planner.state.kep83 import NAME as KEP83
from planner.state.kep83 import Kep83, parse_rules

StateT = TypeVar("StateT", bound=AnyState)
Scheduler = Literal["kueue", "yunikorn"]

DEFAULT_ALGORITHMS: Final = ("greedy", "optimum:no-regret")
OPTIMUM: Final = "optimum:"
_FAIR: Final = "kueue-fair"


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One way to answer; see the module for what there is.

    ``scheduler`` is the only one it is for, ``None`` for any. ``profile`` makes it an optimum.
    ``fair_sharing`` is what takes the place of the state's own setting where ``edits`` says so;
    ``None`` is classical preemption. ``rules`` are those of KEP-83 instead of Kueue's own.
    """

    name: str
    scheduler: Scheduler | None = None
    profile: Profile | None = None
    edits: bool = False
    fair_sharing: FairSharing | None = None
    rules: Kep83 | None = None

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
