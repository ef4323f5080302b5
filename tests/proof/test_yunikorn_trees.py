"""What the verifier derives for YuniKorn holds for every legal set, and trees say what is true.

All sets of small random clusters are judged by the verifier on every node; of recorded ones the
legal sets are known. The two kinds of ask, queues above their max and both sides of the laws take
part.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace

from planner.errors import UnsupportedError
from planner.objective.profiles import Measure
from planner.proof.box import Box
from planner.proof.question import Open
from planner.proof.yunikorn import YuniKornRules
from planner.solver.start import Given
from planner.solver.yunikorn.planning import Laws
from planner.solver.yunikorn.start import start
from tests.conftest import TEST_ALL, some
from tests.proof.yunikorn_sets import (
    MEASURES,
    Counts,
    Keys,
    Sets,
    answered,
    guarded,
    holds,
    planning_of,
    question,
    satisfied,
    single,
)
from tests.solver.yunikorn_truth import YuniKornTruth, truths
from tests.told import told
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    cluster_value,
    machine,
    node,
    of_release,
    pod,
    queue,
    two_queues,
)
from tests.yunikorn.legality import SMALL
from tests.yunikorn.random_clusters import random_cluster, random_lowered, random_pods

LAWS: tuple[Laws, ...] = ("design", "code")
SEEDS = range(400 if TEST_ALL else 4)
PODS = (0, 100, 200)
"""What is added to a seed for asks of which the pods are known."""
TERMS = ("workloads", "excess_freed", "queues")
GPU = {"gpu": 1}


@cache
def drawn(seed: int) -> tuple[Sets, ...]:
    """Return a random ask by both sides of the laws, a lowered queue, and asks with known pods.

    And the ask as older releases have it.
    """
    value = random_cluster(seed, plain=seed % 3 == 0, twins=seed % 5 == 0)
    if seed % 4 == 3:
        value = guarded(seed)
    lower, path = random_lowered(seed, plain=seed % 3 == 0, twins=seed % 5 == 0)
    of_pods = (Sets.tried(random_pods(seed + more, twins=more == 0), "code") for more in PODS)
    older = (Sets.tried(of_release(value, one), "code") for one in ("1.7.0", "1.8.0"))
    asks = (Sets.tried(value, laws) for laws in LAWS)
    return *asks, Sets.tried(lower, "design", path), *of_pods, *older


def decisions() -> Iterator[tuple[str, Sets, YuniKornRules, set[Counts]]]:
    """Yield random asks with their rules and legal sets, with the last tier and without."""
    for seed in SEEDS:
        for sets in drawn(seed):
            for spare in (False, True):
                rules = sets.rules(TERMS, spare=spare)
                legal = sets.counts(rules, sets.sparing() if spare else sets.legal)
                name = f"seed {seed}, {sets.planning.rules}, spare {spare}"
                yield name, sets, rules, legal


def boxes(rules: YuniKornRules) -> list[Box]:
    """Return the root and its parts by nodes."""
    root = rules.root()
    hosts = rules.hosts(root)
    return [root, *(rules.parts(root, "host", None) if hosts else ())]


def test_every_row_holds_for_every_legal_set() -> None:
    """Together: there are values of the further quantities with which all rows hold."""
    broken, rows_seen = [], 0
    for name, sets, rules, legal in decisions():
        asked = question(sets, rules, [])
        for box in boxes(rules):
            rows, ranges = asked.rows(box), asked.ranges(box)
            for counts in legal:
                if holds(box, counts) and not rules.refusal(single(box, counts)):
                    rows_seen += len(rows)
                    if not satisfied(rows.values(), counts, ranges):
                        broken.append((name, counts, box.host))
    assert not broken
    assert rows_seen > 1000


def test_the_parts_by_nodes_have_every_legal_set_once_where_its_need_counts() -> None:
    wrong, seen = [], 0
    for name, sets, rules, legal in decisions():
        root, *parts = boxes(rules)
        for counts in legal:
            seen += 1
            hosts = [
                part.host
                for part in parts
                if holds(part, counts) and not rules.refusal(single(part, counts))
            ]
            need = sets.planning.table.alternative(rules.classes.take(counts))
            if not holds(root, counts) or hosts != [need]:
                wrong.append((name, counts, hosts, need))
    assert not wrong
    assert seen > 100


def test_a_queue_is_touched_or_not() -> None:
    wrong = []
    for name, _, rules, legal in decisions():
        for box in boxes(rules):
            for leaf in range(len(rules.leaves)):
                without, touched = rules.parts(box, "below", rules.name(leaf))
                row = dict(rules.rows(touched))[f"touched {rules.name(leaf)}"]
                for counts in legal:
                    taken = np.array(counts)
                    has = int((row.amounts * taken[row.classes]).sum()) >= row.least
                    if holds(box, counts) and holds(without, counts) == has:
                        wrong.append((name, counts, leaf))
    assert not wrong


def test_no_box_with_a_legal_set_is_refused() -> None:
    refused, seen = [], 0
    for name, _, rules, legal in decisions():
        chance = Random(name)  # noqa: S311 - test data
        for box in boxes(rules):
            for counts in sorted(legal):
                if not holds(box, counts) or rules.refusal(single(box, counts)):
                    continue
                for _ in range(3):
                    least = [chance.randint(0, n) for n in counts]
                    room = zip(counts, box.most.tolist(), strict=True)
                    most = [chance.randint(n, high) for n, high in room]
                    part = replace(box, least=np.array(least), most=np.array(most))
                    seen += 1
                    if rules.refusal(part):
                        refused.append((name, counts, rules.refusal(part)))
    assert not refused
    assert seen > 1000


def test_single_sets_are_refused_exactly_if_they_are_illegal() -> None:
    for name, _, rules, legal in decisions():
        root = rules.root()
        sets = np.ndindex(*(root.most + 1).tolist())
        assert legal == {c for c in sets if not rules.refusal(single(root, c))}, name


def prove(sets: Sets, legal: frozenset[Keys], measure: Measure, *, spare: bool = False) -> int:
    """Prove that there is no better set, and find one where there is; return the steps."""
    rules = sets.rules(measure, spare=spare)
    values = {keys: sets.value(measure, keys) for keys in legal}
    best = min(values.values())
    proof = answered(question(sets, rules, [(measure, best - 1)]))
    assert proof.steps is not None, (measure, proof)
    found = answered(question(sets, rules, [(measure, best)]))
    assert found.better is not None
    assert found.better in sets.counts(rules, [k for k, v in values.items() if v == best])
    return len(proof.steps)


def test_a_tree_is_found_exactly_where_no_legal_set_is_better() -> None:
    proved, steps = 0, 0
    for seed in SEEDS:
        for sets in drawn(seed):
            for spare in (False, True):
                legal = sets.sparing() if spare else sets.legal
                for measure in MEASURES if legal else ():
                    steps += prove(sets, legal, measure, spare=spare)
                    proved += 1
    assert proved > 100
    assert steps < 20 * proved


def test_a_tree_says_that_there_is_no_legal_set() -> None:
    outcomes = set()
    for name, sets, rules, legal in decisions():
        found = answered(question(sets, rules, []))
        assert (found.steps is None) == bool(legal), name
        if found.better is not None:
            assert found.better in legal, name
        outcomes.add(bool(legal))
    assert outcomes == {True, False}


def test_levels_one_after_the_other() -> None:
    for seed in SEEDS:
        first, second = Random(seed).sample(MEASURES, 2)  # noqa: S311 - test data
        for sets in drawn(seed):
            if sets.legal:
                among = [(sets.value(first, k), sets.value(second, k)) for k in sets.legal]
                best = min(among)
                rules = sets.rules((*first, *second))
                bounds = [(first, best[0]), (second, best[1] - 1)]
                assert answered(question(sets, rules, bounds)).steps is not None, seed


@pytest.mark.parametrize(("name", "laws"), some(product(SMALL, LAWS), 3))
def test_recorded_legal_sets(name: str, laws: Laws) -> None:
    """The lists do not look at YK-11, so only asks that may preempt take part."""
    proved = 0
    for truth in truths(name, laws):
        planning = recorded(truth)
        if planning is None:
            continue
        rules = planning.rules(TERMS)
        found = answered(question(planning, rules, []))
        assert (found.steps is None) == bool(truth.legal), truth.id
        for measure in (
            (("workloads",), ("lost_work", "restart_cost"), ("workloads", "excess_freed", "queues"))
            if truth.legal
            else ()
        ):
            prove(planning, planning.legal, measure)
            proved += 1
    assert proved


def recorded(truth: YuniKornTruth) -> Sets | None:
    planning = start(truth.state, Given(truth.ask, rules=truth.laws))
    return Sets(planning, frozenset(truth.legal)) if planning.problem.may_preempt else None


def test_a_mutated_tree_is_refused_unless_it_is_a_proof() -> None:
    """A tree for a bound that a legal set keeps to would be a false proof: none is accepted."""
    tried = 0
    for seed in SEEDS:
        for sets in drawn(seed):
            for measure in MEASURES if sets.legal else ():
                rules = sets.rules(measure)
                best = min(sets.value(measure, keys) for keys in sets.legal)
                proof = answered(question(sets, rules, [(measure, best - 1)]))
                assert proof.steps is not None
                tried += 1
                with pytest.raises(Open):
                    question(sets, rules, [(measure, best)]).check(proof.steps)
                with pytest.raises(Open):
                    question(sets, rules, [(measure, best - 1)]).check(proof.steps[:-1])
    assert tried > 100


def test_a_thousand_nodes_are_split_at_once() -> None:
    """Each node has three devices in use by two queues, of which the ask wants two."""
    names = [f"n{number:04}" for number in range(1000)]
    held = [[allocation(f"{on}-{i}", GPU, i + 1, on=on) for i in range(3)] for on in names]
    nodes = [node(on, {"gpu": 3}) for on in names]
    value = cluster_value(
        [queue("low"), queue("high", guaranteed={"gpu": 2})],
        nodes,
        [
            application("runs", "root.low", *(one for each in held for one in each)),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 2}),)),
        ],
    )
    sets = Sets(planning_of(value), frozenset())
    rules = sets.rules(("workloads",))
    parts = rules.parts(rules.root(), "host", None)
    assert len(parts) == 1000
    asked = question(sets, rules, [(("workloads",), 1)])
    proof = answered(asked)
    assert proof.steps is not None


def test_nodes_that_hold_too_little_are_no_parts() -> None:
    value = two_queues(allocation("a", GPU), size=1)
    value["nodes"][0]["nodesInfo"].append(node("n2", {"gpu": 1}, available={"gpu": 0}))
    rules = Sets(planning_of(value), frozenset()).rules(("workloads",))
    assert rules.hosts(rules.root()) == [0]
    assert rules.host(rules.root()) == 0


@pytest.mark.parametrize(("split", "at"), [("over", None), ("host", "n1"), ("below", "root")])
def test_there_are_no_other_splits(split: str, at: str | None) -> None:
    rules = Sets(planning_of(two_queues(allocation("a", GPU))), frozenset()).rules(("workloads",))
    with pytest.raises(ValueError, match="no cases"):
        rules.parts(rules.root(), split, at)


def test_amounts_are_refused_that_the_core_itself_cannot_add_up() -> None:
    """Its sums end at 2^63 below nothing: three removals of 2^62 from 2^63 - 1 end before."""
    disk = {"gpu": 1, "disk": 2**62}
    few, many = ([allocation(f"a{i}", disk) for i in range(number)] for number in (3, 4))
    Sets(planning_of(two_queues(*few)), frozenset()).rules(("workloads",))
    with pytest.raises(UnsupportedError) as caught:
        Sets(planning_of(two_queues(*many)), frozenset()).rules(("workloads",))
    told(caught.value)


def test_what_the_pod_lacks_is_a_row_and_tells_classes_apart() -> None:
    """To the core a and b are equal; only b has the port that the ask's pod wants."""
    port = {"ports": [{"hostPort": 80}]}
    pods = [pod("a", "n1"), pod("b", "n1", container=port), pod("ask", container=port)]
    value = two_queues(allocation("a", GPU), allocation("b", GPU), size=2)
    sets = Sets.tried({**value, "objects": [*pods, machine("n1", gpus=2)]}, "design")
    assert sets.legal == {frozenset("b"), frozenset("ab")}
    rules = sets.rules(("workloads",))
    root, legal = rules.root(), sets.counts(rules, sets.legal)
    assert root.most.tolist() == [1, 1]
    rows = [row for _, row in rules.rows(root)]
    every = np.ndindex(*(root.most + 1).tolist())
    assert legal == {counts for counts in every if satisfied(rows, counts, rules.ranges)}
