"""What a tree has to show: that no legal set keeps to all bounds of a claim.

A tree that is one sum of inequalities is told in words, which a reader can follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple, Protocol

import numpy as np
from msgspec.structs import replace

from planner.objective.profiles import Measure, measure_name, measure_title
from planner.objective.terms import TermTable
from planner.plan.proof import (
    ByLaws,
    ByRows,
    CaseSplit,
    Narrowing,
    Rounding,
    Split,
    Step,
    WholeSplit,
)
from planner.plan.record import OWN_ROW
from planner.proof.box import (
    Box,
    Row,
    add_up,
    is_contradiction,
    rounded_sum,
)
from planner.proof.measures import Bounded, Measures
from planner.proof.replayed import Limit, limits, spared_rows
from planner.quota.classes import Classes, IntArray

_NOWHERE: Final = 2**62
"""Behind every place in the candidate order."""

ROUNDED: Final = "rounded "
"""How the names of rows begin that are sums of others, rounded: no other row is called so."""
MOST_ROUNDED: Final = 3 * 10**5
"""Numbers in the sums of a box up to which rows are rounded there: each has one for each class."""

_REMEMBERED: Final = 8
"""Boxes whose rows are kept: a tree is walked depth first, and needs the rows of a few boxes."""

MOST_HELD: Final = 5 * 10**7
"""Numbers in all parts of a tree that wait to be walked: 0.4 GB. A tree may be anybody's."""
SUM_HELD: Final = 8
"""Numbers that one more sum in a box takes as much room as."""

Written = tuple[Mapping[tuple[int, ...], Mapping[str, Row]], Mapping[str, Row]]
"""What a box knows, and its rows under another need."""


class Rules(Protocol):
    """What the verifier derives from the state of a scheduler."""

    scheduler: str
    """The id of the scheduler."""
    queue: IntArray
    """The queue of each class: (K,)."""
    classes: Classes
    """The classes of candidates."""
    order: IntArray
    """The rank of each workload in the scheduler's candidate order: (W,)."""
    ranges: dict[str, tuple[int, int]]
    """The least and the largest value of every further quantity of the rows."""

    @property
    def shape(self) -> IntArray:
        """A number for each class, equal for the same usage in the same queue: (K,)."""
        ...

    def name(self, node: int, /) -> str:
        """Return what trees call a queue or cohort."""
        ...

    @property
    def whole(self) -> AbstractSet[str]:
        """The further quantities that are whole in every legal set."""
        ...

    @property
    def needs(self) -> Mapping[str, str]:
        """What must be freed by some rows, with its amount, in words: by the name of the row."""
        ...

    def fixed_rows(self, most: IntArray) -> Mapping[str, Row]:
        """Return the rows, rounded, that legal sets with at most ``most`` of each class satisfy."""
        ...

    def root(self) -> Box:
        """Return the box of all sets."""
        ...

    def rows(self, box: Box) -> Iterator[tuple[str, Row]]:
        """Yield the further rows that every legal set in a box satisfies."""
        ...

    def parts(self, box: Box, split: str, at: str | None) -> Sequence[Box]:
        """Return the parts of a box by the cases of a split."""
        ...

    def refusal(self, box: Box) -> str:
        """Say which law refuses every set of a box, if one is found to."""
        ...

    def certain(self, box: Box) -> Iterator[IntArray]:
        """Yield groups of classes of which at least one has a victim."""
        ...

    def alternative(self, box: Box) -> int | None:
        """Return the position of the need that counts in a box; ``None`` if that is open."""
        ...


class Open(Exception):  # noqa: N818 - not an error of the program
    """A tree does not show what it claims; the text says where."""


def room_of(box: Box) -> int:
    """Return how many numbers a part that waits to be walked holds."""
    return box.most.size + SUM_HELD * len(box.sums)


class Layers(NamedTuple):
    """The rows of a box by name: its ``own``, and those that the boxes around it have, too.

    At a million workloads ten thousand rows are ``common``, and a box adds some. Where both have a
    name, the own row counts. As long as a mapping is the same object, its rows are the same.
    """

    own: Mapping[str, Row]
    common: Mapping[str, Row]

    def find(self, name: str) -> Row | None:
        """Return the row with a name, if there is one."""
        found = self.own.get(name)
        return self.common.get(name) if found is None else found


@dataclass
class Question:
    """Whether any legal set keeps to some bounds; a tree answers that none does.

    ``start`` is the box to look in. ``besides`` are further rows of the sets in question. Where an
    ``answer`` is given, by positions in candidate order, only sets before it are in question.
    ``measured`` has the measures of the classes by what victims must free: questions about the same
    rules share it.
    """

    rules: Rules
    table: TermTable
    bounds: Sequence[Bounded]
    start: Box
    besides: Mapping[str, Row] = field(default_factory=dict)
    answer: Sequence[int] = ()
    measured: dict[tuple[int, ...], Measures] = field(default_factory=dict)
    _judged: tuple[IntArray, str] | None = field(default=None, init=False, repr=False)
    _written: dict[tuple[int, tuple[int, ...]], Written] = field(
        default_factory=dict, init=False, repr=False
    )
    _rows_by_need: dict[tuple[int, ...], Mapping[str, Row]] = field(
        default_factory=dict, init=False, repr=False
    )

    @cached_property
    def root(self) -> Box:
        """The box of all sets that keep to the bounds on single victims."""
        most = self.start.most
        for bounded in self.bounds:
            most = np.minimum(most, self._measures(()).most_of(bounded))
        return Box(self.start.least, most)

    @cached_property
    def limits(self) -> Sequence[Limit]:
        """How many victims may count in terms that are replayed: no two are alike there."""
        return [*limits(self.table, self.rules.classes.first, self.bounds)]

    def rows(self, box: Box) -> dict[str, Row]:
        """Return all rows of the sets in question in a box, by name."""
        own, common = self.layers(box)
        return {**common, **own}

    def layers(self, box: Box) -> Layers:
        """Return all rows of the sets in question in a box, in two layers."""
        spared = (spared_rows(limit, box) for limit in self.limits)
        further = chain(self.rules.rows(box), *spared)
        of_box = {name: row.rounded() for name, row in further}
        return Layers({**of_box, **box.sums}, self._always(box))

    def _always(self, box: Box) -> Mapping[str, Row]:
        """Return the rows that do not depend on a box, as they are within a box around it."""
        need = self._need(box)
        if not box.known:
            return self._anywhere(box)
        if need in box.known:
            return box.known[need]
        key = id(box.known), need
        if key not in self._written:
            # Rows of measures depend on the node: those that the box knows are of another.
            lasting = {**self._fixed, **self.besides}.keys()
            (known,) = box.known.values()
            rows = {name: row for name, row in self._anywhere(box).items() if name not in lasting}
            rows.update((name, row) for name, row in known.items() if name in lasting)
            if len(self._written) >= _REMEMBERED:
                self._written.pop(next(iter(self._written)))
            self._written[key] = box.known, rows  # as long as it is kept, no other has its id
        return self._written[key][1]

    def _anywhere(self, box: Box) -> Mapping[str, Row]:
        """Return the rows that do not depend on a box, as they were written first."""
        need = self._need(box)
        if need not in self._rows_by_need:
            measures = self._measures(need)
            rows = {**self._fixed, **self.besides}
            for bounded in self.bounds:
                rows.update(measures.rows_of(bounded, self.root.most))
            rows = {name: row for name, row in rows.items() if row.says_something}
            self._rows_by_need[need] = rows
        return self._rows_by_need[need]

    def _within(self, box: Box) -> Box:
        """Return a box that knows its rows over the classes which it leaves open.

        Quantities that can only be 0 there are left out, and so are rows that say nothing there.
        """
        wider, ranges = self._always(box), self.ranges(box)
        found = {name: row.within(box).rounded() for name, row in _telling(wider, box, ranges)}
        while True:
            nothing = {
                name
                for row in found.values()
                if row.least == 0 and not row.classes.size
                if all(c < 0 and ranges[name][0] == 0 for name, c in row.extra.items())
                for name in row.extra
            }
            if not nothing:
                break
            found = {name: row.without(nothing) for name, row in found.items()}
        rows = {name: row for name, row in found.items() if row.says_something}
        return replace(box, known={self._need(box): rows})

    def ranges(self, box: Box) -> Mapping[str, tuple[int, int]]:
        """Return the bounds of every further quantity of the rows."""
        measures = self._measures(self._need(box))
        ranges = {**self.rules.ranges, **measures.ranges}
        for classes in self.rules.certain(box):
            name = measures.queue_of(classes)
            if name in ranges:
                # A group of classes that certainly has a victim touches its queue.
                ranges[name] = 1, 1
        if measures.touched:
            going = box.least.nonzero()[0]
            ranges.update(dict.fromkeys(measures.touched_by(going), (1, 1)))
        return ranges

    def touched(self, box: Box) -> Mapping[str, Mapping[str, IntArray]]:
        """Return the classes of each queue and namespace that is counted, by term and quantity."""
        self._anywhere(box)  # its rows say which are counted
        return self._measures(self._need(box)).touched

    def whole(self, box: Box) -> AbstractSet[str]:
        """Return the further quantities that are whole in every set in question."""
        # A queue is touched or not, whatever the rows would allow between.
        return {*self.rules.whole, *chain.from_iterable(self.touched(box).values())}

    def refusal(self, box: Box) -> str:
        """Say why no set of a box is in question, if a law or a bound refuses them all."""
        if box.is_empty:
            return "no set is left"
        # With one need for all sets, further victims add to a measure and take nothing away, but
        # for what is replayed: after the removal of more victims it may count fewer of them.
        if box.is_single or (len(self.table.needs) == 1 and not self.table.replayed):
            above = self._above(box.least)
            if above:
                return above
        return self.rules.refusal(box)

    def _above(self, counts: IntArray) -> str:
        """Say which bound the victims of some class counts exceed; empty if none."""
        # By identity: the part of a box with at most so many of a class has the same least.
        if self._judged is None or self._judged[0] is not counts:
            bounded = frozenset(chain.from_iterable(each.measure for each in self.bounds))
            terms = self.table.evaluate(self.rules.classes.take(counts), bounded)
            above = (b for b in self.bounds if sum(terms[t] for t in b.measure) > b.most)
            first = next(above, None)
            self._judged = counts, "" if first is None else f"above {first.name}"
        return self._judged[1]

    @cached_property
    def _fixed(self) -> Mapping[str, Row]:
        return self.rules.fixed_rows(self.root.most)

    def _need(self, box: Box) -> tuple[int, ...]:
        alternative = self.rules.alternative(box)
        return () if alternative is None else tuple(self.table.needs[alternative])

    def _measures(self, need: tuple[int, ...]) -> Measures:
        if need not in self.measured:
            classes = self.rules.classes
            self.measured[need] = Measures(self.table, classes.first, classes.sizes, need)
        return self.measured[need]

    # The check.

    def check(self, steps: Iterable[Step]) -> None:
        """Walk a tree.

        Raises ``Open`` if a leaf closes nothing, a split is none, or a part has no steps; or if the
        tree is deeper than any that this question needs.
        """
        box, ranges = self.root, self.ranges(self.root)
        # Each split of a tree that the planner grows leaves out members of a class, values of a
        # whole quantity, or a case of the nodes with candidates; the rest is to spare.
        whole = (ranges[name] for name in self.rules.whole if name in ranges)
        open_ = int((box.most - box.least).sum()) + sum(most - least for least, most in whole)
        ahead, deepest, held = [(box, 0)], 100 + 10 * open_, room_of(box)
        for number, step in enumerate(steps, start=1):
            if not ahead:
                raise Open(f"step {number} belongs to nothing")
            box, depth = ahead.pop()
            held -= room_of(box)
            if depth > deepest or held > MOST_HELD:
                raise Open(f"step {number}: no tree of this state need be so deep")
            if isinstance(step, ByRows | ByLaws):
                if not self.closes(box, step):
                    raise Open(f"step {number} closes nothing")
                continue
            try:
                parts = self.parts(box, step)
                ahead.extend((part, depth + 1) for part in reversed(parts))
                held += sum(map(room_of, parts))
            except ValueError as error:
                raise Open(f"step {number}: {error}") from error
        if ahead:
            raise Open(f"{len(ahead)} parts are left open at the end")

    def is_asked(self, box: Box) -> bool:
        """Say whether all sets of a box are in question, but for laws and bounds.

        Where an answer is given, only sets before it are: those in parts of the split ``first``.
        """
        return not self.answer or "before" in box.sums

    def parts(self, box: Box, step: Split) -> Sequence[Box]:
        """Return the parts of a box by a split: whatever is in the box is in one of them.

        Raises ``ValueError`` if it is no split of this box.
        """
        if isinstance(step, CaseSplit) and step.split == "first":
            return list(self._by_first_difference(box))
        if isinstance(step, CaseSplit):
            return self.rules.parts(box, step.split, step.at)
        if isinstance(step, Narrowing | Rounding):
            return (self._less(box, step),)
        # Trees come from files: numbers beyond 64 bits would fail in the arrays, without a message.
        if abs(step.most) >= _NOWHERE:
            raise ValueError(f"nothing is {step.most}")
        if isinstance(step, WholeSplit):
            named = any(step.whole in row.extra for row in self.rows(box).values())
            if not named or step.whole not in self.whole(box):
                raise ValueError(f"{step.whole} is no quantity that is whole")
            return box.halves(step.whole, box.least[:0], {step.whole: 1}, step.most)
        if not step.of or not all(0 <= k < box.most.size for k in step.of):
            raise ValueError(f"there are no such classes: {step.of}")
        first, *others = step.of
        if others:
            # Sums of the planner's own are of classes alike, each class in one: a box that knew any
            # number would be written down with all of them, part by part. Rounded ones have a bound
            # of their own.
            sums = sum(not name.startswith(ROUNDED) for name in box.sums)
            if sums > 2 * (box.most.size + len(self.ranges(box))):
                raise ValueError("there are more sums than classes and quantities")
            return box.summing(step.of, step.most)
        return box.at_most(first, step.most), box.at_least(first, step.most + 1)

    def _less(self, box: Box, step: Narrowing | Rounding) -> Box:
        """Return a box with fewer victims to choose from, or with one more row, a rounded sum.

        Raises ``ValueError`` if there are no such rows, or the further row is none.
        """
        if isinstance(step, Narrowing):
            pairs = self._named(box, step.narrow)
            return self._within(add_up(pairs, box, self.ranges(box)).narrowed(box))
        if not step.row.startswith(ROUNDED) or step.row in box.sums:
            raise ValueError(f"no row {step.row!r} can be added here")
        if (1 + len(box.sums)) * box.most.size > MOST_ROUNDED:
            raise ValueError("there are too many rows")
        multipliers = map(abs, step.round.values())
        if not 1 < step.by < _NOWHERE or any(m >= _NOWHERE for m in multipliers):
            raise ValueError("a number is out of range")
        if not all(0 <= k < box.most.size for k in step.down):
            raise ValueError(f"there are no such classes: {step.down}")
        pairs = self._named(box, step.round, negative=True)
        row = rounded_sum(pairs, step, box, self.ranges(box), self.whole(box))
        return replace(box, sums={**box.sums, step.row: row})

    def _by_first_difference(self, box: Box) -> Iterator[Box]:
        """Yield the parts by where a set that comes before the answer first differs from it.

        If they first differ at victim number i of the answer, the set has the first i - 1 victims,
        and another whose place is before that of victim i: the next member of a class, after its
        members among these i - 1 victims. Of all classes whose next member has such a place, the
        set has in all at least one member more than these victims. Of each class a set has the
        first members, as the answer does. Raises ``ValueError`` if there is no answer.
        """
        classes, order = self.rules.classes, self.rules.order
        if not self.answer or "before" in box.sums:
            raise ValueError("there is no answer to come before")
        counts = np.zeros_like(classes.sizes)
        following = order[classes.first]  # of the next member of each class
        for position in self.answer:
            k = classes.class_of(position)
            earlier = np.flatnonzero(following < order[position])
            needed = 1 + int(counts[earlier].sum())
            row = Row(earlier, np.ones_like(earlier), needed)
            least = np.maximum(box.least, counts)
            yield replace(box, least=least, sums={**box.sums, "before": row})
            counts[k] += 1
            number = classes.starts[k] + counts[k]
            inside = number < classes.starts[k + 1]
            following[k] = order[classes.positions[number]] if inside else _NOWHERE

    def narrowed(self, box: Box, multipliers: Mapping[str, int]) -> Box:
        """Return the part of a box that weighed rows leave: all, if the box has no such rows."""
        try:
            pairs = self._named(box, multipliers)
        except ValueError:
            return box
        return add_up(pairs, box, self.ranges(box)).narrowed(box)

    def closes(self, box: Box, step: ByRows | ByLaws) -> bool:
        """Say whether a leaf shows that a box has no set in question."""
        if isinstance(step, ByLaws):
            return bool(self.refusal(box))
        try:
            pairs = self._named(box, step.rows)
        except ValueError:
            return False
        return is_contradiction(pairs, box, self.ranges(box))

    def _named(
        self, box: Box, multipliers: Mapping[str, int], *, negative: bool = False
    ) -> list[tuple[Row, int]]:
        """Return rows with their multipliers, which may be ``negative`` only if that is said.

        Raises ``ValueError`` if there is no such row.
        """
        if not negative and any(multiplier < 0 for multiplier in multipliers.values()):
            raise ValueError("a multiplier is negative")
        layers, pairs = self.layers(box), []
        for name, multiplier in multipliers.items():
            row = layers.find(name)
            if row is None:
                raise ValueError(f"there is no row {name!r} here")
            pairs.append((row, multiplier))
        return pairs


def _telling(
    rows: Mapping[str, Row], box: Box, ranges: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, Row]]:
    """Yield the rows that tell of a box more than others do.

    Left out are rows about classes of which nobody goes there that hold with the least of each of
    their quantities, unless another row has one of these: no sum of rows needs them.
    """
    going, idle, telling = box.most > 0, dict[str, Row](), dict[str, Row]()
    for name, row in rows.items():
        least = sum(c * ranges[q][0] for q, c in row.extra.items())
        of = telling if least < row.least or np.count_nonzero(going[row.classes]) else idle
        of[name] = row
    more = telling
    while more:
        quantities = {*chain.from_iterable(row.extra for row in more.values())}
        more = {name: row for name, row in idle.items() if not quantities.isdisjoint(row.extra)}
        telling = {**telling, **more}
        idle = {name: row for name, row in idle.items() if name not in more}
    return ((name, row) for name, row in rows.items() if name in telling)


MOST_NAMED: Final = 6
"""Rows up to which a statement names all; the tree has them, however many."""


def in_words(question: Question, steps: Sequence[Step], measure: Measure, value: int) -> str:
    """Tell the tree of a level that is one sum of rows; empty if it takes more than one.

    The ``question`` is whether any set has less than ``value`` of ``measure``; ``steps`` are its
    tree.
    """
    leaf = steps[0] if len(steps) == 1 else None
    if not isinstance(leaf, ByRows):
        return ""
    box = question.root
    rows = question.rows(box)
    others = [name for name in leaf.rows if name != OWN_ROW]
    need = question.rules.needs.get(others[0]) if len(others) == 1 else None
    if need is not None:
        return f"{need} must be freed: the least possible is {value} ({measure_title(measure)})"
    added = add_up([(rows[name], m) for name, m in leaf.rows.items()], box, question.ranges(box))
    # The row of the level itself is called by what it says.
    own = {OWN_ROW: f"{measure_name(measure)} <= {value - 1}"}
    summands = [
        f"{times} x {rows[name].least} ({own.get(name, name)})" for name, times in leaf.rows.items()
    ]
    if len(summands) > MOST_NAMED:
        summands[MOST_NAMED:] = [f"{len(summands) - MOST_NAMED} more"]
    return (
        f"a better set would have to reach {' + '.join(summands)} = {added.needed}, and none "
        f"reaches more than {added.reached}: the least possible is {value} "
        f"({measure_title(measure)})"
    )
