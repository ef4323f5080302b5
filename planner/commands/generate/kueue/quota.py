"""Quotas that make what is in use legal, and what the preemptor asks for obtainable.

* In every tree, flavor and resource, the quotas add up to what is used divided by ``fill``. Where
  GPUs are contested cores are not: half as much again is there.
* The preemptor's queue has as much more quota than it uses as the preemptor asks for, or less of it
  by ``beyond``. The rest is dealt out to the others, who together use more than their quota by
  what the preemptor lacks. So it can be had in full: as long as a cohort beside the preemptor's
  path uses more than its quota, a queue in it does, and when none does any more there is room.
* A queue may borrow at least what it borrows, and lends at least what it lends: no quota lies idle
  behind a limit.
* In a hard state the trap's queue borrows what the preemptor lacks; under fair sharing no other
  queue of the tree borrows, so that none is looked at before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.commands.generate.chance import Chance
from planner.commands.generate.kueue.layout import Layout, Place, Quota
from planner.commands.generate.kueue.shape import CPU, MEMORY, Shape
from planner.errors import InputError

_BORROWS = (400, 900)
_LENDS = (1100, 1600)
"""How much quota a queue has for what it uses, in thousandths, before all is made to add up."""


def deal(layout: Layout, asked: Shape, chance: Chance) -> None:
    """Give all queues and root cohorts their quotas.

    Raises
    ------
    InputError
        If the other queues of the preemptor's tree have too little.
    """
    used = layout.used()
    knobs = layout.knobs
    factors = [
        chance.between(*(_BORROWS if chance.percent(knobs.borrowers) else _LENDS)) for _ in used
    ]
    limited = [chance.percent(knobs.limits) for _ in used]
    layout.quotas = [{} for _ in used]
    for tree in layout.trees:
        members, pool = layout.members(tree), {}
        for flavor in range(knobs.flavors):
            for resource in layout.resources:
                place = flavor, resource
                held = {queue: used[queue][place] for queue in members}
                sums = _Sums.of(layout, tree, place, sum(held.values()), asked)
                nominal, pool[place] = _nominal(layout, place, held, sums, factors)
                for queue, amount in nominal.items():
                    layout.quotas[queue][place] = (
                        _limited(amount, held[queue], queue, chance)
                        if limited[queue]
                        else Quota(amount)
                    )
        layout.pools.append(pool)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Of one resource in a tree: what there is, what the root cohort owns, what is asked for."""

    total: int
    pool: int
    asked: int

    @classmethod
    def of(cls, layout: Layout, tree: int, place: Place, used: int, asked: Shape) -> _Sums:
        knobs, resource = layout.knobs, place[1]
        wanted = asked.total[resource] if tree == 0 else 0
        trapped = tree == 0 and layout.trap is not None
        spare = (resource == CPU != layout.contested) or (trapped and resource == MEMORY)
        # A sweep comes on top of what is filled: what the preemptor lacks stays what it is.
        sweep = _of_trap(layout, place) if trapped else 0
        found = used + layout.free(used - sweep)
        if spare:
            found = max(found, used) + used // 2 + 2 * wanted
        elif knobs.fits:
            found = max(found, used + wanted)
        return cls(found, layout.pool(found), wanted)


def _of_trap(layout: Layout, place: Place) -> int:
    """Return what the sweep and the job that would do alone use."""
    first = layout.knobs.workloads + layout.knobs.pending
    return sum(
        run.shape.total[place[1]]
        for run in reversed(layout.running)
        if run.number >= first and run.flavor == place[0]
    )


def _nominal(
    layout: Layout,
    place: Place,
    held: Mapping[int, int],
    sums: _Sums,
    factors: Sequence[int],
) -> tuple[dict[int, int], int]:
    """Return what each queue of a tree has of a resource, and the root cohort."""
    pool, nominal = sums.pool, dict[int, int]()
    trap = layout.trap if place == (0, layout.contested) else None
    if trap is not None and trap in held:
        pool = min(pool, max(0, held[trap] - layout.lacking))
        if len(held) > 1:
            nominal[trap] = held[trap] - layout.lacking - pool
    others = [queue for queue in held if queue not in nominal]
    if 0 in held and len(held) > 1:
        own = sums.asked * (100 - layout.knobs.beyond) // 100
        nominal[0] = max(held[0] + own, sums.asked)
        others.remove(0)
    left = sums.total - pool - sum(nominal.values())
    if place[1] != layout.contested:
        left = max(0, left)  # nothing is lacking of it: there is as much as it takes
    if left < 0 or (len(held) == 1 and sums.asked > left):
        raise _too_much(layout, place, sums)
    if layout.knobs.fair and trap in nominal:
        weights = [held[queue] for queue in others]
    else:
        weights = [max(1, held[queue]) * factors[queue] for queue in others]
    return nominal | dict(zip(others, _dealt(left, weights), strict=True)), pool


def _dealt(amount: int, weights: Sequence[int]) -> list[int]:
    """Deal an amount out in proportion, to the last unit."""
    whole, upto, before, shares = sum(weights), 0, 0, []
    for weight in weights:
        upto += weight
        now = amount * upto // whole if whole else 0
        shares.append(now - before)
        before = now
    return shares


def _limited(nominal: int, held: int, queue: int, chance: Chance) -> Quota:
    """Return a quota with limits; the preemptor's queue lends at most so much, but may borrow."""
    slack = chance.below(nominal // 4 + 1)
    lending = min(nominal, max(0, nominal - held) + slack)
    return Quota(nominal, None if queue == 0 else max(0, held - nominal) + slack, lending)


def _too_much(layout: Layout, place: Place, sums: _Sums) -> InputError:
    return InputError(
        "--victims",
        f"{layout.knobs.victims} make the preemptor ask for {sums.asked} {place[1]} of the "
        f"{sums.total} of its tree: too few are left for other queues, or for the preemptor itself",
        "fewer victims, or more workloads for each tree and flavor",
    )
