"""KF-01: the flavors are ones that the rules permit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from planner.laws.kueue import KF_PERMITTED
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.selector import InvalidSelectorError
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.reference.kueue.eligibility import why_ineligible
from planner.state.kueue import ResourceFlavor, State
from planner.state.pods import PodSpec
from planner.verifier.kueue.case import setting_of
from planner.verifier.kueue.flavors import permitted_flavors
from planner.verifier.kueue_topology.leaves import obstacle_between
from tests import recorded
from tests.flavored import GPU, flavor, group, pending, podset, queue, running, state_of
from tests.told import told

Choices = dict[str, dict[str, tuple[str, str]]]
FLAVORS = [flavor("h100"), flavor("a100"), flavor("spot", taint="spot"), flavor("unlisted")]
QUEUE = queue("q", group(h100=4, a100=4, spot=9), group("cpu", h100=8), within="LowerPriority")
FULL = [running("one", "q", "h100", 4), running("other", "q", "a100", 4)]


def assigned(choices: Choices) -> Assignment:
    """Return an assignment: per podset and resource, flavor and mode."""
    pod_sets = [
        {"name": name, "flavors": {r: {"flavor": f, "mode": m} for r, (f, m) in flavors.items()}}
        for name, flavors in choices.items()
    ]
    return Assignment.model_validate({"mode": "Preempt", "podSets": pod_sets})


def findings(state: State, choices: Choices) -> str:
    """Return what KF-01 says against an assignment; empty if it holds."""
    assignment = assigned(choices)
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, "ns/pending")
    verdict = permitted_flavors(setting_of(snapshot, preemptor, assignment), assignment)
    assert verdict.law == KF_PERMITTED.id
    return "" if verdict.holds else verdict.detail


@pytest.mark.parametrize(
    ("chosen", "finding"),
    [
        (("a100", "Preempt"), ""),
        (("h100", "Preempt"), ""),
        (("a100", "Fit"), "the mode is Preempt"),
        (("spot", "Fit"), "taint spot=:NoSchedule is not tolerated"),
        (("unlisted", "Preempt"), "is not one of its resource group"),
    ],
)
def test_the_flavor_is_listed_and_tolerated(chosen: tuple[str, str], finding: str) -> None:
    parts: list[Any] = [*FLAVORS, QUEUE, *FULL, pending("q", podset(2))]
    listed = {"main": {GPU: chosen}}
    if chosen[0] == "unlisted":
        # Some other queue has quota there: the flavor is known, this queue does not list it.
        parts.append(queue("elsewhere", group(unlisted=4)))
    told(findings(state_of(*parts), listed))
    assert bool(finding) == bool(findings(state_of(*parts), listed))


@pytest.mark.parametrize(("release", "tolerated"), [("0.15.8", False), ("0.16.0", True)])
def test_tolerations_that_compare_numbers(release: str, *, tolerated: bool) -> None:
    """k8s.io/api v0.34 core/v1 ``ToleratesTaint``, of Kueue 0.15, knows Equal and Exists only."""
    (numbered,) = flavor("h100", taint="level")
    numbered["spec"]["nodeTaints"][0]["value"] = "3"
    waits = podset(1)
    lower = {"key": "level", "operator": "Gt", "value": "2"}
    waits["template"]["spec"]["tolerations"] = [lower]
    state = state_of([numbered], queue("q", group(h100=4)), pending("q", waits), release=release)
    assert (findings(state, {"main": {GPU: ("h100", "Fit")}}) == "") == tolerated
    snapshot = take_snapshot(state)
    found = decide(snapshot, find_preemptor(state, snapshot, "ns/pending"))
    assert found.assignment.mode == ("Fit" if tolerated else "NoFit")


def test_the_flavor_exists_and_the_queue_is_active() -> None:
    """Without one of its flavors a queue is inactive, and Kueue assigns it none at all."""
    partly = queue("q", group(h100=4, gone=4))
    state = state_of(*FLAVORS, partly, pending("q", podset(2)))
    told(findings(state, {"main": {GPU: ("gone", "Fit")}}))
    told(findings(state, {"main": {GPU: ("h100", "Fit")}}))


def test_what_a_flavor_could_ever_give_is_not_exceeded() -> None:
    state = state_of(*FLAVORS, QUEUE, *FULL, pending("q", podset(5)))
    told(findings(state, {"main": {GPU: ("a100", "Preempt")}}))


def test_podsets_before_count() -> None:
    """Of 4 h100 the first takes 3: the second needs preemption, and a third would be too much."""
    names = ("a", "b", "c")
    state = state_of(
        *FLAVORS,
        QUEUE,
        running("one", "q", "h100", 1),
        pending("q", *(podset(1, n) for n in names)),
    )
    fit, preempt = {GPU: ("h100", "Fit")}, {GPU: ("h100", "Preempt")}
    assert not findings(state, {"a": fit, "b": fit, "c": fit})
    state = state_of(*FLAVORS, QUEUE, running("one", "q", "h100", 2), *_pending(names))
    assert not findings(state, {"a": fit, "b": fit, "c": preempt})
    told(findings(state, {"a": fit, "b": fit, "c": fit}))
    told(findings(state, {"a": fit, "b": preempt, "c": preempt}))


def _pending(names: tuple[str, ...]) -> list[Any]:
    return [pending("q", *(podset(1, name) for name in names))]


def test_a_podset_group_gets_one_flavor() -> None:
    pod_sets = podset(1, "leader", together="gang"), podset(1, "workers", together="gang")
    state = state_of(*FLAVORS, QUEUE, pending("q", *pod_sets))
    first, second = {GPU: ("h100", "Fit")}, {GPU: ("a100", "Fit")}
    assert not findings(state, {"leader": second, "workers": second})
    assert "h100 and a100" in findings(state, {"leader": first, "workers": second})


def test_a_resource_group_gets_one_flavor_and_resource_groups_are_separate() -> None:
    both = group(h100=4, a100=4)
    both["coveredResources"].append("cpu")
    for row in both["flavors"]:
        row["resources"].append({"name": "cpu", "nominalQuota": 8})
    waiting = pending("q", podset(1, also={"cpu": 1}))
    mixed: Choices = {"main": {GPU: ("a100", "Fit"), "cpu": ("h100", "Fit")}}
    found = findings(state_of(*FLAVORS, queue("q", both), waiting), mixed)
    assert "a100 and h100" in found
    assert not findings(state_of(*FLAVORS, QUEUE, waiting), mixed)


def test_every_request_has_a_flavor_and_only_covered_resources_have_one() -> None:
    state = state_of(*FLAVORS, QUEUE, pending("q", podset(1)))
    assert "no flavor" in findings(state, {"main": {}})
    extra: Choices = {"main": {GPU: ("h100", "Fit"), "memory": ("h100", "Fit")}}
    told(findings(state, extra))


@pytest.mark.parametrize(
    ("policies", "permitted"),
    [({}, False), ({"borrow": "LowerPriority"}, True), ({"reclaim": "Any"}, False)],
)
def test_beyond_nominal_quota_the_queue_must_be_allowed_to_preempt(
    policies: dict[str, str], *, permitted: bool
) -> None:
    state = state_of(
        *FLAVORS,
        queue("q", group(h100=1), cohort="org", **policies),  # type: ignore[arg-type]
        queue("other", group(h100=3), cohort="org"),
        running("large", "other", "h100", 4),
        pending("q", podset(2)),
    )
    found = findings(state, {"main": {GPU: ("h100", "Preempt")}})
    assert ("may not preempt while it borrows" in found) == (not permitted)


def test_a_plan_with_another_flavor_is_refused() -> None:
    """KF-01 is among the verdicts of plans whose flavors were chosen, and only of those."""
    state = state_of(*FLAVORS, QUEUE, *FULL, pending("q", podset(2)))
    plan = planner.solve(state, objective="min-count", flavors="optimal")
    assert planner.verify(state, plan).accepted
    tainted = assigned({"main": {GPU: ("spot", "Fit")}}).model_copy(update={"mode": "Fit"})
    wrong = plan.model_copy(update={"assignment": tainted, "victims": (), "borrowing": None})
    verification = planner.verify(state, wrong)
    assert not verification.accepted
    assert [v.law for v in verification.verdicts if not v.holds] == ["KF-01"]
    theirs = wrong.model_copy(update={"flavors": None})
    assert "KF-01" not in laws(state, theirs)
    assert "KF-01" in laws(state, plan)


def laws(state: State, plan: Plan) -> list[str]:
    """Return the laws that a plan is judged by."""
    return [verdict.law for verdict in planner.verify(state, plan).verdicts]


@pytest.mark.parametrize("name", ["flavors", "edge", "small-flavors"])
def test_what_kueue_assigned_is_permitted(name: str) -> None:
    """The law is not too strict: it accepts every complete assignment of the real scheduler."""
    compared = 0
    for line in recorded.lines(name, 6):
        assignment = recorded.assignment_of(line)
        if line.get("assignment") or assignment.mode == "NoFit":
            continue
        state = recorded.state_of(line)
        snapshot = take_snapshot(state)
        preemptor = find_preemptor(state, snapshot, line["pending"])
        if len(assignment.pod_sets) < len(preemptor.pod_sets):
            continue
        compared += 1
        verdict = permitted_flavors(setting_of(snapshot, preemptor, assignment), assignment)
        assert verdict.holds, f"{line['id']}: {verdict.detail}"
    assert compared >= 8


KEYS = st.sampled_from(["pool", "zone", "gen"])
VALUES = st.sampled_from(["", "a", "b", "7", "12", "+3", "-x", "x" * 64])
EFFECTS = st.sampled_from(["", "NoSchedule", "NoExecute", "PreferNoSchedule"])
TOLERATIONS = st.fixed_dictionaries(
    {
        "key": st.just("") | KEYS,
        "operator": st.sampled_from(["", "Equal", "Exists", "Lt", "Gt"]),
        "value": VALUES,
        "effect": EFFECTS,
    }
)
ROWS = st.fixed_dictionaries(
    {
        "key": KEYS,
        "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Near"]),
        "values": st.lists(VALUES, max_size=2),
    }
)
TERMS = st.fixed_dictionaries({"matchExpressions": st.lists(ROWS, max_size=2)})


@given(
    taints=st.lists(
        st.fixed_dictionaries({"key": KEYS, "value": VALUES, "effect": EFFECTS}), max_size=1
    ),
    own=st.lists(TOLERATIONS, max_size=1),
    tolerations=st.lists(TOLERATIONS, max_size=2),
    labels=st.dictionaries(KEYS, VALUES, max_size=2),
    selector=st.dictionaries(KEYS, VALUES, max_size=1),
    terms=st.lists(TERMS, max_size=2),
)
def test_who_may_run_where_is_what_the_reference_says(  # noqa: PLR0913, PLR0917 - all that decides
    taints: list[Any],
    own: list[Any],
    tolerations: list[Any],
    labels: dict[str, str],
    selector: dict[str, str],
    terms: list[Any],
) -> None:
    """Verifier and reference were written apart from one another."""
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    spec = {"nodeTaints": taints, "nodeLabels": labels, "tolerations": own}
    offered = ResourceFlavor.model_validate({"metadata": {"name": "f"}, "spec": spec})
    pod = PodSpec.model_validate(
        {
            "tolerations": tolerations,
            "nodeSelector": selector,
            "affinity": {"nodeAffinity": required},
        }
    )
    obstacle = obstacle_between(pod, offered)
    try:
        eligible = not why_ineligible(pod, offered)
    except InvalidSelectorError:
        assert obstacle is not None
        assert obstacle.fatal
        return
    assert eligible == (obstacle is None)
    assert obstacle is None or not obstacle.fatal
