"""The disruption terms as records: their names, ids, titles and units.

docs/design/objectives.md §2 and §3 define what the terms count, and planner/objective computes it.
To print terms takes only this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from planner.scheduler import find_scheduler

RATED: Final = "rated"
"""The term that adds up other terms at the rates that an objective declares."""

UNSTABLE: Final = "unstable"
"""The term that counts victims which would preempt again: the scheduler, replayed, tells it."""

EACH: Final = "victims@each"
"""The family of terms that stands for one term per priority, such as ``victims@100``."""

MORE: Final = "more@each"
"""The term that a cap on ``victims@each`` stands for: 1 if, priority by priority from the highest
down, there are more victims than in the scheduler's own plan, and 0 if not."""

OF_PRIORITY: Final = "victims@"
"""The prefix of the terms of that family; a scheduler's title for them has ``{}`` as priority."""
_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")


ACCELERATOR: Final = 32_000
"""How many of the internal size units one accelerator is; one milli-core is 1."""

_ACCELERATOR_NAME = re.compile(r"(.*[/.])?(gpu|tpu|npu|xpu|gaudi|neuron|neuroncore|neurondevice)s?")


def unit_weight(resource: str) -> int:
    """Return the size of one integer unit of a resource, in 1/32000 accelerator.

    Source: docs/design/objectives.md §2.
    """
    if resource in {"cpu", "vcore"}:
        return 1
    return ACCELERATOR if _ACCELERATOR_NAME.fullmatch(resource) else 0


class Text(NamedTuple):
    """The title of a term, and the unit that it is counted in."""

    title: str
    unit: str


class Term(NamedTuple):
    """A named non-negative integer that measures one side of disruption.

    ``per_workload`` says that it is a sum over victims. ``title`` and ``unit`` are used where a
    scheduler has no words of its own for the term. ``id`` is what the theory calls it, such as D4;
    terms of a family have none. One that is ``rare`` a screen leaves out unless the objective
    minimises it.
    """

    name: str
    title: str
    unit: str
    per_workload: bool
    id: str = ""
    rare: bool = False

    def text(self, scheduler: str) -> Text:
        """Return the title and unit of the term under a scheduler."""
        found = find_scheduler(scheduler)
        own = found.words.terms if found else {}
        unit = f"{found.words.noun}s" if found and self.unit == "workloads" else self.unit
        priority = priority_of(self.name)
        title = own.get(self.name if priority is None else OF_PRIORITY, self.title)
        return Text(title.format(priority), unit)


# Of each term: its id, its name, whether it is a sum over victims or belongs to the set as a whole
# and is rarely shown, its unit and its title.
_TABLE: Final = """
D0   | last_resort      | sum | workloads | last-resort victims
D1   | highest_priority | set | rank | highest victim priority
D2   | workloads        | sum | workloads | workloads evicted
D2p  | pods             | sum rare | pods | pods evicted
D3   | priority_weight  | sum | weight | priority weight
victims@each | victims@each     | set | workloads | victims of each priority, from the highest down
D4   | lost_work        | sum | accelerator-seconds | lost work
D5   | restart_cost     | sum | accelerator-seconds | restart cost
D6   | milestone_cost   | sum rare | cost units | milestone cost
D7   | excess_freed     | set | 1/32000 accelerator | freed beyond the need
D8   | queues           | set | queues | queues touched
D8t  | namespaces       | set rare | namespaces | tenants touched: namespaces
D9   | unfairness  | set rare | per mille | unfairness: most taken of what a queue or cohort borrows
D10  | past_preemptions | sum rare | preemptions | past preemptions of the victims
D11  | unstable         | set | workloads | victims that would preempt again
D12  | candidate_order  | sum rare | ranks | places in the candidate order
pdb  | disruption_budgets | set rare | pods | pods evicted beyond PodDisruptionBudgets
prio | priority_sum     | sum rare | priority | sum of priorities, each raised by 2^31
toll | toll             | sum rare | accelerator-seconds | evictions at a declared rate
time | run_time         | sum rare | seconds | time that the victims ran
early | cut_short        | sum rare | seconds | protected run time cut short
count | victims          | sum | workloads | victims, those already being evicted included
cost | cost             | sum | cost units | cost given by the user
rated | rated            | set rare | points | terms at the rates of the objective
"""

TERMS: Final = {
    name: Term(name, title, unit, "sum" in kind, term, "rare" in kind)
    for row in _TABLE.strip().splitlines()
    for term, name, kind, unit, title in [map(str.strip, row.split("|"))]
}
"""All terms by name. Victims that are being evicted already count in ``victims`` and ``cost`` only,
and in ``rated`` where it rates one of these. ``unstable``, for Kueue, takes one decision of the
scheduler per victim: it is computed only where it is asked for, or an objective counts it. It is
the number of victims for which, once all victims are gone, the preemptor is admitted and the victim
is pending again, Kueue would evict a workload not yet being evicted. ``victims@each`` is no number:
as a level
it stands for one level per priority, and as a cap for ``more@each`` (objective/applied.py)."""

_BY_ID: Final = {term.id: term.name for term in TERMS.values()}

_MORE: Final = Term(
    MORE,
    "more victims than the scheduler, from the highest priority down",
    "0 or 1",
    per_workload=False,
)
_LAST: Final = 2**63
"""A place behind every priority."""


def victims_of(priority: int) -> str:
    """Return the name of the term that counts the victims of a priority."""
    return f"{OF_PRIORITY}{priority}"


def priority_of(term: str) -> int | None:
    """Return the priority whose victims a term counts; ``None`` for any other term."""
    number = term.removeprefix(OF_PRIORITY)
    return int(number) if number != term and _NUMBER.fullmatch(number) else None


def name_of(term: str) -> str:
    """Return the name of the term of an id, ``lost_work`` of D4; any other text as it is."""
    return _BY_ID.get(term, term)


def find_term(name: str) -> Term:
    """Return a term by its name, from the table or from the family of one term per priority.

    Raises ``KeyError`` if there is no such term.
    """
    priority = priority_of(name)
    if name == MORE:
        return _MORE
    if priority is None:
        return TERMS[name]
    return Term(name, f"victims of priority {priority}", TERMS[EACH].unit, per_workload=True)


def text_of(name: str, scheduler: str) -> Text | None:
    """Return the title and unit of a term under a scheduler; ``None`` for an unknown term."""
    try:
        return find_term(name).text(scheduler)
    except KeyError:
        return None


def value_of(measure: Sequence[str], terms: Mapping[str, int]) -> int | None:
    """Return the sum of the terms of a measure; ``None`` if one has no value, as ``unstable``."""
    known = [terms[term] for term in measure if term in terms]
    return sum(known) if len(known) == len(measure) else None


def lost_by(terms: Mapping[str, int]) -> int:
    """Return the lost work among terms, restarts included, in accelerator-seconds."""
    return terms.get("lost_work", 0) + terms.get("restart_cost", 0)


def in_order(terms: Mapping[str, int]) -> dict[str, int]:
    """Return the values in the order of `TERMS`, terms of priorities from the highest down."""
    plain = {term: terms[term] for term in TERMS if term in terms}
    if len(plain) == len(terms):
        return plain

    places = {term: place for place, term in enumerate(TERMS)}

    def rank(term: str) -> tuple[int, int]:
        if term == MORE:
            return places[EACH], _LAST
        priority = priority_of(term)
        return (places[term], 0) if priority is None else (places[EACH], -priority)

    return {term: terms[term] for term in sorted(terms, key=rank)}
