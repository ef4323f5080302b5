"""Random plain trees, with small numbers, so that usage meets quotas again and again."""

from random import Random

from tests.closed_form.fairness import Fairness
from tests.closed_form.tree import Tree, Workload

MOST_WORKLOADS = 8


def draw_tree(random: Random) -> Tree:
    """Draw a tree of one to six cohorts, at most four levels, and two to six queues."""
    width = random.randint(1, 2)
    parent = [-1]
    depth = [0]
    for _ in range(random.randint(0, 5)):
        above = random.choice([node for node, level in enumerate(depth) if level < 3])
        parent.append(above)
        depth.append(depth[above] + 1)
    cohorts = len(parent)
    parent += [random.randrange(cohorts) for _ in range(random.randint(2, 6))]
    nodes = range(len(parent))
    own = random.randrange(cohorts, len(parent))
    named = [frozenset(fr for fr in range(width) if random.random() < 0.9) for _ in nodes]
    known = [set(frs) for frs in named]
    for node in reversed(nodes):
        if parent[node] >= 0:
            known[parent[node]] |= known[node]
    high = random.choice((2, 4, 7))
    lends = random.random()
    return Tree(
        parent=tuple(parent),
        nominal=tuple(
            tuple(random.randint(0, high) if fr in frs else 0 for fr in range(width))
            for frs in named
        ),
        lending=tuple(
            tuple(
                random.randint(0, 3) if fr in frs and random.random() < lends else None
                for fr in range(width)
            )
            for frs in named
        ),
        known=tuple(map(frozenset, known)),
        own=own,
        contested=frozenset(random.sample(range(width), random.randint(1, width))),
        workloads=tuple(
            Workload(
                random.randrange(cohorts, len(parent)),
                tuple(random.randint(0, high) for _ in range(width)),
            )
            for _ in range(random.randint(2, MOST_WORKLOADS))
        ),
        base=tuple(
            tuple(random.randint(0, 3) if node >= cohorts else 0 for _ in range(width))
            for node in nodes
        ),
    )


def draw_fairness(random: Random) -> Fairness:
    """Draw a tree with weights, a request, and strategies; what can be lent is arbitrary."""
    tree = draw_tree(random)
    final, initial = random.choice(((True, False), (False, True), (True, True)))
    resource = tuple(random.randint(0, 1) for _ in range(tree.width))
    return Fairness(
        tree=tree,
        request=tuple(random.randint(0, 4) for _ in range(tree.width)),
        weight=tuple(random.choice((1.0, 1.0, 2.0, 0.3, 0.0)) for _ in tree.parent),
        resource=resource,
        lendable=_lendable(random, tree, max(resource) + 1),
        final=final,
        initial=initial,
        within_nominal=random.random() < 0.1,
    )


def _lendable(random: Random, tree: Tree, resources: int) -> tuple[tuple[int, ...], ...]:
    """Draw per parent, and share among its children, as Kueue does."""
    per_cohort = [
        tuple(random.choice((0, 1, 3, 5, 12)) for _ in range(resources)) for _ in tree.parent
    ]
    return tuple(per_cohort[max(above, 0)] for above in tree.parent)
