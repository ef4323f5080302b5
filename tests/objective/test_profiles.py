"""The profiles as data: docs/design/objectives.md §4 and §5."""

from __future__ import annotations

import pytest

from planner.objective.profiles import (
    DEFAULT_PROFILE,
    PROFILES,
    Measure,
    measure_id,
    measure_title,
)
from planner.term import TERMS

LOST_WORK: Measure = ("D4", "D5")
DEFAULT_ORDER: tuple[Measure, ...] = (
    ("D0",),
    ("D1",),
    ("D2",),
    ("D3",),
    LOST_WORK,
    ("D7",),
    ("D8",),
)


@pytest.mark.parametrize(
    ("name", "levels", "caps"),
    [
        ("no-regret", DEFAULT_ORDER, (("D0",), ("D1",), ("D2",), LOST_WORK)),
        ("least-disruption", DEFAULT_ORDER, ()),
        # "Smallest number" counts those being evicted already, which the other terms leave out.
        ("min-count", (("count",), ("D2",), ("D3",), LOST_WORK), ()),
        ("min-lost-work", (("D0",), ("D1",), LOST_WORK, ("D2",)), ()),
        ("min-cost", (("cost",),), ()),
        ("kueue-like", (("victims@each",), ("time",), ("D2",)), ()),
        ("kube-like", (("pdb",), ("D1",), ("prio",), ("D2p",), ("time",)), ()),
        ("fewest-pods", (("D0",), ("D1",), ("D2p",), ("D4",)), ()),
        ("fewest-tenants", (("D0",), ("D1",), ("D8",), ("D2",), ("D4",)), ()),
        ("fair", (("D0",), ("D1",), ("D9",), ("D2",), ("D4",)), ()),
        ("milestones", (("D0",), ("D1",), ("D6",), ("D2",)), ()),
        (
            "stable",
            (("D11",), *DEFAULT_ORDER[:4], ("D10",), *DEFAULT_ORDER[4:]),
            (),
        ),
        ("exact-fit", (("D0",), ("D1",), ("D7",), ("D2",), ("D4",)), ()),
        ("weighted", (("D4", "D5", "toll"), ("D8",)), ()),
    ],
)
def test_levels_and_caps(name: str, levels: tuple[Measure, ...], caps: tuple[Measure, ...]) -> None:
    assert (PROFILES[name].name, PROFILES[name].levels, PROFILES[name].caps) == (
        name,
        levels,
        caps,
    )


def test_terms_of_a_profile_are_named_once() -> None:
    assert PROFILES["no-regret"].terms == ("D0", "D1", "D2", "D3", "D4", "D5", "D7", "D8")


def test_the_default_is_the_one_without_regret() -> None:
    assert DEFAULT_PROFILE == "no-regret"
    assert next(iter(PROFILES)) == DEFAULT_PROFILE


def test_every_measure_is_made_of_known_terms_of_one_unit() -> None:
    for profile in PROFILES.values():
        assert profile.summary
        for measure in (*profile.levels, *profile.caps):
            assert len({TERMS[term].unit for term in measure}) == 1


def test_measures_have_ids_and_titles() -> None:
    assert measure_id(LOST_WORK) == "D4+D5"
    assert measure_title(LOST_WORK) == "lost work and restart cost"
