"""The plans before and after an edit, or for a workload that is not there yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from planner.plan import AnyPlan, Record, Status
from planner.plan.record import SCHEMA_VERSION, SchedulerId


class TermChange(Record):
    """A disruption term before and after; ``None`` where there is no plan to measure."""

    term: str
    before: int | None
    after: int | None


class Move(Record):
    """Pods of the preemptor that go elsewhere: how many to each node, or other leaf."""

    pods: str
    before: dict[str, int]
    after: dict[str, int]


class Difference(Record):
    """What an edit changes of one algorithm's answer.

    ``no_longer`` are the victims, by their keys, that only the plan before has, ``newly`` those
    that only the plan after has, each in the order of its plan. ``before`` is ``None`` if the
    preemptor was not there. ``moved`` are podsets, or the pod of an ask, that go to other places,
    where both plans name these.
    """

    algorithm: SchedulerId | Literal["optimum"]
    before: Status | None
    after: Status
    no_longer: tuple[str, ...]
    newly: tuple[str, ...]
    terms: tuple[TermChange, ...]
    moved: tuple[Move, ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether status, victims and terms are all the same; places may not be."""
        same_terms = all(change.before == change.after for change in self.terms)
        return self.before == self.after and not (self.no_longer or self.newly) and same_terms


class WhatIf(Record):
    """What edits of a state change, for one pending workload or ask.

    ``edits`` are the texts as given, ``added`` the hypothetical workloads, as namespace/name.
    ``before`` and ``after`` are optimal plans, each with the scheduler's own plan beside it;
    ``greedy`` compares the latter, ``optimum`` the former. ``before`` is ``None`` if the
    preemptor was added and nothing edited: there is no such plan.
    """

    # Pydantic follows the outermost record: infinite shares would become null.
    model_config: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="strings")

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    preemptor: str
    edits: tuple[str, ...]
    added: tuple[str, ...] = ()
    greedy: Difference
    optimum: Difference
    before: AnyPlan | None
    after: AnyPlan


def compare(
    edits: Sequence[str], before: AnyPlan | None, after: AnyPlan, added: Sequence[str] = ()
) -> WhatIf:
    """Return the difference between the optimal plans of two states.

    Parameters
    ----------
    edits
        The texts of the edits.
    before, after
        The plans; before is ``None`` for a preemptor that was not there.
    added
        The hypothetical workloads, as namespace/name.

    Raises
    ------
    ValueError
        If a plan has no plan of the scheduler's own beside it.
    """
    if after.greedy is None or (before is not None and before.greedy is None):
        message = "both plans need the scheduler's own beside them"
        raise ValueError(message)
    return WhatIf(
        preemptor=after.preemptor,
        edits=tuple(edits),
        added=tuple(added),
        greedy=_difference(before.greedy if before else None, after.greedy),
        optimum=_difference(before, after),
        before=before,
        after=after,
    )


def _difference(before: AnyPlan | None, after: AnyPlan) -> Difference:
    keys = before.keys if before else ()
    then, now = set(keys), set(after.keys)
    is_plan = {"optimal", "feasible"}
    measured = [one.terms if one and one.status in is_plan else {} for one in (before, after)]
    return Difference(
        algorithm=after.algorithm,
        before=before.status if before else None,
        after=after.status,
        no_longer=tuple(key for key in keys if key not in now),
        newly=tuple(key for key in after.keys if key not in then),
        terms=tuple(
            TermChange(term=term, before=measured[0].get(term), after=measured[1].get(term))
            for term in dict.fromkeys([*measured[0], *measured[1]])
        ),
        moved=tuple(_moved(before.where if before else {}, after.where)),
    )


def _moved(
    before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]]
) -> Iterator[Move]:
    for pods, places in after.items():
        if pods in before and before[pods] != places:
            yield Move(pods=pods, before=dict(before[pods]), after=dict(places))
