"""Plans and the verifier: no plan goes out that a law refuses or whose certificate is not true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from planner.errors import InternalError
from planner.plan import AnyPlan, Plan, Verdict, Verification, YuniKornPlan

PlanT = TypeVar("PlanT", Plan, YuniKornPlan)


def accept(
    plan: PlanT, verification: Verification, check_claims: Callable[[PlanT], Iterable[Verdict]]
) -> PlanT:
    """Put the verdicts into a plan's certificate, if it has one, and check what that claims.

    Parameters
    ----------
    plan
        The plan.
    verification
        What the verifier says of its victims.
    check_claims
        What judges the certificate of the plan, once the verdicts are in it.

    Raises
    ------
    InternalError
        If a law refuses the plan, or a claim is not true: it is then no plan at all.
    """
    refuse_illegal(plan, verification)
    if plan.certificate is None:
        return plan
    found = {"verdicts": verification.verdicts, "removal_order": verification.removal_order}
    plan = plan.model_copy(update={"certificate": plan.certificate.model_copy(update=found)})
    untrue = broken(check_claims(plan))
    if untrue:
        message = f"the certificate for {plan.preemptor} is not true: {'; '.join(untrue)}"
        raise InternalError(message)
    return plan


def refuse_illegal(plan: AnyPlan, verification: Verification) -> None:
    """Refuse a plan that the verifier does not accept.

    Raises
    ------
    InternalError
        If a law is broken.
    """
    if not verification.accepted:
        said = "; ".join(broken(verification.verdicts))
        message = f"the {plan.algorithm} plan for {plan.preemptor} is not legal: {said}"
        raise InternalError(message)


def broken(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """Return what does not hold, in words."""
    return tuple(
        f"{verdict.law} {verdict.title}: {verdict.detail}"
        for verdict in verdicts
        if not verdict.holds
    )
