"""The certificate's own claims: values, bounds, multipliers, and removal order.

Values and status are judged alike for every scheduler, the rest is Kueue's.

The laws say that a plan is legal; these checks say that what it claims about itself is true.
Nothing here needs a solver: values are compared with recomputed terms, and a solver-free bound
is computed again in exact integers from the state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from planner.laws import Law
from planner.plan import AnyPlan, JointPlan, Plan, SolverFreeBound, Verdict
from planner.quantity import UNLIMITED
from planner.quota.kueue.tree import FlavorResource
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.facts import check_facts
from planner.verifier.kueue.setting import Setting
from planner.verifier.kueue.wording import say_node
from planner.verifier.wording import compare, judge, say_some

LEVELS: Final = Law(
    "CT-01",
    "check_levels",
    "the values are those of the plan",
    "Every term and every level of the certificate has the value recomputed from the victims.",
    "docs/design/objectives.md §3",
)
STATUS: Final = Law(
    "CT-02",
    "check_status",
    "the status follows from the bounds",
    "No bound exceeds its value, and a plan is optimal only if every level's bound is its value, "
    "which rests on a tree or on two engines.",
    "docs/design/theory.md §4",
)
SOLVER_FREE_BOUND: Final = Law(
    "CT-03",
    "check_solver_free_bound",
    "a solver-free bound follows from its multipliers",
    "bound = ceil(sum(m * need) + sum over candidates of min(0, cost - m . usage)), m >= 0.",
    "weak duality; planner.plan.SolverFreeBound",
)
REMOVAL_ORDER: Final = Law(
    "CT-04",
    "check_removal_order",
    "the removal order is legal",
    "The order names every victim once, and the scheduler could take each of them at its turn.",
    "docs/semantics/kueue.md §5.6 and §6.5; docs/semantics/yunikorn.md §5 and §15",
)


CAPS: Final = Law(
    "CT-06",
    "check_caps",
    "the caps are those of the scheduler's own plan",
    "Every cap is the value of its measure in the scheduler's own plan that stands beside, and "
    "none that its objective names is missing where that plan keeps the laws.",
    "docs/design/objectives.md §4 and §5; planner.objective.profiles",
)


def check_certificate(
    case: Case,
    plan: Plan,
    terms: Mapping[str, int],
    costs: Mapping[str, Mapping[str, int]],
    levels: Sequence[str] | None = None,
) -> tuple[Verdict, ...]:
    """Check all claims of a plan with a certificate.

    Parameters
    ----------
    case
        The plan matched with the state.
    plan
        The plan.
    terms
        Every term, recomputed from the plan's victims.
    costs
        Per term with a solver-free bound, what each workload costs, by ``namespace/name``.
    levels
        The levels the plan's objective asks for, in order; not compared when absent.
    """
    verdicts = [check_levels(plan, terms, levels), check_status(plan), check_facts(case, plan)]
    certificate = plan.certificate
    if certificate is not None:
        verdicts.append(check_removal_order(case, certificate.removal_order))
        verdicts += [
            check_solver_free_bound(case.setting, bound, costs.get(bound.term, {}))
            for bound in certificate.bounds
        ]
    return tuple(verdicts)


def check_levels(
    plan: AnyPlan, recomputed_terms: Mapping[str, int], levels: Sequence[str] | None = None
) -> Verdict:
    """CT-01: the plan's terms and the certificate's levels have the recomputed values.

    A level ``A+B`` is the sum of the terms A and B, unless recomputed under that name. Terms
    that were recomputed but which the plan does not state are no fault.
    """
    findings = []
    for term, value in plan.terms.items():
        findings += compare(f"term {term}", value, _recompute(term, recomputed_terms))
    stated = plan.certificate.levels if plan.certificate else ()
    for level in stated:
        recomputed = _recompute(level.term, recomputed_terms)
        findings += compare(f"level {level.term}", level.value, recomputed)
    named = [level.term for level in stated]
    if levels is not None and named != list(levels):
        findings.append(f"the levels are {named}, the objective asks for {list(levels)}")
    return judge(LEVELS, findings, f"{len(plan.terms)} terms and {len(stated)} levels recomputed")


def check_status(plan: AnyPlan | JointPlan) -> Verdict:
    """CT-02: bound <= value on every level; where the status is optimal, equal and with a proof.

    A level of an optimal plan must say that it is certified, or agreed by two engines. Terms are
    never negative, so evicting nothing is optimal without any level.
    """
    certificate, claims_optimum = plan.certificate, plan.claim == "optimal"
    if certificate is None:
        missing = claims_optimum and plan.victims
        findings = ["an optimal plan needs a certificate"] if missing else []
        return judge(STATUS, findings, "nothing is claimed")
    findings = []
    for level in certificate.levels:
        if level.bound > level.value:
            findings.append(f"level {level.term}: bound {level.bound} > value {level.value}")
        elif claims_optimum and level.bound < level.value:
            findings.append(
                f"level {level.term}: bound {level.bound} < value {level.value}, so not optimal"
            )
        elif claims_optimum and plan.victims and level.proof is None:
            findings.append(f"level {level.term}: nothing says what its bound rests on")
        findings += [
            f"level {level.term}: solver-free bound {by_hand.bound} > value {level.value}"
            for by_hand in certificate.bounds_by_hand
            if by_hand.term == level.term and by_hand.bound > level.value
        ]
    if claims_optimum and plan.victims and not certificate.levels:
        findings.append("an optimal plan needs at least one level")
    return judge(STATUS, findings, f"{len(certificate.levels)} levels, status {plan.claim}")


def check_solver_free_bound(
    setting: Setting, bound: SolverFreeBound, costs: Mapping[str, int]
) -> Verdict:
    """CT-03: the bound is what its multipliers give, in exact integers.

    need[fr] = REQ[fr] - available(q, fr) before any eviction. Whatever a legal set V frees
    comes from its usage, and removing an amount anywhere in the tree raises what is available
    to q by that amount at most; so sum over V of usage[fr] >= need[fr] for every requested fr.
    With multipliers m >= 0 the cost of V is then at least

        sum(m * need) + sum over V of (cost - m . usage)
            >= sum(m * need) + sum over candidates of min(0, cost - m . usage)

    where the candidates are what Kueue would collect: by docs/semantics/kueue.md §5.3 what passes
    KQ-03 to KQ-05 and whose side is over quota now (no other workload passes KQ-07 with any
    victims), and under fair sharing, by §6.2, what passes FS-02 to FS-05.
    """
    findings = list(_multiplier_faults(setting, bound))
    weights: Counter[int] = Counter()
    if findings:
        return judge(SOLVER_FREE_BOUND, findings, "")
    total = 0
    for multiplier in bound.multipliers:
        fr = setting.snapshot.fr(multiplier.flavor, multiplier.resource)
        weights[fr] += multiplier.numerator
        total += multiplier.numerator * multiplier.need
    keys, usages = setting.candidate_keys, setting.candidate_usages
    findings += [f"no cost is known for {key}" for key in keys if key not in costs]
    different = dict(zip(map(id, usages), usages, strict=True))
    price = {
        held: sum(weight * usage.get(fr, 0) for fr, weight in weights.items())
        for held, usage in different.items()
    }
    paid = zip(map(costs.get, keys), map(id, usages), strict=True)
    # Multiplied by the denominator, and never divided by it, all of this stays in integers.
    reduced = [bound.denominator * cost - price[held] for cost, held in paid if cost is not None]
    # A candidate whose usage is worth more than it costs lowers the bound; the others may as well
    # stay. Nothing else of legality is used, which is why the bound holds for every plan.
    total += sum(each for each in reduced if each < 0)
    # Rounded up: costs are whole numbers.
    recomputed = -(-total // bound.denominator)
    findings += compare(f"bound of {bound.term}", bound.bound, recomputed)
    return judge(SOLVER_FREE_BOUND, findings, f"{bound.term} >= {recomputed} by multipliers")


def check_removal_order(case: Case, order: Sequence[str]) -> Verdict:
    """CT-04: the claimed order names every victim once, and its replay is legal."""
    holders = {victim.key: victim for victim in case.victims}
    if sorted(order) != sorted(holders):
        findings = [f"the order names {say_some(order) or 'none'}: not every victim once"]
        return judge(REMOVAL_ORDER, findings, "")
    obstacle = case.obstacle([holders[key] for key in order])
    return judge(REMOVAL_ORDER, [obstacle] if obstacle else [], "replayed removal by removal")


def _recompute(term: str, recomputed: Mapping[str, int]) -> int | None:
    if term in recomputed:
        return recomputed[term]
    parts = term.split("+")
    known = all(part in recomputed for part in parts)
    return sum(recomputed[part] for part in parts) if known else None


def _multiplier_faults(setting: Setting, bound: SolverFreeBound) -> Iterator[str]:
    """Say what makes multipliers unusable; needs are recomputed here."""
    if bound.denominator < 1:
        yield f"denominator {bound.denominator} is not positive"
    snapshot = setting.snapshot
    for multiplier in bound.multipliers:
        name = FlavorResource(multiplier.flavor, multiplier.resource)
        fr = snapshot.fr_index.get(name)
        asked = 0 if fr is None else setting.request.get(fr, 0)
        if multiplier.numerator < 0:
            yield f"multiplier {multiplier.numerator} of {name} is negative"
        if fr is None or asked <= 0:
            # Nothing need be freed of what nobody asks for, even where it is over-admitted.
            yield f"{name} is not asked for, so it cannot bound anything"
            continue
        saturated = next(
            (node for node in setting.path if snapshot.usage.amount[node][fr] == UNLIMITED), None
        )
        if saturated is not None:
            # A saturated usage does not fall by what victims hold, so they free less than is
            # counted.
            yield f"usage of {say_node(snapshot, saturated)} is beyond 64 bits: no bound holds"
        need = asked - snapshot.usage.available(setting.queue, fr)
        yield from compare(f"need of {name}", multiplier.need, need)
