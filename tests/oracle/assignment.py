"""What Kueue assigns to a pending workload where every resource has one flavor only.

Source: docs/semantics/kueue.md §4.
"""

from tests.oracle.cluster import Cluster, FlavorResource
from tests.oracle.question import PREEMPT, Question, ask

Flavors = dict[str, dict[str, dict[str, str]]]
"""Flavor and mode by podset and resource."""


def asked(cluster: Cluster, pending: str) -> Question | None:
    """Put the question of a pending workload as Kueue would; nothing where no flavor will do."""
    flavors = only_flavors(cluster)
    question = ask(cluster, pending, {"main": flavors})
    if not cluster.nodes[question.queue].active:
        return None
    for resource, chosen in flavors.items():
        mode = _mode(question, (chosen["flavor"], resource))
        if mode is None:
            return None
        chosen["mode"] = mode
    return ask(cluster, pending, {"main": flavors})


def only_flavors(cluster: Cluster) -> dict[str, dict[str, str]]:
    """Return the one flavor that every resource has in all ClusterQueues."""
    return {
        row["name"]: {"flavor": flavor["name"], "mode": "Fit"}
        for item in cluster.of_kind("ClusterQueue")
        for group in item["spec"]["resourceGroups"]
        for flavor in group["flavors"]
        for row in flavor["resources"]
    }


def _mode(question: Question, at: FlavorResource) -> str | None:
    """Return the mode of one resource (§4.3); nothing where it has none."""
    tree, queue, amount = question.tree, question.queue, question.request.get(at, 0)
    if amount > tree.potential(queue, at):
        return None
    if amount <= max(0, tree.available(queue, at, 0)):
        return "Fit"
    policies = question.policies
    while_borrowing = (policies.get("borrowWithinCohort") or {}).get("policy", "Never") != "Never"
    if question.cluster.fair:
        while_borrowing |= policies.get("reclaimWithinCohort", "Never") != "Never"
    within = tree.nodes[queue].nominal.get(at, 0) >= amount
    return PREEMPT if within or while_borrowing or _may_reclaim(question, at, amount) else None


def _may_reclaim(question: Question, at: FlavorResource, amount: int) -> bool:
    tree, queue = question.tree, question.queue
    above = tree.above(queue)
    if not above or tree.usage(queue, at, 0) + amount <= tree.nodes[queue].nominal.get(at, 0):
        return bool(above)
    rest = amount - tree.local_free(queue, at, 0)
    for cohort in above:
        if tree.usage(cohort, at, 0) + rest <= tree.subtree(cohort, at):
            return cohort != above[-1]
        rest -= tree.local_free(cohort, at, 0)
    return False
