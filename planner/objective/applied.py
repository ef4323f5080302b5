"""An objective applied to a state: groups must exist; soft windows, rates, priorities add terms.

A misspelt group would protect nobody, without any message. So the state must know every group:
queues are the ClusterQueues, or YuniKorn's queues of any partition; cohorts those that a Cohort or
a ClusterQueue names; namespaces those with a workload or a LocalQueue, and under YuniKorn with a
pod. A namespace with a LocalQueue and no workload is known; one with neither has none to evict.

The level ``victims@each`` stands for one level per priority of a candidate, from the highest down:
the number of victims of that priority. The cap ``victims@each`` compares these numbers with those
of the scheduler's own plan, in the same order: at the first priority where they differ, the plan
must have fewer victims. As a term it is ``more@each``, which must be 0.

A workload that publishes no checkpoint is taken to lose its whole run, by default. That rewards
publishing nothing: on paper more is lost, so other workloads are evicted first. By the rule of the
median, which an objective may ask for, the last checkpoint of such a workload is taken to be as old
as the median of the published checkpoints, or as its run if that is younger.

Source: docs/design/objectives.md §6; kueue#477.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

import numpy as np
from msgspec.structs import replace

from planner.errors import LookupFailed, SchemaError
from planner.objective.profiles import Profile
from planner.objective.terms import TermTable, work
from planner.term import EACH, MORE, RATED, TERMS, priority_of, victims_of


def _losing(table: TermTable, *, by_median: bool, with_saving: bool) -> TermTable:
    """Return terms with lost work by the rule of the median, with the time of saving, or with both.

    The median is that of all workloads of the table that publish a checkpoint: for Kueue those
    that hold quota in active ClusterQueues of the preemptor's tree. Saving on SIGTERM takes as long
    as the annotation says, but no longer than what is lost without it.
    """
    median = median_age(one.checkpoint_s for one in table.disruptions) if by_median else None
    if median is None and not with_saving:
        return table
    if median is not None:
        known = [
            one._replace(lost_s=min(one.lost_s, median)) if one.silent else one
            for one in table.disruptions
        ]
        table = replace(table, disruptions=known)
    # Saving is added to the lost time that the median leaves.
    lost_s = [one.lost_s + (one.saving_s if with_saving else 0) for one in table.disruptions]
    each = zip(table.size.tolist(), table.leaving.tolist(), lost_s, strict=True)
    costs = [0 if leaving else work(size, seconds) for size, leaving, seconds in each]
    lost = np.array(costs, dtype=np.int64)
    return replace(table, separable={**table.separable, "lost_work": lost})


def median_age(ages: Iterable[int | None]) -> int | None:
    """Return the median of the ages in seconds that are not ``None``; ``None`` if all are.

    Of an even number of ages it is the mean of the two in the middle, rounded up.
    """
    known = sorted(age for age in ages if age is not None)
    if not known:
        return None
    below, above = known[(len(known) - 1) // 2], known[len(known) // 2]
    return -(-(below + above) // 2)


KnownGroups = Mapping[str, Collection[str]]
"""The names that a state knows for each kind of group: queue, cohort, namespace."""

EARLY: Final = "cut_short"
_MAX_SHOWN: Final = 10
_LONGEST: Final = 400


def apply_profile(
    profile: Profile,
    table: TermTable,
    known: Callable[[], KnownGroups],
    own: Callable[[], Mapping[int, int] | None],
) -> TermTable:
    """Return the terms of a problem as an objective counts them.

    ``known`` is called only if the objective names groups, ``own`` only if it caps the victims of
    each priority: it returns their numbers in the scheduler's own plan, ``None`` if it has none.

    Raises ``LookupFailed`` if it names a group that the state does not know. Raises ``SchemaError``
    if it protects run time softly, or has rates, and minimises no term that counts them; or if it
    uses ``victims@each`` other than as a level or a cap of its own. Raises ``UnsupportedError`` if
    it rates a term that the state cannot tell.
    """
    wishes = profile.wishes
    where = f"objective {profile.name}"
    others = [measure for measure in (*profile.levels, *profile.caps) if measure != (EACH,)]
    others += [*wishes.most, tuple(profile.rates)]
    if any(EACH in measure for measure in others):
        what = f'"{EACH}" is no number, but stands for one of each priority'
        raise SchemaError(where, what, "it as a level or a cap of its own")
    by_median, with_saving = profile.median_checkpoint, profile.saving_counts
    if by_median or with_saving:
        table = _losing(table, by_median=by_median, with_saving=with_saving)
    # The priorities whose victims an objective counts, spelled out or not.
    named = [priority_of(term) for term in profile.terms]
    counted = [*(table.priorities if (EACH,) in profile.levels else ()), *named]
    table = table.counting([priority for priority in counted if priority is not None])
    # Called only where a cap compares with its result: it takes a decision of the scheduler.
    if not {(EACH,), (MORE,)}.isdisjoint(profile.caps):
        table = replace(table, own=own())
    if wishes.groups:
        _refuse_unknown(profile, known())
    if wishes.soft_runtime_s:
        _refuse_uncounted(profile, EARLY, "protects run time softly")
        table = replace(table, separable={**table.separable, EARLY: wishes.early(table)})
    if profile.rates:
        _refuse_uncounted(profile, RATED, "has rates")
        return table.rated(profile.name, profile.rates)
    if RATED in profile.terms:
        raise SchemaError(where, f'"{RATED}" has no rates', "rates of terms, such as pods = 60")
    return table


def spelled_out(profile: Profile, table: TermTable) -> Profile:
    """Return an objective in which a level ``victims@each`` is one level for each priority.

    As a cap it becomes ``more@each``, or is dropped without numbers of the scheduler to compare.
    """
    each = [(victims_of(priority),) for priority in reversed(table.priorities)]
    levels = [each if level == (EACH,) else [level] for level in profile.levels]
    compared = [(MORE,)] if table.own is not None else []
    caps = [compared if cap == (EACH,) else [cap] for cap in profile.caps]
    return replace(profile, levels=(*chain(*levels),), caps=(*chain(*caps),))


def own_priorities(table: TermTable, victims: Sequence[int]) -> Mapping[int, int] | None:
    """Return how many of the scheduler's own victims, given by positions, have each priority."""
    return table.of_priorities(victims) if victims else None


def _refuse_uncounted(profile: Profile, term: str, what: str) -> None:
    if not any(term in measure for measure in profile.levels):
        raise SchemaError(
            f"objective {profile.name}",
            f"it {what}, but minimises nothing that counts it",
            f'the term "{term}" ({TERMS[term].title}) among its levels',
        )


def _refuse_unknown(profile: Profile, known: KnownGroups) -> None:
    import difflib  # noqa: PLC0415 - only what is misspelt needs it

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
