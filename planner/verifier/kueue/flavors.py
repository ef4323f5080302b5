"""KF-01: the flavors of a plan are ones that the rules permit, whoever chose them.

Written from docs/semantics/kueue.md §4.1 to §4.4, without the preferences of §4.5 and §4.6:
those choose among permitted flavors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from planner.laws import Register
from planner.laws.kueue import KF_PERMITTED
from planner.plan import Verdict
from planner.quota.kueue.amount import saturating_add, subtract
from planner.quota.kueue.assignment import Assignment, PodSetFlavors
from planner.quota.kueue.preemptor import replaced_by
from planner.quota.kueue.request import PodSetRequest
from planner.state.queues import ResourceGroup
from planner.verifier.kueue.setting import Setting, say_amount, say_node
from planner.verifier.kueue_topology.leaves import obstacle_between
from planner.verifier.wording import judge

CHECKS: Final[Register[Callable[[Setting, Assignment], Verdict]]] = Register()
"""The check of every law about flavors, by the law's id."""


@dataclass(slots=True)
class _Group:
    """Podsets that get their flavors together, with those that a plan gives to each.

    ``places`` are the positions of the podsets in the spec.
    """

    members: list[tuple[PodSetRequest, PodSetFlavors]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        names = [f'"{request.name}"' for request, _ in self.members]
        return f"podset{'s' if len(names) > 1 else ''} {' and '.join(names)}"

    def asks(self) -> dict[str, int]:
        total: dict[str, int] = {}
        for request, _ in self.members:
            for resource, amount in request.totals.items():
                total[resource] = saturating_add(total.get(resource, 0), amount)
        return total


@CHECKS.of(KF_PERMITTED)
def permitted_flavors(setting: Setting, assignment: Assignment) -> Verdict:
    """KF-01: every podset gets flavors that its resource groups list and the rules permit.

    Podsets of one podset group count as one. For each resource group with requests: one flavor;
    it is listed and exists; taints and labels permit it, and no flavor listed before it has
    labels on which the podset's selector is invalid. A slice of an elastic workload keeps the
    flavors of the slice it replaces, and asks for the rest only. With val = the request plus
    that of the podsets before: val <= potential(q, fr); the mode is Fit iff val <= max(0,
    available(q, fr)); else val <= nominal(q, fr), or the cohort could give it back, or q may
    preempt while borrowing. The queue is active. Source: docs/semantics/kueue.md §2, §4.1 to §4.4.
    """
    findings: list[str] = []
    if not setting.snapshot.is_active(setting.queue):
        findings.append(f"{say_node(setting.snapshot, setting.queue)} is inactive")
    assumed: dict[int, int] = {}
    for group in _groups(setting, assignment):
        findings += _uncovered(setting, group)
        for covering in setting.snapshot.queues[setting.queue].spec.resource_groups:
            findings += _check(setting, group, covering, assumed)
    holds = ", ".join(dict.fromkeys(choice.flavor for _, choice in assignment.choices()))
    return judge(KF_PERMITTED, findings, f"flavors {holds}" if holds else "no flavor is needed")


def _groups(setting: Setting, assignment: Assignment) -> Iterator[_Group]:
    covered = setting.snapshot.queues[setting.queue].spec.resource_groups
    counts_pods = any("pods" in covering.covered_resources for covering in covered)
    groups: dict[tuple[str, int], _Group] = {}
    # An assignment that leaves out podsets breaks KQ-01 already, in words of its own.
    pairs = zip(setting.preemptor.pod_sets, assignment.pod_sets, strict=False)
    for position, (base, pods) in enumerate(pairs):
        request = base if pods.count is None else base.scaled(pods.count)
        if counts_pods:
            # Set, not added: what a podset itself asks for as `pods` does not count (§4.1).
            totals = {**request.totals, "pods": request.count}
            request = PodSetRequest(request.pod_set, request.count, totals)
        topology = request.pod_set.topology_request
        shared = topology.pod_set_group_name if topology else ""
        # Without a group name every podset is a group of its own, also if two share a template.
        key = (shared, -1) if shared else ("", position)
        group = groups.setdefault(key, _Group())
        group.members.append((request, pods))
        group.places.append(position)
    yield from groups.values()


def _uncovered(setting: Setting, group: _Group) -> Iterator[str]:
    spec = setting.snapshot.queues[setting.queue].spec
    covered = {name for covering in spec.resource_groups for name in covering.covered_resources}
    if not setting.snapshot.configuration.rules.skips_undeclared_zero:
        for resource, amount in group.asks().items():
            if resource not in covered and not amount:
                yield f"{group.name} asks for 0 of {resource}, which this release refuses"
    for _, pods in group.members:
        for resource in pods.flavors:
            if resource not in covered:
                queue = say_node(setting.snapshot, setting.queue)
                yield f"{group.name} gets a flavor for {resource}, which {queue} does not cover"


def _check(
    setting: Setting, group: _Group, covering: ResourceGroup, assumed: dict[int, int]
) -> Iterator[str]:
    """Judge the choice for one resource group; ``assumed`` grows by what is asked for."""
    wanted = {r: n for r, n in group.asks().items() if r in covering.covered_resources}
    if not wanted:
        return
    # The flavors that the podsets get for resources they ask for, each once.
    chosen = dict.fromkeys(
        pods.flavors[resource].flavor
        for request, pods in group.members
        for resource in wanted
        if resource in request.totals and resource in pods.flavors
    )
    if len(chosen) != 1:
        flavors, resources = " and ".join(chosen) or "no flavor", ", ".join(wanted)
        yield f"{group.name} gets {flavors} for {resources}: not one"
        return
    (flavor,) = chosen
    yield from _eligibility(setting, group, covering, flavor)
    replaced = replaced_by(setting.snapshot, setting.preemptor)
    for resource, total in wanted.items():
        amount = total
        for old in () if replaced is None else map(replaced.at, group.places):
            if old.flavors.get(resource) != flavor:
                had = old.flavors.get(resource, "no flavor")
                yield f"{group.name} had {had} for {resource} before, and gets {flavor}"
            # A slice asks for the difference only, but must keep the flavor of the old slice.
            amount = subtract(amount, old.amounts.get(resource, 0))
        fr = setting.snapshot.fr_or_none(flavor, resource)
        # A flavor-resource without quota at any node has potential 0: no positive request fits.
        if fr is None:
            if amount > 0:
                yield f"nothing has quota for {resource} in flavor {flavor}"
            continue
        # Kueue tests each podset with those before it, on a snapshot that does not change (§4.3).
        value = assumed[fr] = saturating_add(assumed.get(fr, 0), amount)
        choices = [pods.flavors.get(resource) for _, pods in group.members]
        modes: set[str] = {choice.mode for choice in choices if choice is not None}
        yield from _amount_faults(setting, modes, fr, value)


def _eligibility(
    setting: Setting, group: _Group, covering: ResourceGroup, flavor: str
) -> Iterator[str]:
    """Walk the listed flavors up to the chosen one."""
    listed = [quotas.name for quotas in covering.flavors]
    if flavor not in listed:
        yield f"flavor {flavor} of {group.name} is not one of its resource group: {listed}"
        return
    allowed = setting.preemptor.workload.allowed_flavors
    if allowed is not None and setting.snapshot.configuration.gate("ConcurrentAdmission"):
        if flavor not in allowed:
            yield f"{group.name} may not have flavor {flavor}: its variant has {sorted(allowed)}"
        listed = [name for name in listed if name in allowed or name == flavor]
    flavors = setting.snapshot.flavors
    # In older releases the label keys of all listed flavors count.
    rules = setting.snapshot.configuration.rules
    others = [] if rules.own_label_keys else [flavors[name] for name in listed if name in flavors]
    # Flavors listed before the chosen one matter: a selector that is invalid on one is an error,
    # which ends Kueue's walk there. That an earlier flavor would have done as well is no fault.
    for name in listed[: listed.index(flavor) + 1]:
        known = flavors.get(name)
        if known is None:
            if name == flavor:
                yield f"there is no ResourceFlavor {flavor}"
            continue
        for request, _ in group.members:
            pod, numbers = request.pod_set.template.spec, rules.compares_tolerations
            obstacle = obstacle_between(pod, known, others, numbers=numbers)
            if obstacle is None:
                continue
            if name == flavor or obstacle.fatal:
                yield f'podset "{request.name}" may not use flavor {name}: {obstacle.text}'
            break


def _amount_faults(setting: Setting, modes: set[str], fr: int, value: int) -> Iterator[str]:
    """Judge an amount: within what could ever be used, and in the right mode."""
    snapshot, queue = setting.snapshot, setting.queue
    tree = snapshot.tree
    # An amount that could never be used is NoFit, even with nothing running; usage plays no part.
    if value > tree.potential(queue, fr):
        yield (
            f"{say_amount(snapshot, fr, value)} is more than {say_node(snapshot, queue)} could "
            f"ever use: {say_amount(snapshot, fr, tree.potential(queue, fr), named=False)}"
        )
        return
    mode = "Fit" if value <= max(0, snapshot.usage.available(queue, fr)) else "Preempt"
    if modes != {mode}:
        yield f"{say_amount(snapshot, fr, value)}: the mode is {mode}, not {sorted(modes)}"
    policy, fair = setting.policy, snapshot.configuration.fair_sharing_on
    entitled = (
        value <= tree.nominal(queue, fr)
        or _may_reclaim(setting, fr, value)
        # Or it may preempt while it borrows.
        or policy.borrow_within_cohort.policy != "Never"
        or (fair and policy.reclaim_within_cohort != "Never")
    )
    if mode == "Preempt" and not entitled:
        yield (
            f"{say_amount(snapshot, fr, value)} is beyond the quota of "
            f"{say_node(snapshot, queue)}, which may not preempt while it borrows"
        )


def _may_reclaim(setting: Setting, fr: int, value: int) -> bool:
    """Say whether the amount fits in a quota below the root, usage included (§4.3, height)."""
    usage, cohorts = setting.snapshot.usage, setting.path[1:]
    if not cohorts or not usage.borrows_with(setting.queue, fr, value):
        return bool(cohorts)
    # Only quota that is never lent serves locally: without a lending limit all goes up (§4.3).
    rest = subtract(value, usage.local_free(setting.queue, fr))
    for cohort in cohorts:
        if not usage.borrows_with(cohort, fr, rest):
            # Above the root there is nothing to reclaim: what fits only at the root is borrowed.
            return cohort != cohorts[-1]
        rest = subtract(rest, usage.local_free(cohort, fr))
    return False
