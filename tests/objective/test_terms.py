"""Every disruption term on small cases computed by hand."""

from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import planner
from planner.errors import LookupFailed, SchemaError, UnsupportedError
from planner.models.kueue.formulation import Columns, build_classes
from planner.models.kueue.laws import assemble, attempts, eligible, restricted_while_borrowing
from planner.models.shared.measure import express
from planner.objective.annotation import PREFIX, Disruption, Disruptions
from planner.objective.kueue import term_table
from planner.objective.sums import Losses, places, separable_terms
from planner.objective.terms import TermTable, work
from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import read_assignment
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine
from planner.term import ACCELERATOR, EACH, RATED, TERMS, unit_weight
from tests.cluster import Object, cohort, pending, problem_of, queue, running, state_of
from tests.conftest import examples
from tests.random_trees import Instance, fair_instances, instances
from tests.told import told

ALL_MEASURES = (
    *((term,) for term in TERMS if term not in {EACH, "lost_work", "restart_cost", "unstable"}),
    ("rated", "cost"),
    ("lost_work", "restart_cost"),
    ("lost_work", "restart_cost", "toll"),
)

CLUSTER: list[Object] = [
    *cohort("org"),
    *queue("a", {"gpu": 6, "cpu": 64}, "org", within="LowerPriority", reclaim="LowerPriority"),
    *queue("b", {"gpu": 0, "cpu": 0}, "org"),
    # Quota since 12:50, so 600 s at 13:00; 2 gpus and 16 cores are 2.5 accelerators.
    *running("big", "b", {"gpu": 2, "cpu": 16}, 5, minute=50),
    # 3000 s, 1 gpu.
    *running(
        "small",
        "b",
        1,
        1,
        minute=10,
        annotations={PREFIX + "tier": "last", PREFIX + "milestones": "0s:0,1h:50,4h:10"},
    ),
    # 60 s and 30 s to restart, 1 gpu.
    *running("mine", "a", 1, 1, minute=59, annotations={PREFIX + "restart-seconds": "30"}),
    *running("leaving", "a", 1, 3, minute=0, evicted=True),
    *running("protected", "b", 1, 50, minute=0),
    *pending("a", 2, 10),
]
"""All 6 gpus are used and 2 are asked for; one of them is going already."""


def tabled(*parts: Iterable[Object]) -> tuple[Problem, TermTable]:
    """Return the problem of the pending workload of a few parts, and its table."""
    problem, snapshot, _ = problem_of(state_of(*parts))
    return problem, term_table(problem, snapshot, eligible(problem))


def each(term: str, *parts: Iterable[Object]) -> dict[str, int]:
    """Return a term of each workload by itself."""
    problem, table = tabled(*parts)
    return {w.key: table.evaluate([i])[term] for i, w in enumerate(problem.workloads)}


def table_of(costs: Mapping[str, int] | None = None) -> TermTable:
    problem, snapshot, _ = problem_of(state_of(CLUSTER))
    return term_table(problem, snapshot, eligible(problem), costs)


def terms(*names: str, costs: Mapping[str, int] | None = None) -> dict[str, int]:
    problem, *_ = problem_of(state_of(CLUSTER))
    table = table_of(costs)
    position = {w.key: i for i, w in enumerate(problem.workloads)}
    return table.evaluate([position[f"ns/{name}"] for name in names])


def test_milestones_and_run_time() -> None:
    assert (
        terms("small")["milestone_cost"],
        terms("small", "mine", "leaving")["milestone_cost"],
    ) == (42, 42)
    assert terms("big")["milestone_cost"] == 0
    assert terms("big", "small", "mine", "leaving")["run_time"] == 600 + 3000 + 60


def test_pods_are_those_that_still_run() -> None:
    """Six were admitted of the eight of the first podset, and two of the other are done."""
    (item,) = running("gang", "a", 8)
    template = item["spec"]["podSets"][0]
    item["spec"]["podSets"] = [{**template, "count": 8}, {**template, "name": "more", "count": 5}]
    (assigned,) = item["status"]["admission"]["podSetAssignments"]
    item["status"]["admission"]["podSetAssignments"] = [
        {**assigned, "count": 6},
        {**assigned, "name": "more", "count": 5},
    ]
    item["status"]["reclaimablePods"] = [{"name": "more", "count": 2}]
    parts = (queue("a", 16, within="LowerPriority"), [item], running("one", "a", 1))
    assert each("pods", *parts, pending("a", 16)) == {"ns/gang": 6 + 3, "ns/one": 1}


def test_places_are_counted_among_the_eligible() -> None:
    order = np.array([4, 0, 2, 3, 1])
    allowed = np.array([True, False, True, False, True])
    assert places(order, allowed).tolist() == [3, 1, 2, 3, 1]


def test_a_term_without_a_source_is_refused_by_name() -> None:
    table = replace(table_of(), separable={"workloads": table_of().separable["workloads"]})
    table.refuse_missing("mine", ["highest_priority", "workloads"])
    with pytest.raises(UnsupportedError) as caught:
        table.refuse_missing("mine", ["highest_priority", "milestone_cost"])
    told(caught.value)


@pytest.mark.parametrize(
    ("rates", "rated"),
    [
        # big and small: `last_resort` 1, `highest_priority` 3, `workloads` 2, `lost_work` 1500 +
        # 3000, `queues` 1.
        ({"workloads": 600, "lost_work": 1}, 1200 + 4500),
        ({"last_resort": 10_000, "lost_work": 2}, 10_000 + 9000),
        ({"queues": 7, "highest_priority": 100}, 7 + 300),
    ],
)
def test_rated_terms_add_up(rates: dict[str, int], rated: int) -> None:
    problem, *_ = problem_of(state_of(CLUSTER))
    position = {w.key: i for i, w in enumerate(problem.workloads)}
    table = table_of().rated("mine", rates)
    assert table.evaluate([position["ns/big"], position["ns/small"]])["rated"] == rated
    assert table.evaluate([position["ns/leaving"]])["rated"] == 0
    assert ("rated" in table.separable) == ("queues" not in rates)


def test_without_rates_nothing_is_rated() -> None:
    assert "rated" not in table_of().evaluate(())


def test_rates_beyond_64_bits_are_exact() -> None:
    """A thousand times 10^18 is 10^21, which 64 bits do not hold."""
    rates = {"lost_work": 10**18 + 1, "run_time": 10**21}
    table = table_of().rated("mine", rates)
    assert max(table.separable["rated"].tolist()) > 2**70
    for place in range(len(table.rank)):
        alone = table.evaluate([place])
        assert alone["rated"] == sum(rate * alone[term] for term, rate in rates.items())


def test_protected_run_time_cut_short() -> None:
    """Ten minutes of the twenty asked for; a day asked for by one that goes already."""
    least = PREFIX + "min-runtime-seconds"
    parts = (
        queue("a", 3, within="LowerPriority"),
        running("w", "a", 1, minute=50, annotations={least: "1200"}),
        running("done", "a", 1, minute=0, annotations={least: "3600"}),
        running("leaving", "a", 1, evicted=True, annotations={least: "86400"}),
    )
    early = each("cut_short", *parts, pending("a", 3))
    assert early == {"ns/w": 600, "ns/done": 0, "ns/leaving": 0}


@pytest.mark.parametrize("goes", ["evicted", "deleted"])
def test_who_goes_anyway_costs_nothing_more(goes: str) -> None:
    """Neither an eviction under way nor a deletion can be called off, whoever is planned for."""
    parts = (
        queue("a", 2, within="LowerPriority"),
        running("going", "a", 1, minute=0, evicted=goes == "evicted", deleted=goes == "deleted"),
        running("stays", "a", 1, minute=59),
        pending("a", 1),
    )
    for term in ("workloads", "pods", "lost_work", "restart_cost", "highest_priority", "queues"):
        found = each(term, *parts)
        assert found["ns/going"] == 0, term
        assert found["ns/stays"] > 0, term
    # A deletion alone does not make it come first in Kueue's order: there, the newest does.
    state = state_of(*parts)
    (victim,) = planner.solve(state).victims
    assert (victim.workload, victim.evicted) == ("ns/going", True)
    assert planner.verify(state, planner.solve(state)).accepted
    told(planner.explain(state, victim="ns/going").answer)


def test_an_accelerator_hour_is_that_of_a_device_or_of_32_cores() -> None:
    """8 devices with 128 cores for an hour are 12, so that GPU-hours would be the wrong name."""
    size = 8 * unit_weight("nvidia.com/gpu") + 128_000 * unit_weight("cpu")
    assert work(size, 3600) == 12 * 3600


def test_lost_work_counts_what_is_not_contested_and_rounds_up() -> None:
    """One milli-core for 600 s is 600 of 32,000: one accelerator-second."""
    problem, table = tabled(
        queue("a", {"gpu": 1, "cpu": 1}, within="LowerPriority"),
        running("w", "a", {"gpu": 0, "cpu": "1m"}, minute=50),  # type: ignore[dict-item]
        pending("a", 2),
    )
    assert [fr.resource for fr in problem.frs] == ["gpu"]
    assert table.evaluate([0])["lost_work"] == 1
    assert table.evaluate([0])["restart_cost"] == 1


def test_cost_is_given_by_name_and_one_otherwise() -> None:
    assert terms("big", "small")["cost"] == 2
    assert terms("big", "small", costs={"ns/big": 0, "ns/protected": 5})["cost"] == 1
    with pytest.raises(LookupFailed, match="ns/nobody"):
        table_of({"ns/nobody": 1})
    with pytest.raises(LookupFailed, match="ns/pending"):
        table_of({"ns/pending": 1})


@pytest.mark.parametrize(
    ("resource", "weight"),
    [
        ("cpu", 1),
        ("memory", 0),
        ("nvidia.com/gpu", ACCELERATOR),
        ("amd.com/gpu", ACCELERATOR),
        ("google.com/tpu", ACCELERATOR),
        ("aws.amazon.com/neuron", ACCELERATOR),
        ("habana.ai/gaudi", ACCELERATOR),
        ("requests.nvidia.com/gpu", ACCELERATOR),
        ("gpus", ACCELERATOR),
        ("nvidia.com/gpumem", 0),
        ("example.com/gpu-credits", 0),
        ("pods", 0),
    ],
)
def test_weights_of_resources(resource: str, weight: int) -> None:
    assert unit_weight(resource) == weight


def test_ranks_above_twenty_weigh_no_more() -> None:
    crowd = [item for i in range(25) for item in running(f"w{i}", "a", 1, i)]
    _, table = tabled(queue("a", 25, within="LowerPriority"), crowd, pending("a", 1, 99))
    assert table.rank.tolist() == list(range(1, 26))
    assert table.separable["priority_weight"].tolist() == [
        min(2**rank, 2**20) for rank in range(1, 26)
    ]


def test_costs_of_absurd_sizes_are_exact() -> None:
    """By hand: ten minutes of 2^50 accelerators, and of as many and one."""
    parts = (
        queue("a", 1, within="LowerPriority"),
        running("v", "a", 2**50),
        running("w", "a", 2**50 + 1),
        pending("a", 1),
    )
    assert each("toll", *parts) == {"ns/v": 600 * 2**50, "ns/w": 600 * (2**50 + 1)}


def test_bad_annotations_are_refused_even_of_those_who_may_stay() -> None:
    annotated = running("w", "a", 1, annotations={PREFIX + "tier": "x"})
    with pytest.raises(SchemaError, match="tier"):
        tabled(queue("a", 1), annotated, pending("a", 1))


@examples(40)
@given(
    st.one_of(instances(), fair_instances()),
    st.sampled_from(ALL_MEASURES),
    st.dictionaries(
        st.sampled_from([term for term in TERMS if term not in {RATED, EACH, "unstable"}]),
        st.integers(1, 1000),
        min_size=1,
        max_size=3,
    ),
)
def test_what_the_model_minimises_is_what_the_table_says(
    instance: Instance, measure: tuple[str, ...], rates: dict[str, int]
) -> None:
    """At the optimum the expression equals the terms of the victims it names."""
    snapshot, preemptor = instance.snapshot, instance.preemptor
    problem = build_problem(snapshot, preemptor, read_assignment(instance.assignment, preemptor))
    allowed = eligible(problem)
    table = term_table(problem, snapshot, allowed).rated("mine", rates)
    restricted = restricted_while_borrowing(problem)
    classes = build_classes(problem, allowed, restricted, table.telling_apart(TERMS))
    columns = Columns(problem, classes, restricted)
    formulation = assemble(problem, columns, attempts(problem, allowed))
    expression = express(formulation, table, measure)
    found = run_engine(formulation.builder, expression, Deadline())
    if found.outcome == "infeasible":
        return
    assert found.outcome == "optimal"
    counts = [found.solution[variable] for variable in formulation.take]
    values = table.evaluate(classes.take(counts))
    assert expression.value(found.solution) == sum(values[term] for term in measure)
    assert found.bound == expression.value(found.solution)


def test_work_is_exact_where_the_largest_size_times_the_longest_time_passes_64_bits() -> None:
    """2^45 / 32000 is 1,099,511,627.776 accelerators, rounded up only once multiplied."""
    large = Disruption(last_tier=False, running_s=1, lost_s=1, restart_s=0)
    long = Disruption(last_tier=True, running_s=2**25, lost_s=2**25, restart_s=2)
    nobody = np.zeros(2, dtype=np.bool_)
    ones = np.ones(2, dtype=np.int64)
    names, sizes = ["large", "long"], np.array([2**45, ACCELERATOR])
    disruptions = Disruptions.one_by_one([large, long])
    found = separable_terms(Losses(names, sizes, [1, 1], disruptions, ones, ones, ones, nobody, {}))
    assert found["lost_work"].tolist() == [1_099_511_628, 2**25]
    assert found["restart_cost"].tolist() == [0, 2]
    assert found["toll"].tolist() == [659_706_976_666, 600 + 86_400]
    assert all(costs.dtype == np.int64 for costs in found.values())
