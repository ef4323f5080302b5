"""What the planner answers to a random state, beside what the oracle says."""

from collections.abc import Iterable, Iterator, Mapping

from planner.errors import InputError
from planner.plan.kueue import Plan
from planner.reader.kueue import read_kueue_objects
from tests.oracle.cluster import Cluster
from tests.oracle.greedy import kueue
from tests.oracle.objectives import Enumeration, legal_sets, value
from tests.oracle.question import ask
from tests.oracle.random_states import NOW, PENDING, RandomState
from tests.oracle.terms import NAMES
from tests.solver.ways import solve

REFUSED = "refused"
COST = "cost"


def answer(state: RandomState, objective: str, *, certify: bool | None = None) -> Plan:
    """Ask the planner."""
    return solve(
        read_kueue_objects(state.objects, where=f"seed {state.seed}", now=NOW),
        PENDING,
        objective=objective,
        costs=state.costs if objective == "min-cost" else None,
        assignment=state.assignment,
        certify=certify,
    )


def flavors_of(plan: Plan) -> dict[str, dict[str, dict[str, str]]]:
    """Return flavor and mode that a plan's podsets have, resource by resource."""
    return {
        pod_set.name: {
            resource: {"flavor": chosen.flavor, "mode": chosen.mode}
            for resource, chosen in pod_set.flavors.items()
        }
        for pod_set in plan.assignment.pod_sets
    }


def enumerated(
    state: RandomState, plan: Plan, pending: str = PENDING, now: str = NOW
) -> Enumeration | None:
    """Enumerate the legal sets under the plan's flavors; nothing where it has no flavors."""
    if plan.assignment.mode == "NoFit":
        return None
    question = ask(Cluster(state.objects, now), pending, flavors_of(plan))
    return Enumeration(legal_sets(question), state.costs)


def differences(state: RandomState, objectives: Iterable[str]) -> list[str]:
    """List in what planner and oracle differ; ``refused`` where the planner cannot say."""
    found: list[str] = []
    sets: Enumeration | None = None
    for objective in objectives:
        try:
            plan = answer(state, objective)
        except InputError as error:
            return [f"{REFUSED}: {error}"]
        except Exception as error:  # noqa: BLE001 - whatever it is, it would be exit code 70
            found.append(f"seed {state.seed}: {objective}: exit 70: {error!r}")
            continue
        sets = sets or enumerated(state, plan)
        said = compare(plan, sets, objective)
        found += [f"seed {state.seed}: {objective}: {each}" for each in said]
    return found


def compare(plan: Plan, sets: Enumeration | None, objective: str) -> Iterator[str]:
    """Say in what a plan differs from the best of all legal sets."""
    if sets is None:
        if plan.status != "infeasible":
            yield f"{plan.status} without flavors"
        return
    legal = sets.legal
    greedy = legal.mask(frozenset(plan.greedy.keys)) if plan.greedy else 0
    costs = objective == "min-cost"
    if plan.greedy:
        yield from _of_kueue(plan.greedy, sets, costs=costs)
    best = sets.best(objective, greedy or None)
    if best is None:
        if plan.status != "infeasible":
            yield f"{plan.status} with {plan.keys}, and no set is legal"
        return
    expected = legal.keys(best.victims)
    if plan.status != "optimal" or plan.certificate is None:
        yield f"{plan.status}, and {expected} is legal"
        return
    levels = tuple((level.term, level.value) for level in plan.certificate.levels)
    nothing_to_do = not best.victims and not levels and not plan.keys
    if levels != best.levels and not nothing_to_do:
        yield f"levels {levels} with {plan.keys}, best is {best.levels} with {expected}"
    elif list(plan.keys) != expected:
        yield f"victims {list(plan.keys)}, canonical are {expected}"
    measured = sets.terms.of(legal.mask(frozenset(plan.keys)))
    yield from _terms("the plan's", plan.terms, measured, costs=costs)


def _of_kueue(plan: Plan, sets: Enumeration, *, costs: bool) -> Iterator[str]:
    if plan.rules == "kueue-classical":
        targets = kueue(sets.legal.question)
        if list(plan.keys) != targets:
            yield f"Kueue evicts {list(plan.keys)}, by the pages {targets}"
    if plan.victims:
        measured = sets.terms.of(sets.legal.mask(frozenset(plan.keys)))
        yield from _terms("Kueue's", plan.terms, measured, costs=costs)


def _terms(
    whose: str, said: Mapping[str, int], expected: Mapping[str, int], *, costs: bool
) -> Iterator[str]:
    for term in NAMES:
        if (term != COST or costs) and said.get(term) != expected[term]:
            yield f"{whose} {term} is {said.get(term)}, by the pages {expected[term]}"


def like_kueue(state: RandomState) -> Iterator[str]:
    """Say in what ``kueue-like`` differs from the best by the profile of priorities."""
    plan = answer(state, "kueue-like")
    sets = enumerated(state, plan)
    if sets is None or not sets.known:
        return
    best = min(sets.known, key=lambda victims: _by_priority(sets, victims))
    ours = sets.legal.mask(frozenset(plan.keys))
    if _by_priority(sets, ours) != _by_priority(sets, best):
        yield (
            f"seed {state.seed}: {list(plan.keys)} has {_by_priority(sets, ours)}, "
            f"{sets.legal.keys(best)} has {_by_priority(sets, best)}"
        )


def _by_priority(sets: Enumeration, victims: int) -> tuple[tuple[int, ...], int, int]:
    terms = sets.terms.of(victims)
    return sets.terms.profile(victims), terms["run_time"], terms["workloads"]


def on_every_level(sets: Enumeration, objective: str, plan: Plan) -> list[int] | None:
    """Return the values of a plan on every level; nothing where it is not legal."""
    terms = sets.known.get(sets.legal.mask(frozenset(plan.keys)))
    return None if terms is None else [value(terms, each) for each in sets.levels(objective)]
