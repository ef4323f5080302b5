"""Dominant resource shares: docs/semantics/kueue.md §6.1."""

from hypothesis import given

from planner.quota.kueue.assignment import total_request
from planner.quota.kueue.tree import (
    NO_PARENT,
    FlavorResource,
    Node,
    Quota,
    QuotaTree,
    Share,
    Shares,
    Usage,
)
from tests.brute_force import node_id
from tests.oracle import fair as by_oracle
from tests.random_trees import Instance, fair_instances

FRS = (
    FlavorResource("spot", "gpu"),
    FlavorResource("reserved", "gpu"),
    FlavorResource("spot", "cpu"),
)
SPOT, RESERVED, CPU = range(3)


def small_tree() -> QuotaTree:
    """Return a cohort of 6 + 2 gpus in two flavors, all lent to queue a, and no cpu."""
    org = {SPOT: Quota(6), RESERVED: Quota(2), CPU: Quota(0)}
    none = {SPOT: Quota(0), RESERVED: Quota(0), CPU: Quota(0)}
    return QuotaTree(
        [
            Node("org", NO_PARENT, is_queue=False, active=True, quotas=org),
            Node("a", 0, is_queue=True, active=True, quotas=none),
        ],
        FRS,
    )


def share_of(tree: QuotaTree, amounts: dict[int, int], node: int = 1) -> Share:
    usage = Usage(tree)
    usage.add(1, amounts)
    return Shares(tree).share_of(usage, node)


def test_a_root_has_no_share() -> None:
    assert share_of(small_tree(), {SPOT: 9}, node=0) == Share(0.0, 1.0, borrowing=False)


def test_shares_compare_as_kueue_compares_them() -> None:
    """Weight 0 with a ratio is above everything; two of them by their ratios."""
    zero_small, zero_large = Share(1.0, 0.0, borrowing=True), Share(2.0, 0.0, borrowing=True)
    heavy, light = Share(900.0, 3.0, borrowing=True), Share(400.0, 1.0, borrowing=True)
    idle = Share(0.0, 0.0, borrowing=True)
    ascending = [idle, heavy, light, zero_small, zero_large]
    assert sorted(ascending, key=lambda share: share.order) == ascending
    assert idle.order < heavy.order < light.order < zero_small.order < zero_large.order


def test_doubles_are_divided_in_kueues_order() -> None:
    """First times 1000, then by what is lendable: 1 of 11 is 90.9090..., in just this double."""
    tree = QuotaTree(
        [
            Node("org", NO_PARENT, is_queue=False, active=True, quotas={SPOT: Quota(11)}),
            Node("a", 0, is_queue=True, active=True, quotas={SPOT: Quota(0)}),
        ],
        FRS,
    )
    assert share_of(tree, {SPOT: 3}).ratio == 3.0 * 1000.0 / 11.0


@given(fair_instances())
def test_every_share_equals_the_recomputed_one(instance: Instance) -> None:
    snapshot, naive = instance.snapshot, by_oracle.Shares(instance.question)
    usage = snapshot.usage.copy()
    request = total_request(instance.assignment, instance.preemptor, snapshot)
    usage.add(instance.preemptor.queue, request)
    shares = Shares(snapshot.tree)
    for at in range(len(snapshot.tree.nodes)):
        node, found = node_id(snapshot, at), shares.share_of(usage, at)
        assert found.borrowing == naive.borrows(node, 0)
        assert found.weight == naive.tree.nodes[node].weight
        infinite = found.weight == 0 and found.ratio != 0
        value = found.ratio if infinite or not found.ratio else found.ratio / found.weight
        assert naive.share(node, 0) == (infinite, value)
