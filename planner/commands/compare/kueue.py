"""Algorithms for Kueue: its own rules in another setting, and the rule sets that wings add.

kueue-classical    Kueue as if the Configuration had no fairSharing
kueue-fair         Kueue as if it had, with both strategies
kueue-fair:final   with LessThanOrEqualToFinalShare only
kueue-fair:initial with LessThanInitialShare only
RULES              the algorithm of a rule set, also with options: Kueue's own where its laws are
                   added to Kueue's
RULES/optimum:PROFILE
                   the best plan by these rules

The lists of strategies may be written out, too: ``kueue-fair:LessThanInitialShare``. Everything
else of the Configuration stays, feature gates too.

Source: docs/semantics/kueue.md §5 and §6, and §6.7 for the lists that Kueue accepts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planner.commands.compare.algorithm import OPTIMUM, Algorithm, Compared
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import Assignment
from planner.solver.kueue.planning import Planning
from planner.state.kueue import State
from planner.state.kueue_configuration import BOTH_STRATEGIES, FairSharing
from planner.wing import find_rules, names_of_rules

_FAIR: Final = "kueue-fair"


class Sharing(Struct, frozen=True):
    """Replaces the fairSharing setting of a state; ``None`` is classical preemption.

    Its ``repr`` is the same in every process: a results file records its algorithms by theirs.
    """

    fair_sharing: FairSharing | None = None

    def __call__(self, state: State) -> State:
        """Return the state with this setting."""
        configuration = state.configuration.model_copy(update={"fair_sharing": self.fair_sharing})
        return state.model_copy(update={"configuration": configuration})


_CLASSICAL: Final = Sharing()


def _by(rules: str) -> Algorithm:
    found = find_rules(rules)
    text = found.read(rules)
    return Algorithm(text, "kueue", edit=_CLASSICAL if found.replaces else None, rules=text)


_RULE_SETS: Final = names_of_rules()
_BY_STRATEGIES: Final = {
    strategies: Algorithm(
        f"{_FAIR}{name}",
        "kueue",
        edit=Sharing(FairSharing.model_validate({"preemptionStrategies": strategies})),
    )
    for name, strategies in (
        ("", BOTH_STRATEGIES),
        (":final", BOTH_STRATEGIES[:1]),
        (":initial", BOTH_STRATEGIES[1:]),
    )
}
_WRITTEN_OUT: Final = {
    f"{_FAIR}:{'+'.join(strategies)}": algorithm for strategies, algorithm in _BY_STRATEGIES.items()
}


class KueueCompared(Compared[Planning, Plan]):
    """What is asked of Kueue to compare its algorithms."""

    algorithms = (
        Algorithm("kueue-classical", "kueue", edit=_CLASSICAL),
        *_BY_STRATEGIES.values(),
        *map(_by, _RULE_SETS),
    )

    def find_algorithm(self, name: str, find: Callable[[str], Algorithm]) -> Algorithm | None:
        """Return an algorithm by its name, as `Compared` says; ``None`` if none has the name."""
        if not name.startswith(_RULE_SETS):
            return _WRITTEN_OUT.get(name)
        rules, slash, wanted = name.partition(f"/{OPTIMUM}")
        found = _by(rules)
        if not slash:
            return found
        best = find(f"{OPTIMUM}{wanted}")
        return replace(found, name=f"{found.name}/{best.name}", profile=best.profile)

    def has_own_flavors(self, own: Planning, plan: Plan) -> bool:
        """Say whether a plan has the flavors that Kueue itself assigns."""
        return _chosen(plan.assignment) == _chosen(own.case.assignment)

    def outside(self, own: Planning, plan: Plan) -> tuple[str, ...]:
        """Return the laws of the unedited state that victims found by other rules break.

        The flavors are those of the plan. Of the attempts that Kueue could make, the one that
        breaks the fewest laws counts.
        """
        if not plan.victims:
            return ()
        if plan.assignment != own.case.assignment:
            own = own.with_flavors(plan.assignment, own.eligible)
        position = {key: position for position, key in enumerate(own.keys)}
        return own.broken_by([position[key] for key in plan.keys])


def _chosen(assignment: Assignment) -> list[tuple[str, int | None, dict[str, str]]]:
    """Return the podsets with their counts and flavors, but not with whether these fit."""
    return [
        (pods.name, pods.count, {name: one.flavor for name, one in pods.flavors.items()})
        for pods in assignment.pod_sets
    ]
