"""Profiles as data: which measures are capped at the scheduler's own, and which come first.

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

    ``caps`` bound a measure by its value in the scheduler's own plan, where it found one. After
    the last level the canonical tie-break makes the answer unique. ``wishes`` bind every answer.
    ``rates`` say what one unit of a term counts in the term ``rated``: positive whole numbers.
    ``median_checkpoint`` asks for the rule of the median, ``saving_counts`` for the time that
    saving takes, see applied.py.
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
    """Return the levels of an objective, and the number of names last if it is none of them."""
    return tuple(levels) if NAMED in levels else (*levels, NAMED)


def measure_id(measure: Measure) -> str:
    """Return the id of a measure, such as ``D4+D5``."""
    return "+".join(measure)


def measure_title(measure: Measure) -> str:
    """Return the title of a measure in words."""
    return " and ".join(find_term(term).title for term in measure)


def measure_unit(measure: Measure) -> str:
    """Return the unit of a measure: that of its terms."""
    return find_term(measure[0]).unit


_DEFAULT_LEVELS: Final[tuple[Measure, ...]] = (
    ("D0",),
    ("D1",),
    ("D2",),
    ("D3",),
    ("D4", "D5"),
    ("D7",),
    ("D8",),
)

PROFILES: Final[Mapping[str, Profile]] = {
    profile.name: profile
    for profile in (
        Profile(
            "no-regret",
            "never worse than the scheduler's own plan on four measures, and the least "
            "disruptive among all such plans",
            levels=_DEFAULT_LEVELS,
            caps=(("D0",), ("D1",), ("D2",), ("D4", "D5")),
        ),
        Profile("least-disruption", "the default order without caps", levels=_DEFAULT_LEVELS),
        Profile(
            "min-count",
            "the smallest number of victims, those already being evicted included",
            # By `count` first, and not D2: an auditor counts all victims, D2 not those that go
            # anyway.
            levels=(("count",), ("D2",), ("D3",), ("D4", "D5")),
        ),
        Profile(
            "min-lost-work",
            "the least lost work once tier and priority are settled",
            levels=(("D0",), ("D1",), ("D4", "D5"), ("D2",)),
        ),
        Profile("min-cost", "the smallest sum of the costs the user gives", levels=(("cost",),)),
        *(Profile(like, *goal) for one in schedulers() for like, goal in one.likes.items()),
        Profile(
            "kube-like",
            "the best set by what kube-scheduler goes for: the fewest pods beyond "
            "PodDisruptionBudgets, the lowest highest priority, the smallest sum of priorities, "
            "the fewest pods, those started last",
            levels=(("pdb",), ("D1",), ("prio",), ("D2p",), ("time",)),
        ),
        Profile(
            "fewest-pods",
            "the fewest pods, once tier and priority are settled",
            levels=(("D0",), ("D1",), ("D2p",), ("D4",)),
        ),
        Profile(
            "fewest-tenants",
            "the fewest queues touched, once tier and priority are settled",
            levels=(("D0",), ("D1",), ("D8",), ("D2",), ("D4",)),
        ),
        Profile(
            "fair",
            "the least taken of what any queue or cohort borrows, by its fair weight, once tier "
            "and priority are settled",
            levels=(("D0",), ("D1",), ("D9",), ("D2",), ("D4",)),
        ),
        Profile(
            "milestones",
            "the least cost by the milestones that workloads publish (KEP-83)",
            levels=(("D0",), ("D1",), ("D6",), ("D2",)),
        ),
        Profile(
            "stable",
            "no victim that would preempt again once it is pending, or as few as can be; then "
            "the default order without caps, and past preemptions before lost work",
            levels=(
                *(("D11",), ("D0",), ("D1",), ("D2",), ("D3",)),
                *(("D10",), ("D4", "D5"), ("D7",), ("D8",)),
            ),
        ),
        Profile(
            "exact-fit",
            "the least freed beyond the need, once tier and priority are settled",
            levels=(("D0",), ("D1",), ("D7",), ("D2",), ("D4",)),
        ),
        Profile(
            "weighted",
            "one sum: the work lost, and for each eviction ten minutes of its size, a day more "
            "for the last tier",
            levels=(("D4", "D5", "toll"), ("D8",)),
        ),
    )
}
"""All profiles by name; the first is the default."""

DEFAULT_PROFILE: Final = "no-regret"
