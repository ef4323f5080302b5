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
"""A sum of terms, such as ("D4", "D5")."""


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


NAMED: Final[Measure] = ("count",)
"""The first part of the tie-break: name no workload without need."""


def with_names(levels: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the levels of an objective, with ``count`` as the last if it is not among them."""
    return tuple(levels) if NAMED in levels else (*levels, NAMED)


def measure_id(measure: Measure) -> str:
    """Return the id of a measure, such as ``D4+D5``."""
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


_DEFAULT_LEVELS: Final = "D0 D1 D2 D3 D4+D5 D7 D8"
_SETTLED: Final = "once tier and priority are settled"

PROFILES: Final[Mapping[str, Profile]] = {
    profile.name: profile
    for profile in (
        _profile(
            "no-regret",
            _DEFAULT_LEVELS,
            "never worse than the scheduler's own plan on four measures, and the least "
            "disruptive among all such plans",
            caps="D0 D1 D2 D4+D5",
        ),
        _profile("least-disruption", _DEFAULT_LEVELS, "the default order without caps"),
        _profile(
            "min-count",
            # By `count` first, and not D2: an auditor counts all victims, D2 leaves out those that
            # are being evicted already.
            "count D2 D3 D4+D5",
            "the smallest number of victims, those already being evicted included",
        ),
        _profile("min-lost-work", "D0 D1 D4+D5 D2", f"the least lost work {_SETTLED}"),
        _profile("min-cost", "cost", "the smallest sum of the costs the user gives"),
        *(Profile(like, *goal) for one in schedulers() for like, goal in one.likes.items()),
        _profile(
            "kube-like",
            "pdb D1 prio D2p time",
            "the best set by what kube-scheduler goes for: the fewest pods beyond "
            "PodDisruptionBudgets, the lowest highest priority, the smallest sum of priorities, "
            "the fewest pods, those started last",
        ),
        _profile("fewest-pods", "D0 D1 D2p D4", f"the fewest pods, {_SETTLED}"),
        _profile("fewest-tenants", "D0 D1 D8 D2 D4", f"the fewest queues touched, {_SETTLED}"),
        _profile(
            "fair",
            "D0 D1 D9 D2 D4",
            f"the least taken of what any queue or cohort borrows, by its fair weight, {_SETTLED}",
        ),
        _profile(
            "milestones",
            "D0 D1 D6 D2",
            "the least cost by the milestones that workloads publish",
        ),
        _profile(
            "stable",
            "D11 D0 D1 D2 D3 D10 D4+D5 D7 D8",
            "no victim that would preempt again once it is pending, or as few as can be; then "
            "the default order without caps, and past preemptions before lost work",
        ),
        _profile("exact-fit", "D0 D1 D7 D2 D4", f"the least freed beyond the need, {_SETTLED}"),
        _profile(
            "weighted",
            "D4+D5+toll D8",
            "one sum: the work lost, and for each eviction ten minutes of its size, a day more "
            "for the last tier",
        ),
    )
}
"""All profiles by name; the first is the default."""

DEFAULT_PROFILE: Final = "no-regret"
