"""Plans without victims: for a question settled without a solver, or one without an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from planner.objective.profiles import Profile
from planner.objective.terms import TermTable
from planner.plan import Certificate, Status
from planner.solver.verdict import PlanT
from planner.state import AnyState


class Subject(Protocol[PlanT]):
    """Who wants in, with everything that plans say of it."""

    def plan(  # noqa: PLR0913 - the fields of a plan that differ
        self,
        algorithm: Literal["optimum"],
        status: Status,
        explanation: str,
        *,
        objective: str,
        terms: Mapping[str, int] | None = None,
        certificate: Certificate | None = None,
        greedy: PlanT | None = None,
    ) -> PlanT:
        """Return a plan of this preemptor."""
        ...


class Planned(Protocol[PlanT]):
    """A preemptor being planned, whichever its scheduler."""

    @property
    def subject(self) -> Subject[PlanT]:
        """What makes its plans."""
        ...

    @property
    def table(self) -> TermTable:
        """The disruption terms of its problem."""
        ...

    @property
    def state(self) -> AnyState:
        """The state it is planned in."""
        ...

    def accepted(self, plan: PlanT) -> PlanT:
        """Return a plan with its verdicts, if the verifier accepts it."""
        ...


def without_solver(
    planning: Planned[PlanT], profile: Profile, greedy: PlanT, status: Status, explanation: str
) -> PlanT:
    """Return the answer where no search is needed: nothing has to go, or nothing can.

    Raises
    ------
    InternalError
        If the verifier does not accept it.
    """
    plan = planning.subject.plan(
        "optimum",
        status,
        explanation,
        objective=profile.name,
        terms=planning.table.evaluate(()),
        certificate=Certificate(digest=planning.state.digest, levels=()),
        greedy=greedy,
    )
    return planning.accepted(plan) if status == "optimal" else plan


def no_plan(
    planning: Planned[PlanT],
    profile: Profile,
    greedy: PlanT,
    certificate: Certificate,
    why: str | None,
) -> PlanT:
    """Return the answer of a search that found nothing; ``why`` says what rules every plan out.

    It is ``None`` where nothing was proved.
    """
    return planning.subject.plan(
        "optimum",
        "unknown" if why is None else "infeasible",
        why or "nothing found within the time limit, and nothing proved",
        objective=profile.name,
        certificate=certificate,
        greedy=greedy,
    )
