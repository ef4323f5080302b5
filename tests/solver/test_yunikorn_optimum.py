"""The optimum for an ask of YuniKorn is the least over the legal sets of the real core.

Every line takes part. Where the ask fits at once, or may not preempt (YK-11, which the lists do
not look at), ``planner.solve`` has nothing to search; there the search itself is asked. With a
required node the plan is legal, and never larger than what the core takes.
"""

import json
from collections import Counter
from functools import cache
from itertools import product
from random import Random

import pytest

import planner
from planner.objective.profiles import PROFILES
from planner.plan.yunikorn import YuniKornPlan
from planner.quota.yunikorn.cluster import Asking, Cluster, find_ask, is_usable, prepare
from planner.quota.yunikorn.resource import fits_in
from planner.reader.yunikorn import read_yunikorn_objects
from planner.solver.yunikorn.planning import Laws
from planner.state.yunikorn import YuniKornState
from tests.conftest import TEST_ALL, some
from tests.solver.ways import solve
from tests.solver.yunikorn_truth import FEW, LAWS, SAMPLE, truths, value_of
from tests.told import told
from tests.yunikorn.brute_force import allocations_of, legal_sets, pod_fits
from tests.yunikorn.building import (
    NOW,
    SECOND,
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    machine,
    node,
    pod,
    queue,
    state_of,
    two_queues,
)
from tests.yunikorn.legality import SMALL, SMALL_QUOTA, candidates_of, lowered_lines
from tests.yunikorn.recorded import FEATURES, FULL, NAMES, Line, lines, named, step, texts

SEEDS = range(2 if TEST_ALL else 1)


@pytest.mark.parametrize(("name", "laws"), some(product(SMALL, LAWS), 5))
def test_min_count_and_min_cost_equal_the_recorded_minimum(name: str, laws: Laws) -> None:
    compared = 0
    for truth in truths(name, laws):
        compared += 1
        expected = "optimal" if truth.legal else "infeasible"
        found = truth.solve("min-count")
        assert found.status == expected, truth.id
        if truth.legal:
            assert found.victims in truth.permitted, truth.id
            assert len(found.victims) == min(map(len, truth.permitted)), truth.id
        for seed in SEEDS:
            costs = truth.random_costs(seed)
            found = truth.solve("min-cost", costs)
            assert found.status == expected, truth.id
            if truth.legal:
                assert found.victims in truth.permitted, truth.id
                least = min(sum(costs[key] for key in victims) for victims in truth.permitted)
                assert sum(costs[key] for key in found.victims) == least, truth.id
    assert compared == len(range(0, sum(1 for _ in lines(name, 1)), step(name, SAMPLE, FEW)))


@pytest.mark.parametrize(
    ("name", "laws", "profile"),
    some(product(SMALL, LAWS, ["no-regret", "least-disruption", "fair", "kueue-like"]), 5),
)
def test_the_answer_is_the_first_of_the_best_recorded_sets(
    name: str, laws: Laws, profile: str
) -> None:
    """Best level by level under the caps; then the fewest; then first in the core's order."""
    compared = 0
    for truth in truths(name, laws)[:: 2 if "/" in name and not TEST_ALL else 1]:
        found = truth.solve(profile)
        assert found.status == ("optimal" if truth.legal else "infeasible"), truth.id
        if not truth.legal:
            assert not found.victims
            continue
        compared += 1
        measured = truth.measured(PROFILES[profile])
        least, best = measured.best(PROFILES[profile], found.greedy)
        assert found.victims in best, truth.id
        assert found.victims == measured.first(best), truth.id
        assert [level.value for level in found.levels] == least, truth.id
        assert [level.bound for level in found.levels] == least, truth.id
    assert compared


@pytest.mark.parametrize("laws", LAWS)
def test_the_last_tier_goes_only_where_no_legal_set_spares_it(laws: Laws) -> None:
    spared = needed = 0
    for truth in some((one for name in SMALL for one in truths(name, laws)), 3):
        if not truth.legal or not truth.is_searched:
            continue
        plan = truth.solve("no-regret").plan
        assert plan is not None
        avoidable = any(not victims & truth.last_tier for victims in truth.legal)
        assert plan.last_tier == (not avoidable), truth.id
        assert plan.certificate is not None
        (level,) = [one for one in plan.certificate.levels if one.term == "last_resort"]
        assert (level.bound > 0) == plan.last_tier, truth.id
        spared += avoidable
        needed += not avoidable
    assert not SMALL or (spared and needed)


@pytest.mark.parametrize(("name", "laws"), some(product(SMALL, LAWS), 3))
def test_caps_of_a_lawful_core_are_kept(name: str, laws: Laws) -> None:
    kept = 0
    no_regret = PROFILES["no-regret"]
    for truth in truths(name, laws):
        found = truth.solve("no-regret")
        greedy = found.greedy
        if frozenset(greedy.keys) not in truth.legal:
            continue
        if greedy.last_tier and not found.victims & truth.last_tier:
            continue  # sparing the last tier comes before any cap
        kept += 1
        terms = truth.measured().terms[found.victims]
        for cap in no_regret.caps:
            assert value_of(terms, cap) <= value_of(greedy.terms, cap), truth.id
    assert kept


@pytest.mark.parametrize(("name", "laws"), some(product(SMALL, LAWS), 3))
def test_the_core_is_outside_the_rules_exactly_where_it_was_recorded(name: str, laws: Laws) -> None:
    """Where the core itself does not decide twice the same, only its recorded decision counts."""
    field = {"design": "greedyLegal", "code": "greedyCode"}[laws]
    compared = 0
    for truth in truths(name, laws):
        expect = truth.line["expect"]
        greedy = planner.greedy(truth.state, truth.ask, rules=laws)
        if expect["triggered"] and set(greedy.keys) == set(expect["victims"]):
            compared += 1
            assert (greedy.outside_rules == ()) == expect["legality"][field], truth.id
        elif expect["canonicalUnique"]:
            assert not expect["triggered"], truth.id
            assert not greedy.keys, truth.id
    assert compared


def test_lines_of_every_kind_take_part() -> None:
    """Some fit at once or may not preempt; nearly all are planned."""
    every = [truth for name in SMALL for truth in truths(name, "design")]
    if not every:
        pytest.skip("no recorded lists")
    searched = sum(truth.is_searched for truth in every)
    assert len(every) * 0.9 < searched < len(every)


def test_a_record_of_the_search_alone_is_told_though_the_ask_may_not_preempt() -> None:
    """Whether it may is asked by the caller of the core's search, whom the record leaves out."""
    value = two_queues(*(allocation(f"run-{i}", {"gpu": 1}) for i in range(4)))
    value["applications"][1]["requests"][0]["x"] = {"allowPreemptOther": False}
    state = state_of(value | {"x": {"direct": {"nodesTried": True}}})
    plan = solve(state, "ask")
    assert plan.greedy is not None
    assert len(plan.greedy.victims) == 1
    assert plan.greedy.victims[0].position == 1
    assert not plan.victims


EVERY = 24
RECORDED = [name for name in NAMES if name.rpartition("/")[2] == "required-node"]
SMALL_ENOUGH = 8
"""Allocations up to which every subset is tried."""


@cache
def planned(name: str) -> list[tuple[Line, YuniKornState, YuniKornPlan]]:
    """Return the lines of a file with their states and plans of the fewest victims."""
    found = []
    for line in lines(name, step(name, EVERY, 2)):
        state = read_yunikorn_objects(line, where=line["id"])
        plan = solve(state, line["ask"]["allocationKey"], "min-count")
        found.append((line, state, plan))
    return found


@pytest.mark.parametrize("name", RECORDED)
def test_plan_is_legal_and_not_larger_than_the_core_s(name: str) -> None:
    smaller = compared = 0
    for line, state, plan in planned(name):
        assert plan.rules == "yunikorn-required-node"
        assert planner.verify(state, plan).accepted, line["id"]
        assert plan.greedy is not None
        if not line["expect"]["victims"] or plan.greedy.outside_rules:
            continue
        compared += 1
        assert plan.status == "optimal", line["id"]
        assert len(plan.victims) <= len(line["expect"]["victims"]), line["id"]
        smaller += len(plan.victims) < len(line["expect"]["victims"])
    assert compared
    assert smaller or step(name, EVERY, 2) > 1


@pytest.mark.parametrize("name", RECORDED)
def test_plan_is_the_smallest_of_all_legal_sets(name: str) -> None:
    found = none = 0
    for line, state, plan in planned(name):
        cluster = prepare(state)
        asking = find_ask(cluster, line["ask"]["allocationKey"])
        here = [
            one
            for each in cluster.partition.applications
            for one in each.allocations
            if one.node_id == asking.ask.required_node
        ]
        if len(here) > SMALL_ENOUGH or "fits as it is" in plan.explanation:
            continue
        sets = legal_sets(cluster, asking, plan.rules)
        legal = set[frozenset[str]]().union(*sets.values())
        assert plan.status == ("optimal" if legal else "infeasible"), line["id"]
        if legal:
            found += 1
            assert frozenset(plan.keys) in legal, line["id"]
            assert len(plan.keys) == min(map(len, legal)), line["id"]
        else:
            none += 1
            assert plan.explanation
    assert found
    assert none or "/" in name


def daemon(*running: Json, wanted: int) -> Json:
    """Build a full node reserved for an ask that must run there, beside a free one."""
    value = two_queues(*running, guaranteed=0, requiredNodeId="n1")
    value["applications"][1]["requests"][0]["resource"] = {"gpu": wanted}
    value["nodes"][0]["nodesInfo"][0] |= {"reservations": ["ask"]}
    value["nodes"][0]["nodesInfo"].append({"nodeID": "n2", "capacity": {"gpu": 9}})
    return value


def test_one_large_allocation_instead_of_two_small_ones() -> None:
    """The core prefers the smaller ones, whatever their number."""
    running = [allocation("big", {"gpu": 2}), *(allocation(key, {"gpu": 1}) for key in "ab")]
    plan = solve(state_of(daemon(*running, wanted=2)), "ask", "min-count")
    assert plan.greedy is not None
    assert set(plan.greedy.keys) == {"a", "b"}
    assert (plan.status, plan.keys, plan.node) == ("optimal", ("big",), "n1")


@pytest.mark.parametrize("equal", range(2, 8))
def test_of_however_many_equal_sets_the_first_is_proved_so(equal: int) -> None:
    """The core takes what it finds on the first node; of all others the youngest is the first."""
    names = [*map(str, range(1 + equal))]
    held = [
        allocation(name, {"gpu": 1}, age=-int(name), on=name, priority="0" if int(name) else "5")
        for name in names
    ]
    asks = ask("ask", {"gpu": 1}, priority="10")
    value = cluster_value(
        [queue("high", guaranteed={"gpu": 1}), *map(queue, names)],
        [node(name, {"gpu": 1}) for name in names],
        [
            application("asks", "root.high", asks=(asks,)),
            *(application(f"runs-{one['nodeId']}", f"root.{one['nodeId']}", one) for one in held),
        ],
    )
    state = state_of(value)
    plan = planner.solve(state)
    assert (plan.keys, plan.greedy and plan.greedy.keys) == ((names[-1],), ("0",))
    assert planner.check(state, plan).accepted


def test_a_required_node_waits_for_no_delay() -> None:
    """Neither the delay nor the guaranteed of a queue counts for a required node."""
    value = daemon(*(allocation(key, {"gpu": 1}) for key in "abcd"), wanted=1)
    value["applications"][1]["requests"][0]["requestTime"] = NOW - SECOND
    plan = solve(state_of(value), "ask")
    assert (plan.status, len(plan.victims), len(plan.notes)) == ("optimal", 1, 1)
    told(plan.notes[0])


PORT = {"container": {"ports": [{"containerPort": 80, "hostPort": 80}]}}


@pytest.mark.parametrize("of_ask", [{}, {"requiredNodeId": "n1"}])
@pytest.mark.parametrize(
    ("of_application", "of_asked_pod", "of_node", "gone"),
    [
        ({"queueName": "root"}, {}, {}, None),  # a parent
        ({"placeholderData": [{"taskGroupName": "tg", "count": 2}]}, {}, {}, None),
        ({}, {}, {"taints": [{"key": "gone", "effect": "NoSchedule"}]}, None),
        ({}, PORT, {}, ("old",)),  # the core asks nobody to go: the node has room
        ({}, {}, {}, ()),
    ],
)
def test_room_on_a_node_is_not_all_that_it_takes(
    of_ask: Json,
    of_application: Json,
    of_asked_pod: Json,
    of_node: Json,
    gone: tuple[str, ...] | None,
) -> None:
    value = two_queues(allocation("old", {"gpu": 1}), size=2, taskGroupName="tg", **of_ask)
    value["applications"][1] |= of_application
    pods = [pod("ask", **of_asked_pod), pod("old", "n1", **of_asked_pod)]
    value |= {"objects": [*pods, machine("n1", gpus=2, **of_node)], "x": {"predicates": "k8s"}}
    state = state_of(value)
    plan = planner.solve(state, "ask")
    expected = ("infeasible", ()) if gone is None else ("optimal", gone)
    assert (plan.claim, plan.keys) == expected
    assert plan.greedy is not None
    assert (plan.greedy.status == "feasible", plan.greedy.keys) == (gone == (), ())
    assert planner.check(state, plan).accepted


def test_places_on_a_required_node_are_those_in_which_the_core_goes_there() -> None:
    """Yunikorn-core be3bb487 preemption_utilities.go ``SortAllocations``, read by hand.

    Ordinary pods, then those that opted out, then originators, opted out or not; of each kind the
    lowest priority first, then the newest, then the smaller.
    """
    spares = {"allowPreemptSelf": False}
    running = [
        allocation("driver", {"gpu": 1}, 1, originator=True),
        allocation("own-driver", {"gpu": 1}, 2, originator=True, x=spares),
        allocation("spared", {"gpu": 1}, 1, x=spares),
        allocation("high", {"gpu": 1}, 1, priority="1"),
        allocation("old", {"gpu": 1}, 9),
        allocation("large", {"gpu": 2}, 5),
        allocation("small", {"gpu": 1}, 5),
    ]
    value = daemon(*running, wanted=8)
    value["nodes"][0]["nodesInfo"][0]["capacity"] = {"gpu": 8}
    value["applications"][1]["requests"][0]["priority"] = "1"
    plan = solve(state_of(value), "ask")
    assert plan.greedy is not None
    expected = ["small", "large", "old", "high", "spared", "driver", "own-driver"]
    for found in (plan, plan.greedy):
        placed = sorted(found.victims, key=lambda one: one.position)
        assert [one.key for one in placed] == expected
        assert [one.position for one in placed] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("name", RECORDED)
def test_the_core_takes_the_first_places_of_a_required_node(name: str) -> None:
    compared = 0
    for line, _, plan in planned(name):
        greedy = plan.greedy
        if greedy is not None and list(greedy.keys) == line["expect"]["victims"]:
            compared += len(greedy.keys)
            assert [one.position for one in greedy.victims] == [
                *range(1, len(greedy.victims) + 1)
            ], line["id"]
    assert compared


@pytest.mark.parametrize("name", SMALL_QUOTA)
def test_a_queue_comes_down_to_its_max_at_the_recorded_minimum(name: str) -> None:
    """By number and by random costs; what the core preempts is told beside, with its faults."""
    found = none = 0
    for line, path, legal in lowered_lines(name, 6 if "/" in name else 12):
        state, where = state_of(line), line["id"]
        chance = Random(where)  # noqa: S311 - test data
        costs = {key: chance.randint(0, 9) for key in candidates_of(line)}
        for objective, prices in (("min-count", dict.fromkeys(costs, 1)), ("min-cost", costs)):
            given = costs if objective == "min-cost" else None
            plan = solve(state, quota=path, objective=objective, costs=given)
            assert plan.status == ("optimal" if legal else "infeasible"), where
            assert plan.greedy is not None
            if line["expect"]["canonicalUnique"]:
                assert {*plan.greedy.keys} == {*line["expect"]["victims"]}, where
            if plan.greedy.victims:
                outside = frozenset(plan.greedy.keys) not in legal
                assert bool(plan.greedy.outside_rules) == outside, where
            none += not legal
            if legal:
                found += 1
                assert frozenset(plan.keys) in legal, where
                least = min(sum(prices[key] for key in victims) for victims in legal)
                assert sum(prices[key] for key in plan.keys) == least, where
    assert found
    assert none


def test_where_the_core_ends_with_a_fault_it_preempts_nobody() -> None:
    """What is being preempted already is enough, and the core finds nothing to split."""
    (name,) = (one for one in named(FEATURES) if one.endswith("panic"))
    (text,) = (text for text in texts(FEATURES / f"{name}.jsonl.gz") if '"quotaQueue"' in text)
    line = json.loads(text)
    plan = planner.solve(state_of(line), quota=line["x"]["quotaQueue"])
    assert plan.greedy is not None
    assert (plan.status, plan.greedy.status, plan.keys) == ("optimal", "unknown", ())
    told(plan.greedy.explanation)


def test_what_is_left_is_taken_off_as_the_core_does() -> None:
    """Its sums end at 64 bits: without two victims of the most that there is, less than nothing."""
    held = [allocation(key, {"gpu": 1, "mem": 2**63 - 1}) for key in "ab"]
    low, running = (
        queue("low", max={"gpu": 1}, guaranteed={"gpu": 1, "mem": 1}),
        [*held, allocation("c", {"gpu": 1, "mem": 1}, 9000)],
    )
    value = cluster_value(
        [low], [node("n1", {"gpu": 3})], [application("runs", "root.low", *running)]
    )
    state = state_of(value)
    plan = solve(state, quota="root.low")
    assert plan.greedy is not None
    assert {*plan.greedy.keys} == {"a", "b"}
    used = {(one.queue, one.resource): (one.before, one.after) for one in plan.greedy.queues}
    assert used["root.low", "mem"] == (2**63 - 1, -(2**63) + 1)
    assert planner.check(state, plan).accepted


MOST_ON_A_NODE = 12
"""All subsets of them are tried."""


def test_plans_keep_to_the_predicates_of_recorded_states() -> None:
    """None is conditional; victims, and that there are none, are what enumeration says."""
    outcomes, outside = Counter[str](), 0
    for text in texts(FEATURES / "predicates.jsonl.gz")[:: 20 if FULL and not TEST_ALL else 1]:
        line = json.loads(text)
        state = read_yunikorn_objects(line, where=line["id"])
        plan = planner.solve(state, line["ask"]["allocationKey"], objective="min-count")
        assert isinstance(plan, YuniKornPlan)
        assert plan.greedy is not None
        assert plan.coverage == (), line["id"]
        assert planner.verify(state, plan).accepted, line["id"]
        outside += any("YK-08" in one for one in plan.greedy.outside_rules)
        cluster = prepare(state)
        asking = find_ask(cluster, line["ask"]["allocationKey"])
        on = Counter(one.node_id for one in allocations_of(cluster))
        fits_now = "fits as it is" in plan.explanation
        if fits_now or has_room(cluster, asking) or max(on.values()) > MOST_ON_A_NODE:
            continue
        legal = set[frozenset[str]]().union(*legal_sets(cluster, asking, plan.rules).values())
        opted = {one.allocation_key for one in allocations_of(cluster) if one.opted_out}
        legal = {one for one in legal if not one & opted} or legal
        outcomes[plan.claim] += 1
        assert (plan.claim == "optimal") == bool(legal), line["id"]
        assert len(plan.keys) == min(map(len, legal), default=0), line["id"]
        assert not legal or frozenset(plan.keys) in legal, line["id"]
    # The project's own copies are too few for every kind.
    assert FULL is None or (outside and outcomes.keys() == {"optimal", "infeasible"})
    assert outcomes["optimal"]


def has_room(cluster: Cluster, asking: Asking) -> bool:
    """Say whether a usable node takes an ask without victims: then these may be anywhere."""
    return any(
        is_usable(cluster, room, asking.ask)
        and fits_in(room.available, asking.ask.resource)
        and pod_fits(cluster, asking, room, ())
        for room in cluster.nodes
    )
