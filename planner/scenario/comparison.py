"""The plans before and after an edit, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from planner.plan import Plan, Record, Status
from planner.plan.record import SCHEMA_VERSION


class TermChange(Record):
    """A disruption term before and after; ``None`` where there is no plan to measure."""

    term: str
    before: int | None
    after: int | None


class Difference(Record):
    """What an edit changes of one algorithm's answer.

    ``no_longer`` are the victims, as namespace/name, that only the plan before has, ``newly``
    those that only the plan after has, each in the order of its plan.
    """

    algorithm: Literal["kueue", "optimum"]
    before: Status
    after: Status
    no_longer: tuple[str, ...]
    newly: tuple[str, ...]
    terms: tuple[TermChange, ...]

    @property
    def is_none(self) -> bool:
        """Whether status, victims and terms are all the same."""
        same_terms = all(change.before == change.after for change in self.terms)
        return self.before == self.after and not (self.no_longer or self.newly) and same_terms


class WhatIf(Record):
    """What edits of a state change, for one pending workload.

    ``edits`` are the texts as given. ``before`` and ``after`` are optimal plans, each with the
    scheduler's own plan beside it; ``greedy`` compares the latter, ``optimum`` the former.
    """

    # Pydantic follows the outermost record: infinite shares would become null.
    model_config: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="strings")

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    preemptor: str
    edits: tuple[str, ...]
    greedy: Difference
    optimum: Difference
    before: Plan
    after: Plan


def compare(edits: Sequence[str], before: Plan, after: Plan) -> WhatIf:
    """Return the difference between the optimal plans of two states.

    Raises
    ------
    ValueError
        If a plan has no plan of the scheduler's own beside it.
    """
    if before.greedy is None or after.greedy is None:
        message = "both plans need the scheduler's own beside them"
        raise ValueError(message)
    return WhatIf(
        preemptor=before.preemptor,
        edits=tuple(edits),
        greedy=_difference(before.greedy, after.greedy),
        optimum=_difference(before, after),
        before=before,
        after=after,
    )


def _difference(before: Plan, after: Plan) -> Difference:
    then, now = set(before.keys), set(after.keys)
    measured = [plan.terms if _says_whom(plan) else {} for plan in (before, after)]
    return Difference(
        algorithm=after.algorithm,
        before=before.status,
        after=after.status,
        no_longer=tuple(key for key in before.keys if key not in now),
        newly=tuple(key for key in after.keys if key not in then),
        terms=tuple(
            TermChange(term=term, before=measured[0].get(term), after=measured[1].get(term))
            for term in dict.fromkeys([*measured[0], *measured[1]])
        ),
    )


def _says_whom(plan: Plan) -> bool:
    """Say whether there is a plan at all, of victims or of none."""
    return plan.status in {"optimal", "feasible"}
