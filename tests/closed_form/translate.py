"""A state that the product reads, as a plain tree."""

from collections.abc import Mapping

from planner.quota.kueue.tree import NO_PARENT
from tests.brute_force_fair import FairSimulation
from tests.closed_form.fairness import Fairness
from tests.closed_form.tree import Row, Tree, Workload
from tests.random_trees import Instance


class Plain:
    """The preemptor's tree of an instance in plain numbers, and the names of what runs there.

    What cannot be removed because its queue is inactive is part of the base.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        snapshot = instance.snapshot
        root = snapshot.tree.path(instance.preemptor.queue)[-1]
        self.nodes = [n for n in snapshot.tree.top_down if snapshot.tree.path(n)[-1] == root]
        self.position = {node: i for i, node in enumerate(self.nodes)}
        self.width = len(snapshot.tree.frs)
        held = [w for node in self.nodes for w in snapshot.admitted.get(node, ())]
        self.removable = [w for w in held if snapshot.is_active(w.queue)]
        self.fixed = [w for w in held if not snapshot.is_active(w.queue)]

    def keys(self, gone: int) -> frozenset[str]:
        """Return the workloads of a bit mask, as namespace/name."""
        return frozenset(w.key for i, w in enumerate(self.removable) if gone >> i & 1)

    def tree(self) -> Tree:
        """Return the plain tree."""
        simulation, nodes = self.instance.fair_simulation, self.instance.snapshot.tree.nodes
        base = [[0] * self.width for _ in self.nodes]
        for workload in self.fixed:
            for fr, amount in workload.usage.items():
                base[self.position[workload.queue]][fr] += amount
        return Tree(
            parent=tuple(self.position.get(nodes[n].parent, NO_PARENT) for n in self.nodes),
            nominal=tuple(
                tuple(q.nominal if (q := nodes[n].quotas.get(fr)) else 0 for fr in self._frs)
                for n in self.nodes
            ),
            lending=tuple(
                tuple(
                    q.lending_limit if (q := nodes[n].quotas.get(fr)) else None for fr in self._frs
                )
                for n in self.nodes
            ),
            known=tuple(frozenset(simulation.knows(n)) for n in self.nodes),
            own=self.position[self.instance.preemptor.queue],
            contested=frozenset(simulation.contested),
            workloads=tuple(
                Workload(self.position[w.queue], self._row(w.usage)) for w in self.removable
            ),
            base=tuple(map(tuple, base)),
        )

    def fairness(self) -> Fairness:
        """Return the rules of fair sharing on the plain tree."""
        simulation, snapshot = self.instance.fair_simulation, self.instance.snapshot
        resources = sorted({fr.resource for fr in snapshot.tree.frs})
        strategies = snapshot.configuration.strategies
        return Fairness(
            tree=self.tree(),
            request=self._row(simulation.request),
            weight=tuple(snapshot.tree.nodes[n].weight for n in self.nodes),
            resource=tuple(resources.index(fr.resource) for fr in snapshot.tree.frs),
            lendable=tuple(self._lendable(simulation, n, resources) for n in self.nodes),
            final="LessThanOrEqualToFinalShare" in strategies,
            initial="LessThanInitialShare" in strategies,
            within_nominal=simulation.within_nominal,
        )

    @property
    def _frs(self) -> range:
        return range(self.width)

    def _row(self, amounts: Mapping[int, int]) -> Row:
        return tuple(amounts.get(fr, 0) for fr in self._frs)

    def _lendable(self, simulation: FairSimulation, node: int, resources: list[str]) -> Row:
        tree = self.instance.snapshot.tree
        parent = tree.nodes[node].parent
        total = [0] * len(resources)
        for fr in simulation.knows(self.nodes[0]) if parent != NO_PARENT else ():
            total[resources.index(tree.frs[fr].resource)] += simulation.potential(parent, fr)
        return tuple(total)
