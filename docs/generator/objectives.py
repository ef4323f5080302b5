"""Disruption terms, objectives and annotations as a page."""

from __future__ import annotations

from planner.objective import annotation, profile_file, terms
from planner.objective.profiles import PROFILES, measure_name
from planner.term import TERMS

HEAD = """# Terms and objectives

Disruption is a vector of whole numbers, the terms. Every plan reports all of them, for itself and
for the scheduler's own choice. An objective says which of them are minimised, one level after the
other, and which may not be above the scheduler's own.
"""

COUNTING = """### What some of them count, and what not

`lost_work`
:   Size times the seconds since the newest checkpoint that a workload *publishes*; without one,
    since it started. So whoever publishes no checkpoint has more to lose on paper, and is spared
    more often, unless an objective says `unpublished = "median"`: then the last checkpoint of who
    publishes none is taken to be as old as the median of the published ones (kueue#477). A
    workload that saves when it is told to stop (`checkpoint-seconds` within its grace period, 30 s
    where the pods say none) loses no progress; the time of saving is free, unless an objective
    says `saving = "counts"`: then it is lost, or what would be lost without it if that is less.
    YuniKorn's dump tells no checkpoints.

`restart_cost`
:   Size times `restart-seconds`, one minute where nothing is said.

`excess_freed`
:   What the victims free of the contested resources beyond what is missing, as accelerators. It
    is what they *freed*, not what becomes *available* to the preemptor: quota that limits or the
    cohort keep from it counts as freed. Nothing else would be a sum over victims: what becomes
    available depends on every limit on the way, and on which others go. For YuniKorn it is counted
    on the node of the plan.

`queues`
:   Queues that lose a victim: ClusterQueues, or leaf queues of YuniKorn. They need not be
    tenants: two queues of a team count twice, two teams in one queue once.

`namespaces`
:   Namespaces that lose a victim. An allocation of YuniKorn whose pod the dump does not name counts
    in none.

`unfairness`
:   For each queue, the size of its victims in thousandths of what it borrows, or of one accelerator
    if that is more; the largest of them. A ClusterQueue borrows what it uses above its nominal
    quota, flavor by flavor. A cohort that borrows, using more than the quota of its subtree, and
    that the preemptor is not in, counts as a queue, too, with all victims below it. Under fair
    sharing both are divided by the weight, rounded down to 1/32000 accelerator: to take from who
    is entitled to twice as much weighs twice, and of weight 0 anything counts 1. A queue of
    YuniKorn borrows what it uses above its own guaranteed; it has no weights, and queues above
    are not looked at.

`disruption_budgets`
:   For each PodDisruptionBudget (policy/v1), the pods of victims that it covers beyond those that
    may go; added up over the budgets, so that a pod which two of them cover may count twice. It
    covers pods of its namespace by the labels of podset templates: labels that controllers add to
    pods, and pods that are no part of a Workload, are not known. How many may go is
    `status.disruptionsAllowed`, and where the cluster has not said that, what `minAvailable` or
    `maxUnavailable` leave of the admitted pods. Without such objects it is 0. Under YuniKorn
    PodDisruptionBudgets are out of scope: an objective that counts them is refused.

`priority_sum`
:   The effective priorities of the victims, each raised by 2^31 so that none is negative. It counts
    workloads, where kube-scheduler counts pods. Of `kube-like` the last level is the time that all
    victims ran, where kube-scheduler looks at the earliest start of the highest priority.

What is being evicted or deleted already counts in `victims` and `cost` only.

The caps of `no-regret` bind `last_resort`, `highest_priority`, `workloads` and
`lost_work+restart_cost`. It may evict more pods than the scheduler itself, touch more queues, or
take more workloads of the highest priority: a plan that does says so beside the scheduler's own
(`more_than_greedy` in JSON, `more` in plain text). An objective of your own can cap these, too:
`caps = ["pods", "queues", "victims@each"]`.
"""


def page() -> str:
    """Return the page of terms, objectives, files of objectives, and annotations."""
    listed = [
        f"| `{term.name}` | {term.id} | {term.title} | {term.unit} | "
        f"{'sum' if term.per_workload else 'set'} |"
        for term in TERMS.values()
    ]
    chosen = [
        f"| `{one.name}` | {one.summary} | {', '.join(map(measure_name, one.levels))} | "
        f"{', '.join(map(measure_name, one.caps)) or '-'} |"
        for one in PROFILES.values()
    ]
    return "\n\n".join(
        [
            HEAD,
            "## Terms",
            "A term is a sum over the victims, or belongs to the set of them as a whole. "
            + _prose("".join((terms.__doc__ or "").partition("Amounts")[1:])),
            "\n".join(["| term | id | what | unit | of |", "|---|---|---|---|---|", *listed]),
            COUNTING,
            "## Objectives",
            "\n".join(
                [
                    "| objective | what it promises | minimised in this order | capped |",
                    "|---|---|---|---|",
                    *chosen,
                ]
            ),
            "## Files of your own",
            (profile_file.__doc__ or "").replace("::\n", ":\n"),
            "## Annotations of workloads",
            _definitions(annotation.__doc__ or ""),
        ]
    )


def _prose(text: str) -> str:
    return " ".join(text.split())


def _definitions(text: str) -> str:
    """Return a list of NumPy's form, a term and an indented text, as Markdown's."""
    lines = []
    for line in text.splitlines():
        if line.startswith("``"):
            lines += ["", line]
        elif lines and lines[-1].startswith("``"):
            lines.append(f":   {line.strip()}")
        else:
            lines.append(line)
    return "\n".join(lines)
