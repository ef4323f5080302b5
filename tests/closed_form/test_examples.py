"""The examples of docs/explanation/closed-form.md, each of which refutes a simpler condition.

Node 0 is the cohort at the root, node 1 the preemptor's queue; the numbers are those of the page.
"""

from tests.closed_form import condition, steps
from tests.closed_form.fairness import Fairness
from tests.closed_form.tree import Row, Tree, Usage, Workload

GPU = (0,)
NOTHING, FIRST, SECOND, BOTH = 0b00, 0b01, 0b10, 0b11


def tree_of(
    parent: Row, nominal: Usage, workloads: list[tuple[int, Row]], base: Usage | None = None
) -> Tree:
    """Return a tree without limits in which everything is contested."""
    width = len(nominal[0])
    every = frozenset(range(width))
    return Tree(
        parent=parent,
        nominal=nominal,
        lending=((None,) * width,) * len(parent),
        known=(every,) * len(parent),
        own=1,
        contested=every,
        workloads=tuple(Workload(queue, holds) for queue, holds in workloads),
        base=base or ((0,) * width,) * len(parent),
    )


def lender(*holds: int) -> Tree:
    """Return a cohort of two queues with 4 GPUs each; the second one runs jobs of these sizes."""
    return tree_of((-1, 0, 0), ((0,), (4,), (4,)), [(2, (size,)) for size in holds])


def legal(tree: Tree) -> set[int]:
    """Return the sets that the steps reach, which the condition must permit."""
    found = steps.classical(tree)
    assert condition.classical(tree) == found
    return found


def test_over_quota_at_the_start_is_not_enough() -> None:
    """Of two jobs of 3 with a quota of 4 either may go, but not both."""
    assert legal(lender(3, 3)) == {NOTHING, FIRST, SECOND}


def test_over_quota_at_the_end_is_too_much() -> None:
    """One job of 6 with a quota of 4 may go, though nothing is left then."""
    assert legal(lender(6)) == {NOTHING, FIRST}


def test_not_every_victim_must_be_able_to_be_the_last() -> None:
    """A job of 1 and one of 5: both may go, the small one first."""
    tree = lender(1, 5)
    assert legal(tree) == {NOTHING, FIRST, SECOND, BOTH}
    assert tree.usage_without(FIRST)[2] == (5,)
    assert tree.usage_without(SECOND)[2] == (1,)


def test_last_victims_must_be_nested() -> None:
    """Queue and cohort each have a last victim, but not the same one.

    Nodes: root, own queue, cohort C, queue L below it with jobs x and y, queue M below it.
    Amounts: CPU, GPU.
    """
    tree = tree_of(
        (-1, 0, 0, 2, 2),
        ((0, 0), (0, 0), (0, 0), (2, 9), (5, 0)),
        [(3, (3, 0)), (3, (0, 3))],
        ((0, 0), (0, 0), (0, 0), (0, 0), (0, 7)),
    )
    cohort, queue = 2, 3
    assert tree.quota[cohort] == (7, 9)
    assert tree.usage_without(NOTHING)[cohort] == (3, 10)
    assert tree.usage_without(SECOND)[queue] == (3, 0)  # over 2 CPUs while x is left
    assert tree.usage_without(FIRST)[queue] == (0, 3)  # within while y is left
    assert tree.usage_without(SECOND)[cohort] == (3, 7)  # within while x is left
    assert tree.usage_without(FIRST)[cohort] == (0, 10)  # over 9 GPUs while y is left
    assert legal(tree) == {NOTHING, FIRST, SECOND}


def pool(*, final: bool, initial: bool) -> Fairness:
    """Return a pool of 20 GPUs: own queue with a job of 3, the other with jobs of 5 and 6."""
    tree = tree_of(
        (-1, 0, 0), ((20,), (0,), (0,)), [(1, (3,)), (2, (5,)), (2, (6,))], ((0,), (3,), (0,))
    )
    return Fairness(
        tree=tree,
        request=(2,),
        weight=(1.0, 1.0, 1.0),
        resource=GPU,
        lendable=((0,), (20,), (20,)),
        final=final,
        initial=initial,
        within_nominal=False,
    )


def fairly(rules: Fairness) -> set[int]:
    found = steps.fair(rules)
    assert condition.fair(rules) == found
    return found


def test_fair_sets_have_subsets_that_are_not() -> None:
    """The job of 6 may go once the own job of 3 is gone, and not without it."""
    own, five, six = 0b001, 0b010, 0b100
    rules = pool(final=True, initial=False)
    # With the request the own queue has share 400, 250 without its job of 3.
    assert [rules.share(rules.tree.usage_without(s, rules.request), 1)[1] for s in (0, own)] == [
        400.0,
        250.0,
    ]
    # The other one has 550, and 300, 250 and 0 without the job of 5, of 6 and both.
    assert fairly(rules) == {NOTHING, own, own | five, own | six}


def test_fair_sets_by_the_share_before() -> None:
    """By the share before, 550, the first job may go in any case, and no second one.

    After the own job the own side has 250: a second one may go while the other side has more,
    which is so with the job of 6 left, 300, and not with the job of 5 left, 250.
    """
    own, five, six = 0b001, 0b010, 0b100
    assert fairly(pool(final=False, initial=True)) == {
        NOTHING,
        own,
        five,
        six,
        own | five,
        own | six,
        own | five | six,
    }
