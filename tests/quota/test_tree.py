"""The formulas of the tree, on random trees, against a recomputation and one by one."""

import random
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.quantity import MAX_INT64
from planner.quota.kueue.amount import SATURATING, WRAPPING, Arithmetic
from planner.quota.kueue.tree import (
    NO_PARENT,
    FlavorResource,
    Node,
    Quota,
    QuotaTree,
    Shares,
    Usage,
)
from tests.brute_force import node_id
from tests.random_trees import Instance, fair_instances, instances

GPU = 0
FRS = (FlavorResource("default", "gpu"),)


@given(instances())
def test_every_number_equals_the_recomputed_one(instance: Instance) -> None:
    tree, usage, naive = instance.snapshot.tree, instance.snapshot.usage, instance.question.tree
    for n in range(len(tree.nodes)):
        node = node_id(instance.snapshot, n)
        for fr, at in enumerate(tree.frs):
            assert tree.subtree[n][fr] == naive.subtree(node, at)
            assert tree.kept[n][fr] == naive.kept(node, at)
            assert usage.amount[n][fr] == naive.usage(node, at, 0)
            assert usage.available(n, fr) == naive.available(node, at, 0)


@given(fair_instances())
def test_potential_and_known_equal_the_recomputed_ones(instance: Instance) -> None:
    tree, naive = instance.snapshot.tree, instance.question.tree
    for n in range(len(tree.nodes)):
        node = node_id(instance.snapshot, n)
        assert {tree.frs[fr] for fr in tree.known[n]} == naive.known(node)
        for fr, at in enumerate(tree.frs):
            assert tree.potential(n, fr) == naive.potential(node, at)


@given(instances(), st.randoms(use_true_random=False))
def test_removals_in_any_order_equal_the_closed_formula(
    instance: Instance, chance: random.Random
) -> None:
    snapshot, question = instance.snapshot, instance.question
    gone = [holder for holder in instance.holders if chance.random() < 0.6]
    chance.shuffle(gone)
    usage = snapshot.usage.copy()
    for workload in gone:
        usage.remove(workload.queue, workload.usage)
    keys = {workload.key for workload in gone}
    mask = sum(1 << i for i, held in enumerate(question.cluster.held) if held.key in keys)
    for n in range(len(snapshot.tree.nodes)):
        for fr, at in enumerate(snapshot.tree.frs):
            assert usage.amount[n][fr] == question.tree.usage(node_id(snapshot, n), at, mask)
    chance.shuffle(gone)
    for workload in gone:
        usage.add(workload.queue, workload.usage)
    assert usage.amount == snapshot.usage.amount


def test_a_copy_is_independent() -> None:
    tree = QuotaTree(
        [Node("a", NO_PARENT, is_queue=True, active=True, quotas={GPU: Quota(4)})], FRS
    )
    usage = Usage(tree)
    usage.copy().add(0, {GPU: 3})
    assert usage.amount == [[0]]


_FRS = (FlavorResource("a", "cpu"), FlavorResource("b", "cpu"), FlavorResource("a", "gpu"))
_AMOUNTS = (0, 1, 3, 10, 50, 2**61, 2**62, MAX_INT64 - 1, MAX_INT64)


def _tree(chance: Random, arithmetic: Arithmetic) -> QuotaTree:
    def quota() -> Quota:
        limits = [chance.choice((None, None, 0, 2, 20)) for _ in range(2)]
        return Quota(chance.choice((0, 5, 20, 2**61, MAX_INT64)), *limits)

    parents = [NO_PARENT, 0, 0, 1, 1, 2, 0]
    return QuotaTree(
        [
            Node(str(n), parent, n > 2, True, {fr: quota() for fr in range(3)})  # noqa: FBT003
            for n, parent in enumerate(parents)
        ],
        _FRS,
        arithmetic,
    )


def _available(usage: Usage, node: int, fr: int) -> int:
    """docs/semantics/kueue.md §3, word by word."""
    tree, used = usage.tree, usage.amount[node][fr]
    add, subtract = tree.arithmetic.add, tree.arithmetic.subtract
    parent, quota, kept = tree.nodes[node].parent, tree.subtree[node][fr], tree.kept[node][fr]
    if parent == NO_PARENT:
        return subtract(quota, used)
    above = _available(usage, parent, fr)
    limit = tree.borrowing_limit(node, fr)
    if limit is not None:
        taken = max(0, subtract(used, kept))
        above = min(add(subtract(subtract(quota, kept), taken), limit), above)
    return add(max(0, subtract(kept, used)), above)


def _changed(usage: Usage, node: int, fr: int, amount: int, *, gone: bool) -> None:
    tree, row = usage.tree, usage.amount[node]
    add, subtract = tree.arithmetic.add, tree.arithmetic.subtract
    own, used, parent = tree.kept[node][fr], row[fr], tree.nodes[node].parent
    if gone:
        stored = subtract(used, own)
        row[fr] = subtract(used, amount)
        if stored > 0 and parent != NO_PARENT:
            _changed(usage, parent, fr, min(amount, stored), gone=True)
        return
    free = max(0, subtract(own, used))
    row[fr] = add(used, amount)
    if amount > free and parent != NO_PARENT:
        _changed(usage, parent, fr, subtract(amount, free), gone=False)


@pytest.mark.parametrize("arithmetic", [SATURATING, WRAPPING], ids=["saturating", "wrapping"])
@pytest.mark.parametrize("seed", range(40))
def test_usage_changes_as_the_formulas_say(seed: int, arithmetic: Arithmetic) -> None:
    chance = Random(seed)  # noqa: S311 - trees, not secrets
    tree = _tree(chance, arithmetic)
    usage, plain, shares = Usage(tree), Usage(tree), Shares(tree)
    amounts = (*_AMOUNTS, -3, -(2**61), -(2**62)) if arithmetic.wraps else _AMOUNTS
    for _ in range(60):
        node, fr = chance.randrange(3, 7), chance.randrange(3)
        amount = chance.choice(amounts if seed % 2 else amounts[:5])
        gone = chance.random() < 0.4
        if gone and not arithmetic.wraps:  # there nobody may take the short way
            root = tree.path(node)[-2]
            share = shares.without(usage, root, node, {fr: amount})
            usage.remove(node, {fr: amount})
            assert share == shares.share_of(usage, root)
        elif gone:
            usage.remove(node, {fr: amount})
        else:
            usage.add(node, {fr: amount})
        _changed(plain, node, fr, amount, gone=gone)
        assert usage.amount == plain.amount
        for each in range(7):
            assert usage.available(each, fr) == _available(plain, each, fr)
