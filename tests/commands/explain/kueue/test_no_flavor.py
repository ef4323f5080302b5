"""Why no flavor can be assigned: what stops the workload in each, in words."""

from collections.abc import Iterable

import pytest

import planner
from tests.cluster import PENDING, Object, cohort, fair_sharing, pending, queue, running, state_of
from tests.conftest import ROOT
from tests.kueue_state import read

START = 'podset "main" of {who} fits in no flavor: '

BORROWS = (
    "{amount} in flavor {flavor}: more than nominal {nominal}, so it would have to borrow, and "
    "ClusterQueue {queue} can neither reclaim that as its own nor preempt while borrowing "
    "({policy})"
)


@pytest.mark.parametrize(
    ("name", "who", "amount", "nominal", "queue_name"),
    [
        ("kueue-1337-borrower-finds-nobody", "gold/demo", "4", 0, "gold"),
        ("kueue-16049-larger-than-nominal", "tenant-a/important", "16", 8, "tenant-a"),
    ],
)
def test_must_borrow_and_may_not_preempt(
    name: str, who: str, amount: str, nominal: int, queue_name: str
) -> None:
    """The cohort could lend it all (12, and 8 + 8): it is not too much, but not its own."""
    plan = planner.solve(read(ROOT / "instances" / "regressions" / f"{name}.yaml"), who)
    assert plan.explanation == START.format(who=who) + BORROWS.format(
        amount=f"{amount} nvidia.com/gpu",
        flavor="h100",
        nominal=nominal,
        queue=queue_name,
        policy="borrowWithinCohort is Never",
    )
    assert plan.greedy is not None
    assert plan.greedy.explanation == plan.explanation


NEVER = "4 gpu in flavor default: ClusterQueue a can never use more than {most}"

CASES: dict[str, tuple[Iterable[Object], str]] = {
    "alone": (
        [*queue("a", 2), *pending("a", 4)],
        NEVER.format(most="2 (nominal 2 and it is in no cohort)"),
    ),
    "borrowing limit": (
        [
            *cohort("org"),
            *queue("a", 2, "org", borrowing=1),
            *queue("b", 8, "org"),
            *pending("a", 4),
        ],
        NEVER.format(most="3 (nominal 2 and borrowingLimit 1)"),
    ),
    "lending limit": (
        [*cohort("org"), *queue("a", 2, "org"), *queue("b", 8, "org", lending=1), *pending("a", 4)],
        NEVER.format(most="3 (nominal 2 and what its cohort can lend it)"),
    ),
    "fair sharing": (
        [
            *fair_sharing(),
            *cohort("org"),
            *queue("a", 2, "org"),
            *queue("b", 4, "org"),
            *running("theirs", "b", 4),
            *pending("a", 4),
        ],
        BORROWS.format(
            amount="4 gpu",
            flavor="default",
            nominal=2,
            queue="a",
            policy="reclaimWithinCohort is Never, fair sharing is on",
        ),
    ),
    "not covered": (
        [*queue("a", 9), *pending("a", {"gpu": 4, "ink": 1})],
        "no resource group of ClusterQueue a covers ink",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_words_by_hand(name: str) -> None:
    objects, words = CASES[name]
    plan = planner.solve(state_of(objects))
    assert plan.status == "infeasible"
    assert plan.explanation == START.format(who=PENDING) + words


def test_each_flavor_has_its_own_reason() -> None:
    """A selector excludes one flavor, a taint the next, and the third is too small.

    Of the first two Kueue itself says it in these words, in the condition of the workload.
    """
    objects = [*queue("a", 2), *pending("a", 4)]
    spec = objects[0]["spec"]["resourceGroups"][0]
    (listed,) = spec["flavors"]
    spec["flavors"] = [{**listed, "name": name} for name in ("old", "spot", "default")]
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor"}
    objects += [
        {**flavor, "metadata": {"name": "old"}, "spec": {"nodeLabels": {"age": "old"}}},
        {
            **flavor,
            "metadata": {"name": "spot"},
            "spec": {"nodeTaints": [{"key": "spot", "value": "yes", "effect": "NoSchedule"}]},
        },
    ]
    pod = objects[2]["spec"]["podSets"][0]["template"]["spec"]
    pod["nodeSelector"] = {"age": "new"}
    plan = planner.solve(state_of(objects))
    reasons = plan.explanation.removeprefix(START.format(who=PENDING)).split("; ")
    assert reasons == [
        "flavor old doesn't match node affinity",
        "untolerated taint {spot yes NoSchedule <nil>} in flavor spot",
        NEVER.format(most="2 (nominal 2 and it is in no cohort)"),
    ]


def test_a_workload_without_podsets_is_said_to_have_none() -> None:
    """The API server refuses one, but a dump may have lost them."""
    (waits,) = pending("a", 1)
    waits["spec"]["podSets"] = []
    plan = planner.solve(state_of(queue("a", 2), [waits]), PENDING)
    assert plan.status == "infeasible"
    assert plan.explanation == f"{PENDING} has no podset that could be given a flavor"
