"""The tree of cohorts and ClusterQueues around a plan, with usage against quota."""

from __future__ import annotations

from typing import Literal

from planner.plan.base import Record


class QuotaUse(Record):
    """What a ClusterQueue or cohort uses of one flavor-resource, in the scheduler's unit.

    ``nominal`` is its own quota; ``quota`` that of everything at and below it that it may use or
    lend, which is the same for a ClusterQueue. An absent limit is ``None``, and the largest 64-bit
    integer means unlimited. A cohort uses what its children use beyond what they never lend.
    ``before`` is today; ``after`` counts the preemptor's request, with the victims gone.
    """

    flavor: str
    resource: str
    nominal: int
    quota: int
    borrowing_limit: int | None
    lending_limit: int | None
    before: int
    after: int


class QuotaNode(Record):
    """A ClusterQueue or cohort of the tree that the preemptor's queue belongs to.

    ``parent`` is the cohort above it. ``touched`` says that the preemptor or a victim has its
    quota there or below. ``hidden`` counts the nodes right below it that are not listed.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    parent: str | None
    touched: bool
    hidden: int
    uses: tuple[QuotaUse, ...]
