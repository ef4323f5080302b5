"""Several plans as one answer."""

from __future__ import annotations

from planner.plan import AnyPlan, Published


class Plans(Published):
    """The answers for several pending workloads or asks, in the order of the dump."""

    plans: tuple[AnyPlan, ...]
