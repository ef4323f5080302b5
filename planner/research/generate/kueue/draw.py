"""Queues, the workloads running in them, the preemptor, and the trap of a hard state.

A hard state has a trap. A queue beside the preemptor's runs a sweep: as many workloads of one GPU
as the preemptor lacks, of the lowest priority and newer than all else. Kueue takes them one by
one, before any other candidate, and its last step spares none of them: each is needed. An older
job of the same queue and priority, saved a moment ago, holds as many GPUs and would do alone.

Quotas make the usage legal, and the request of the preemptor obtainable:

* In every tree, flavor and resource, the quotas add up to the usage divided by ``fill``. Where
  GPUs are contested, cores are not: of them there is half as much again.
* The quota of the preemptor's queue is its usage and the request of the preemptor, the latter less
  ``beyond`` percent. The rest is dealt out to the other queues, which together use more than their
  quota by what the preemptor lacks. So the preemptor can get all that it lacks: as long as a cohort
  beside its path uses more than its quota, a queue in it does, and when none does there is room.
* A queue may borrow at least what it borrows now, and may lend at least what it lends now: no quota
  lies idle behind a limit.
* In a hard state the trap's queue borrows what the preemptor lacks; under fair sharing no other
  queue of the tree borrows, so that Kueue looks at no other queue first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from math import gcd

from planner.dump.kueue import Quota
from planner.errors import InputError
from planner.research.generate.kueue.layout import (
    CPU,
    GPU,
    GPUS_OF_A_NODE,
    MEMORY,
    SCALE,
    SCALE_SHAPES,
    KueueKnobs,
    Layout,
    Place,
    Run,
    Shape,
    of_gpus,
    shapes,
)
from planner.research.generate.names import TASKS, Chance
from planner.stage import going_on

_BORROWS = (400, 900)
_LENDS = (1100, 1600)
"""The quota of a queue in thousandths of its usage, before quotas are scaled to add up."""


def deal(layout: Layout, asked: Shape, chance: Chance) -> None:
    """Give all queues and root cohorts their quotas.

    InputError if the other queues of the preemptor's tree have too little.
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
                wanted = asked.total[resource] if tree == 0 else 0
                nominal, pool[place] = _nominal(layout, place, held, wanted, factors)
                for queue, amount in nominal.items():
                    quota = Quota(amount)
                    if limited[queue]:
                        quota = _limited(amount, held[queue], queue, chance)
                    layout.quotas[queue][place] = quota
        layout.pools.append(pool)


def _total(layout: Layout, place: Place, held: Mapping[int, int], wanted: int) -> int:
    """Return the quota of a whole tree for a flavor and resource."""
    knobs, resource, used = layout.knobs, place[1], sum(held.values())
    trapped = 0 in held and layout.trap is not None
    # What is free depends on the usage without the sweep: so the preemptor lacks no less by it.
    first = knobs.workloads + knobs.pending
    sweep = sum(
        run.shape.total[resource]
        for run in (reversed(layout.running) if trapped else ())
        if run.number >= first and run.flavor == place[0]
    )
    found = used + layout.free(used - sweep)
    if (resource == CPU != layout.contested) or (trapped and resource == MEMORY):
        return max(found, used) + used // 2 + 2 * wanted
    return max(found, used + wanted) if knobs.fits else found


def _nominal(
    layout: Layout, place: Place, held: Mapping[int, int], asked: int, factors: Sequence[int]
) -> tuple[dict[int, int], int]:
    """Return the nominal quota of each queue of a tree for a place, and of the root cohort.

    ``held`` is what each queue uses, ``asked`` the request of the preemptor.
    """
    total = _total(layout, place, held, asked)
    pool, nominal = layout.pool(total), dict[int, int]()
    trap = layout.trap if place == (0, layout.contested) else None
    if trap is not None and trap in held:
        pool = min(pool, max(0, held[trap] - layout.lacking))
        if len(held) > 1:
            nominal[trap] = held[trap] - layout.lacking - pool
    others = [queue for queue in held if queue not in nominal]
    if 0 in held and len(held) > 1:
        own = asked * (100 - layout.knobs.beyond) // 100
        nominal[0] = max(held[0] + own, asked)
        others.remove(0)
    left = total - pool - sum(nominal.values())
    if place[1] != layout.contested:
        left = max(0, left)  # not contested: there is as much of it as is needed
    if left < 0 or (len(held) == 1 and asked > left):
        raise InputError(
            "victims",
            f"{layout.knobs.victims} make the preemptor ask for {asked} {place[1]} of the "
            f"{total} of its tree: too few are left for other queues, or for the preemptor "
            "itself",
            "fewer victims, or more workloads for each tree and flavor",
        )
    if layout.knobs.fair and trap in nominal:
        weights = [held[queue] for queue in others]
    else:
        weights = [max(1, held[queue]) * factors[queue] for queue in others]
    # What is left is dealt out in proportion to weights, to the last unit.
    whole = sum(weights) or 1
    upto = [left * part // whole for part in accumulate(weights, initial=0)]
    dealt = (now - before for before, now in pairwise(upto))
    return nominal | dict(zip(others, dealt, strict=True)), pool


def _limited(nominal: int, held: int, queue: int, chance: Chance) -> Quota:
    """Return a quota with limits; the preemptor's queue has a lending limit only."""
    slack = chance.below(nominal // 4 + 1)
    lending = min(nominal, max(0, nominal - held) + slack)
    return Quota(nominal, None if queue == 0 else max(0, held - nominal) + slack, lending)


_SWEEP_S = (30, 570)
"""The ages of a sweep, in seconds."""
_YOUNGEST_S = 600
"""The least age of a workload that is not of a sweep, in seconds."""
_WEIGHTS = ("500m", "2", "3")
"""Weights of fair sharing other than 1."""
_SAVED_S = 10
"""The age of the last checkpoint of the job that would do alone."""


def lay_out(knobs: KueueKnobs, seed: int) -> Layout:
    """Draw a cluster; InputError if the knobs leave no such cluster."""
    # The queues are dealt out to the leaves of their trees, two or more to each if there are two.
    layout = Layout(knobs, leaf=[0] * knobs.queues, leaves=[])
    for tree in layout.trees:
        members = layout.members(tree)
        leaves = min(knobs.branches ** max(0, knobs.depth - 1), max(1, len(members) // 2))
        layout.leaves.append(leaves)
        for place, queue in enumerate(members):
            layout.leaf[queue] = place * leaves // len(members)
    layout.running += _running(layout, seed)
    asked = _preemptor(layout, Chance(seed, "pending"))
    if Chance(seed, "hard").percent(knobs.hard):
        _set_trap(layout, asked.shape, Chance(seed, "trap"))
    deal(layout, asked.shape, Chance(seed, "quota"))
    weight = Chance(seed, "weight")
    for _ in range(knobs.queues):
        drawn = weight.pick(_WEIGHTS)
        layout.weights.append(drawn if weight.percent(knobs.weights) else None)
    layout.waiting += [asked, *_more_waiting(layout, seed)]
    return layout


def _running(layout: Layout, seed: int) -> Iterator[Run]:
    knobs, chance = layout.knobs, Chance(seed, "running")
    drawn, times = shapes(knobs, Chance(seed, "shape")), Chance(seed, "time")
    for number in range(knobs.workloads):
        going_on()
        if knobs.shapes in SCALE_SHAPES:
            cycle, queue = SCALE[knobs.shapes], number % knobs.queues
            cores, level = cycle[number // knobs.queues % len(cycle)]
            shape, level = Shape({CPU: cores}), min(level, knobs.priorities - 1)
        else:
            # No queue is left without workloads: the first ones are dealt out.
            queue = number if number < knobs.queues else chance.below(knobs.queues)
            shape, level = next(drawn), chance.below(knobs.priorities)
        age = times.spread(_YOUNGEST_S, knobs.age * 3600)
        waited, saved, evicted = times.below(600), times.below(age), times.between(1, 60)
        yield Run(
            number=number,
            task=chance.pick(TASKS),
            queue=queue,
            shape=shape,
            level=level,
            flavor=number % knobs.flavors,
            age_s=age,
            waited_s=waited,
            checkpoint_s=saved if chance.percent(knobs.checkpoints) else None,
            evicted_s=evicted if chance.percent(knobs.evicted) else None,
            last_tier=chance.percent(knobs.last_tier),
        )


def _preemptor(layout: Layout, chance: Chance) -> Run:
    """Return the preemptor: it waits in queue 0, for more than any flavor of its tree has free."""
    knobs, members = layout.knobs, layout.members(0)
    used = layout.used_in(0)
    runs = sum(run.queue in members for run in layout.running)
    held: Counter[str] = Counter()
    for (_, resource), amount in used.items():
        held[resource] += amount
    lacking = max(1, knobs.victims * held[layout.contested] // max(1, runs))
    free = [layout.free(used[flavor, layout.contested]) for flavor in range(knobs.flavors)]
    # The most that it can get in every flavor, from other queues if there are any.
    own = layout.used()[0] if len(members) > 1 else Counter[Place]()
    places = [(flavor, layout.contested) for flavor in range(knobs.flavors)]
    most = min(layout.owned_by_queues(used[place]) - own[place] for place in places)
    asked = lacking if knobs.fits else min(max(1, max(free) + lacking), most)
    if not knobs.fits and asked <= max(0, *free):
        raise InputError(
            "victims",
            f"the preemptor fits: its tree has room for {max(free)} {layout.contested}, and other "
            "queues have too little that it could take back",
            "more workloads for each tree and flavor, a smaller pool, or fill nearer to 100",
        )
    layout.lacking = asked - free[0]
    if layout.contested == GPU:
        memory, cores = (max(1, held[one] // max(1, held[GPU])) for one in (MEMORY, CPU))
        shape = of_gpus(asked, memory, cores)
    else:
        shape = Shape({CPU: asked})
    return Run(knobs.workloads, chance.pick(TASKS), 0, shape, len(layout.classes) - 1)


def _set_trap(layout: Layout, asked: Shape, chance: Chance) -> None:
    """Add a sweep that Kueue takes first, and the job that would do alone."""
    knobs, members = layout.knobs, layout.members(0)
    if layout.lacking <= 1:
        found = f"the preemptor lacks a single {layout.contested}, which one workload gives"
        raise InputError("hard", found, "more workloads or victims")
    layout.trap = members[1] if len(members) > 1 else 0
    asks = asked.total[layout.contested]
    one = {resource: amount // asks for resource, amount in asked.total.items()}
    lacking, number = layout.lacking, knobs.workloads + knobs.pending
    youngest, oldest = _SWEEP_S
    for place in range(lacking):
        age = youngest + (oldest - youngest) * place // lacking
        run = Run(number + place, "sweep", layout.trap, Shape(one), 0, age_s=age, waited_s=5)
        layout.running.append(run)
    whole = {resource: amount * lacking for resource, amount in one.items()}
    job = Shape(whole, lacking // gcd(lacking, GPUS_OF_A_NODE))
    age = 3600 * chance.between(2, 20)
    number, task = number + lacking, chance.pick(TASKS)
    saved = Run(number, task, layout.trap, job, 0, age_s=age, waited_s=60, checkpoint_s=_SAVED_S)
    layout.running.append(saved)


def _more_waiting(layout: Layout, seed: int) -> Iterator[Run]:
    """Yield the other workloads that wait; each asks for more than is free."""
    knobs, chance = layout.knobs, Chance(seed, "waiting")
    drawn = shapes(knobs, Chance(seed, "waiting shape"))
    free: dict[int, int] = {}
    for number in range(1, knobs.pending):
        queue = chance.below(knobs.queues)
        tree = layout.tree(queue)
        if tree not in free:
            used = layout.used_in(tree)
            places = [(flavor, layout.contested) for flavor in range(knobs.flavors)]
            free[tree] = max(layout.free(used[place]) for place in places)
        left = max(0, free[tree])
        shape = next(drawn)
        if layout.contested == GPU:
            gpus, memory, cores = (shape.total[one] for one in (GPU, MEMORY, CPU))
            shape = of_gpus(left + gpus, memory // gpus, cores // gpus)
        else:
            shape = Shape({CPU: left + chance.pick((1, 5, 20))})
        yield Run(
            number=knobs.workloads + number,
            task=chance.pick(TASKS),
            queue=queue,
            shape=shape,
            level=chance.below(len(layout.classes)),
            waited_s=chance.below(3600),
        )
