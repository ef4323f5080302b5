"""Profiles as data: measures capped at the scheduler's own values, and levels in their order.

Source: docs/design/objectives.md §4 and §5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from planner.objective.wishes import NO_WISHES, Wishes
from planner.scheduler import schedulers
from planner.term import find_term

Measure = tuple[str, ...]
"""A sum of terms, such as ("lost_work", "restart_cost")."""


class Profile(Struct, frozen=True):
    """A named objective: hard caps, then levels minimised one after the other.

    ``caps`` bound a measure by its value in the scheduler's own plan, where there is one. After
    the last level the canonical tie-break makes the answer unique. ``wishes`` bind every answer.
    ``rates`` say what one unit of a term counts in the term ``rated``: positive whole numbers.
    ``median_checkpoint`` asks for the rule of the median, ``saving_counts`` for counting the time
    of saving as lost, see applied.py.
    """

    name: str
    summary: str
    levels: tuple[Measure, ...]
    caps: tuple[Measure, ...] = ()
    wishes: Wishes = NO_WISHES
    rates: Mapping[str, int] = field(default_factory=dict)
    median_checkpoint: bool = False
    saving_counts: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms that the levels and caps are made of, each once, in order."""
        measures = (*self.levels, *self.caps)
        return tuple(dict.fromkeys(term for measure in measures for term in measure))

    def counts(self, term: str) -> bool:
        """Say whether a term decides anything: by a level, a cap or a rate."""
        return term in self.terms or term in self.rates


NAMED: Final[Measure] = ("victims",)
"""The first part of the tie-break: name no workload without need."""


def with_names(levels: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the levels of an objective, with ``victims`` as the last if it is not among them."""
    return tuple(levels) if NAMED in levels else (*levels, NAMED)


def measure_name(measure: Measure) -> str:
    """Return the name of a measure, such as ``lost_work+restart_cost``."""
    return "+".join(measure)


def value_in(terms: Mapping[str, int], measure: Measure) -> int:
    """Return a measure by the values of its terms."""
    return sum(terms[term] for term in measure)


def measure_title(measure: Measure) -> str:
    """Return the title of a measure in words."""
    return " and ".join(find_term(term).title for term in measure)


def measure_unit(measure: Measure) -> str:
    """Return the unit of a measure: that of its terms."""
    return find_term(measure[0]).unit


def _profile(name: str, levels: str, summary: str, caps: str = "") -> Profile:
    goals, capped = (
        tuple(tuple(measure.split("+")) for measure in text.split()) for text in (levels, caps)
    )
    return Profile(name, summary, goals, capped)


_SETTLED_FIRST: Final = "last_resort highest_priority"
_DEFAULT_LEVELS: Final = (
    f"{_SETTLED_FIRST} workloads priority_weight lost_work+restart_cost excess_freed queues"
)
_SETTLED: Final = "once tier and priority are settled"

PROFILES: Final[Mapping[str, Profile]] = {
    profile.name: profile
    for profile in (
        _profile(
            "no-regret",
            _DEFAULT_LEVELS,
            "never worse than the scheduler's own plan on four measures, and the least "
            "disruptive among all such plans",
            caps=f"{_SETTLED_FIRST} workloads lost_work+restart_cost",
        ),
        _profile("least-disruption", _DEFAULT_LEVELS, "the default order without caps"),
        _profile(
            "min-count",
            # By `victims` first: an auditor counts all of them, `workloads` leaves out those that
            # are being evicted already.
            "victims workloads priority_weight lost_work+restart_cost",
            "the smallest number of victims, those already being evicted included",
        ),
        _profile(
            "min-lost-work",
            f"{_SETTLED_FIRST} lost_work+restart_cost workloads",
            f"the least lost work {_SETTLED}",
        ),
        _profile("min-cost", "cost", "the smallest sum of the costs the user gives"),
        *(Profile(like, *goal) for one in schedulers() for like, goal in one.likes.items()),
        _profile(
            "kube-like",
            "disruption_budgets highest_priority priority_sum pods run_time",
            "the best set by what kube-scheduler goes for: the fewest pods beyond "
            "PodDisruptionBudgets, the lowest highest priority, the smallest sum of priorities, "
            "the fewest pods, those started last",
        ),
        _profile("fewest-pods", f"{_SETTLED_FIRST} pods lost_work", f"the fewest pods, {_SETTLED}"),
        _profile(
            "fewest-tenants",
            f"{_SETTLED_FIRST} queues workloads lost_work",
            f"the fewest queues touched, {_SETTLED}",
        ),
        _profile(
            "fair",
            f"{_SETTLED_FIRST} unfairness workloads lost_work",
            f"the least taken of what any queue or cohort borrows, by its fair weight, {_SETTLED}",
        ),
        _profile(
            "milestones",
            "last_resort highest_priority milestone_cost workloads",
            "the least cost by the milestones that workloads publish",
        ),
        _profile(
            "stable",
            f"unstable {_SETTLED_FIRST} workloads priority_weight past_preemptions "
            "lost_work+restart_cost excess_freed queues",
            "no victim that would preempt again once it is pending, or as few as can be; then "
            "the default order without caps, and past preemptions before lost work",
        ),
        _profile(
            "exact-fit",
            f"{_SETTLED_FIRST} excess_freed workloads lost_work",
            f"the least freed beyond the need, {_SETTLED}",
        ),
        _profile(
            "weighted",
            "lost_work+restart_cost+toll queues",
            "one sum: the work lost, and for each eviction ten minutes of its size, a day more "
            "for the last tier",
        ),
    )
}
"""All profiles by name; the first is the default."""

DEFAULT_PROFILE: Final = "no-regret"
