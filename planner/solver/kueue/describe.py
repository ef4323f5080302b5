"""Victim sets as plans: the records that are printed and verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planner.assignment import Assignment, contested, total_request
from planner.objective.terms import TermTable
from planner.plan import Amount, Certificate, Demand, NodeShare, Plan, Status, Victim
from planner.problem.kueue import Problem
from planner.quantity import format_units
from planner.quota.share import Shares
from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.tree import NO_PARENT


@dataclass(frozen=True, slots=True)
class Subject:
    """What every plan for one preemptor has in common."""

    snapshot: Snapshot
    preemptor: Preemptor
    assignment: Assignment

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
        return Plan(
            rules="kueue-fair" if snapshot.configuration.fair_sharing_on else "kueue-classical",
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
            shares=self._shares([victim.workload for victim in victims]),
            certificate=certificate,
            greedy=greedy,
            notes=tuple(snapshot.notes),
        )

    def _shares(self, victims: Sequence[str]) -> tuple[NodeShare, ...]:
        """Return the shares of the queues and cohorts touched, the preemptor's side first."""
        snapshot, preemptor = self.snapshot, self.preemptor
        if not snapshot.configuration.fair_sharing_on:
            return ()
        tree, shares = snapshot.tree, Shares(snapshot.tree)
        request = total_request(self.assignment, preemptor, snapshot)
        with_preemptor = snapshot.usage.copy()
        with_preemptor.add(preemptor.queue, request)
        after = with_preemptor.copy()
        touched = dict.fromkeys(tree.path(preemptor.queue))
        gone = set(victims)
        for queue, workloads in snapshot.admitted.items():
            for workload in workloads:
                if workload.key in gone:
                    after.remove(queue, workload.usage)
                    touched |= dict.fromkeys(tree.path(queue))
        return tuple(
            NodeShare(
                name=tree.nodes[node].name,
                kind="ClusterQueue" if tree.nodes[node].is_queue else "Cohort",
                weight=tree.nodes[node].weight,
                before=shares.of(snapshot.usage, node).weighted,
                with_preemptor=shares.of(with_preemptor, node).weighted,
                after=shares.of(after, node).weighted,
            )
            for node in touched
            if tree.nodes[node].parent != NO_PARENT
        )

    def _demand(self) -> tuple[Demand, ...]:
        snapshot = self.snapshot
        request = total_request(self.assignment, self.preemptor, snapshot)
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
        "costs": {term: int(costs[position]) for term, costs in table.separable.items()},
    }
    return Victim(**fields)
