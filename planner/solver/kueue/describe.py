"""Victim sets as plans: the records that are printed and verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from planner.assignment import Assignment, contested, total_request
from planner.objective.terms import TermTable
from planner.plan import (
    Amount,
    Certificate,
    Demand,
    KueueRelease,
    NodeShare,
    Plan,
    QuotaNode,
    Status,
    Victim,
)
from planner.problem.kueue import Problem
from planner.quantity import format_units
from planner.quota.share import Shares
from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.tree import NO_PARENT, Usage
from planner.solver.kueue.quota_tree import TouchedTree
from planner.state.kep83 import Kep83


@dataclass(frozen=True)
class Subject:
    """What every plan for one preemptor has in common; ``kep83`` are options of those rules."""

    snapshot: Snapshot
    preemptor: Preemptor
    assignment: Assignment
    kep83: Kep83 | None = None

    @property
    def cluster_queue(self) -> str:
        """The name of the preemptor's ClusterQueue."""
        return self.snapshot.queue_name(self.preemptor.queue)

    def plan(  # noqa: PLR0913 - the fields of a plan that differ
        self,
        algorithm: Literal["kueue", "optimum"],
        status: Status,
        explanation: str,
        *,
        objective: str,
        victims: Sequence[Victim] = (),
        borrowing: bool | None = None,
        terms: Mapping[str, int] | None = None,
        certificate: Certificate | None = None,
        greedy: Plan | None = None,
    ) -> Plan:
        """Return a plan of this preemptor."""
        snapshot, preemptor = self.snapshot, self.preemptor
        after = self._after(victims)
        touched = sorted({snapshot.node_of[victim.cluster_queue] for victim in victims})
        return Plan(
            rules=self._rules,
            algorithm=algorithm,
            status=status,
            explanation=explanation,
            objective=objective,
            preemptor=preemptor.key,
            cluster_queue=self.cluster_queue,
            priority=preemptor.priority,
            now=snapshot.now,
            assignment=self.assignment,
            demand=self._demand(),
            borrowing=borrowing,
            victims=tuple(victims),
            terms=dict(terms or {}),
            shares=self._shares(after, touched),
            tree=self._tree(after, touched),
            certificate=certificate,
            greedy=greedy,
            kep83=self.kep83,
            kueue=KueueRelease(
                release=snapshot.configuration.release.name,
                known_by=snapshot.configuration.release_known_by,
            ),
            notes=tuple(snapshot.notes),
        )

    @property
    def _rules(self) -> Literal["kueue-classical", "kueue-fair", "kep83"]:
        if self.kep83 is not None:
            return "kep83"
        fair = self.snapshot.configuration.fair_sharing_on
        return "kueue-fair" if fair else "kueue-classical"

    @cached_property
    def _request(self) -> Mapping[int, int]:
        return total_request(self.assignment, self.preemptor, self.snapshot)

    def _after(self, victims: Iterable[Victim]) -> Usage:
        """Return the usage with the request counted and the victims gone."""
        snapshot = self.snapshot
        after = snapshot.usage.copy()
        after.add(self.preemptor.queue, self._request)
        for victim in victims:
            held = {snapshot.fr(one.flavor, one.resource): one.units for one in victim.usage}
            after.remove(snapshot.node_of[victim.cluster_queue], held)
        return after

    def _tree(self, after: Usage, touched: Iterable[int]) -> tuple[QuotaNode, ...]:
        """Return the tree around the plan, contested flavor-resources first."""
        snapshot = self.snapshot
        short = contested(self.assignment, snapshot)
        frs = sorted({*self._request, *short}, key=lambda fr: (fr not in short, fr))
        around = TouchedTree(snapshot.tree, snapshot.usage, after, frs)
        return around.nodes(self.preemptor.queue, touched) if frs else ()

    def _shares(self, after: Usage, touched: Iterable[int]) -> tuple[NodeShare, ...]:
        """Return the shares of the queues and cohorts touched, the preemptor's side first."""
        snapshot, preemptor = self.snapshot, self.preemptor
        if not snapshot.configuration.fair_sharing_on:
            return ()
        tree, shares = snapshot.tree, Shares(snapshot.tree)
        with_preemptor = snapshot.usage.copy()
        with_preemptor.add(preemptor.queue, self._request)
        nodes = [node for queue in (preemptor.queue, *touched) for node in tree.path(queue)]
        return tuple(
            NodeShare(
                name=tree.nodes[node].name,
                kind="ClusterQueue" if tree.nodes[node].is_queue else "Cohort",
                weight=tree.nodes[node].weight,
                before=shares.of(snapshot.usage, node).weighted,
                with_preemptor=shares.of(with_preemptor, node).weighted,
                after=shares.of(after, node).weighted,
            )
            for node in dict.fromkeys(nodes)
            if tree.nodes[node].parent != NO_PARENT
        )

    def _demand(self) -> tuple[Demand, ...]:
        snapshot = self.snapshot
        request = self._request
        short = contested(self.assignment, snapshot)
        rows = []
        for fr in sorted({*request, *short}):
            flavor, resource = snapshot.tree.frs[fr]
            available = snapshot.usage.available(self.preemptor.queue, fr)
            amount = request.get(fr, 0)
            rows.append(
                Demand(
                    flavor=flavor,
                    resource=resource,
                    requested=amount,
                    available=max(0, available),
                    shortfall=max(0, amount - available) if amount else 0,
                    quantity=format_units(amount, resource),
                    contested=fr in short,
                )
            )
        return tuple(rows)


def describe_victims(  # noqa: PLR0913, PLR0917 - tables, and what to look up in them
    problem: Problem,
    table: TermTable,
    snapshot: Snapshot,
    positions: Sequence[int],
    codes: Sequence[str],
    place: Mapping[int, int],
) -> tuple[Victim, ...]:
    """Return the victims at positions of the problem's workloads, in the order given.

    ``codes`` are their reasons; ``place`` maps a position to its place in the scheduler's
    candidate order, from 1.
    """
    return tuple(
        _victim(table, snapshot, problem.workloads[position], position, code, place[position])
        for position, code in zip(positions, codes, strict=True)
    )


def _victim(  # noqa: PLR0913, PLR0917 - a workload, its place and its reason
    table: TermTable,
    snapshot: Snapshot,
    workload: Admitted,
    position: int,
    reason: str,
    place: int,
) -> Victim:
    fields: dict[str, Any] = {
        "workload": workload.key,
        "cluster_queue": snapshot.queue_name(workload.queue),
        "reason": reason,
        "priority": workload.priority,
        "position": place,
        "age_s": table.disruptions[position].running_s,
        "evicted": workload.evicted,
        "usage": tuple(
            Amount(
                flavor=snapshot.tree.frs[fr].flavor,
                resource=snapshot.tree.frs[fr].resource,
                units=amount,
                quantity=format_units(amount, snapshot.tree.frs[fr].resource),
            )
            for fr, amount in sorted(workload.usage.items())
        ),
        "costs": table.costs_of(position),
    }
    return Victim(**fields)
