"""An objective meets a state: every group that it names must be there, and soft windows count.

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
from planner.objective.terms import TERMS, TermTable

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
        If it protects run time softly and minimises no such term.
    """
    wishes = profile.wishes
    if wishes.groups:
        _refuse_unknown(profile, known())
    if not wishes.soft_runtime_s:
        return table
    if not any(EARLY in measure for measure in profile.levels):
        raise SchemaError(
            f"objective {profile.name}",
            "it protects run time softly, but minimises nothing that counts it",
            f'the term "{EARLY}" ({TERMS[EARLY].title}) among its levels',
        )
    return replace(table, separable={**table.separable, EARLY: wishes.early(table)})


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
