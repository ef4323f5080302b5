"""Random orders, and local search: what is drawn is named by a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from planner.rivals.contest import Contest, Found, SpentError

MOVES = 20
"""Moves that local search looks at, for each judgement it may ask for."""


def random_restarts(contest: Contest) -> Found:
    """Take candidates in a random order as the scheduler does, again and again; keep the best.

    A round ends as the scheduler's own does: who is not needed is given back, in reverse order.
    """
    # The best answer that comes before no judgement is left.
    answers = _rounds(contest)
    best: Sequence[int] | None = None
    with suppress(SpentError):
        for found in answers:
            if best is None or contest.values(found) < contest.values(best):
                best = found
    return Found(best)


def local_search(contest: Contest) -> Found:
    """Improve the scheduler's own victims, or else random ones, by small moves while they last.

    A move drops a victim, exchanges one for one, or two for one; it is made if the objective
    becomes less and no law is broken.
    """
    start = contest.planning.greedy_positions()
    best: list[int] | None = None
    with suppress(SpentError):
        best = start if start and contest.is_legal(start) else list(next(_rounds(contest)))
        _improve(contest, best)
    return Found(best)


def _improve(contest: Contest, best: list[int]) -> None:
    """Make ``best`` better in place, so that what is reached stays when no judgement is left."""
    candidates = [position for pool in contest.pools() for position in pool]
    value = contest.values(best)
    for _ in range(MOVES * contest.effort.judgements):
        trial = _moved(contest, best, candidates)
        worth = contest.values(trial)
        if worth < value and contest.is_legal(trial):
            best[:], value = trial, worth


def _moved(contest: Contest, chosen: Sequence[int], candidates: Sequence[int]) -> list[int]:
    chance, kept = contest.chance, list(chosen)
    for _ in range(chance.choice((1, 1, 2))):
        if kept:
            kept.pop(chance.randrange(len(kept)))
    if chance.randrange(3):
        added = candidates[chance.randrange(len(candidates))]
        if added not in kept:
            kept.append(added)
    return kept


def _rounds(contest: Contest) -> Iterator[Sequence[int]]:
    """Yield answers to random orders, until no judgement is left.

    Raises
    ------
    SpentError
        Then, or where there is nobody to take.
    """
    pools = contest.pools()
    if not pools:
        raise SpentError
    while True:
        order = pools[contest.chance.randrange(len(pools))].copy()
        contest.chance.shuffle(order)
        found = contest.add_until_legal(order)
        if found is not None:
            yield contest.give_back(found)
