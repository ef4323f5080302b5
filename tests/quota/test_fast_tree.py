"""What is computed in short ways, against the formulas one by one, on trees made up at random."""

from __future__ import annotations

from random import Random

import pytest

from planner.quantity import MAX_INT64
from planner.quota.kueue.amount import SATURATING, WRAPPING, Arithmetic
from planner.quota.kueue.share import Shares
from planner.quota.kueue.tree import NO_PARENT, FlavorResource, Node, Quota, QuotaTree, Usage

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
            assert share == shares.of(usage, root)
        elif gone:
            usage.remove(node, {fr: amount})
        else:
            usage.add(node, {fr: amount})
        _changed(plain, node, fr, amount, gone=gone)
        assert usage.amount == plain.amount
        for each in range(7):
            assert usage.available(each, fr) == _available(plain, each, fr)
