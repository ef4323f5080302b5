"""An objective meets a state: groups must be there, soft windows and rates make terms.

A misspelt group would protect nobody and say nothing. So the state must know each: queues are
the ClusterQueues, or YuniKorn's queues of any partition; cohorts those that a Cohort or a
ClusterQueue names; namespaces those with a workload or a LocalQueue, and under YuniKorn with a
pod. A namespace with a LocalQueue and no workload is known; one with neither has nobody to evict.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from planner.errors import LookupFailed, SchemaError
from planner.objective.profiles import Profile
from planner.objective.terms import RATED, TERMS, TermTable

KnownGroups = Mapping[str, Collection[str]]
"""The names that a state knows for each kind of group: queue, cohort, namespace."""

EARLY: Final = "early"
_MAX_SHOWN: Final = 10
_LONGEST: Final = 400


def adopt(profile: Profile, table: TermTable, known: Callable[[], KnownGroups]) -> TermTable:
    """Return the terms of a problem as an objective counts them.

    ``known`` is asked only if the objective names groups.

    Raises
    ------
    LookupFailed
        If it names a group that the state does not know.
    SchemaError
        If it protects run time softly, or has rates, and minimises no term that counts them.
    UnsupportedError
        If it rates what the state cannot tell.
    """
    wishes = profile.wishes
    if wishes.groups:
        _refuse_unknown(profile, known())
    if wishes.soft_runtime_s:
        _refuse_uncounted(profile, EARLY, "protects run time softly")
        table = replace(table, separable={**table.separable, EARLY: wishes.early(table)})
    if profile.rates:
        _refuse_uncounted(profile, RATED, "has rates")
        table = table.rated(profile.name, profile.rates)
    elif RATED in profile.terms:
        expected = "rates of terms, such as D2 = 600"
        raise SchemaError(f"objective {profile.name}", f'"{RATED}" has no rates', expected)
    return table


def _refuse_uncounted(profile: Profile, term: str, what: str) -> None:
    if not any(term in measure for measure in profile.levels):
        raise SchemaError(
            f"objective {profile.name}",
            f"it {what}, but minimises nothing that counts it",
            f'the term "{term}" ({TERMS[term].title}) among its levels',
        )


def _refuse_unknown(profile: Profile, known: KnownGroups) -> None:
    for group in profile.wishes.groups:
        kind, _, name = group.partition("/")
        names = sorted(known.get(kind, ()))
        if name in names:
            continue
        close = difflib.get_close_matches(name[:_LONGEST], names, n=3)
        meant = " or ".join(f'"{one}"' for one in close)
        listed = ", ".join(names[:_MAX_SHOWN]) + (", ..." if len(names) > _MAX_SHOWN else "")
        raise LookupFailed(
            f"objective {profile.name}",
            f'there is no {kind} "{name}" in the state',
            f"one of: {listed}" if names else f"none: it has no {kind}",
            f"did you mean {meant}?" if close else "",
        )
