"""Who preempted a workload that waits again, when, by which rule, and whether that was needed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.commands.explain.answer import alternative
from planner.commands.explain.kueue.inquiry import KueueInquiry
from planner.commands.explain.kueue.past import CAUSES, RULES
from planner.commands.explain.kueue.record import Explanation, PastEviction
from planner.objective.profiles import PROFILES
from planner.solver.deadline import Deadline
from planner.solver.start import Given
from planner.state.kueue import State
from tests.cli.running import answer, call, refused, write
from tests.cluster import Object, at, cohort, dump_of, pending, queue, running, state_of
from tests.conftest import TEST_ALL, recorded_root
from tests.told import told

VICTIM = "ns/victim"
WORDS = {
    "InClusterQueue": "prioritization in the ClusterQueue",
    "InCohortReclamation": "reclamation within the cohort",
    "InCohortFairSharing": "Fair Sharing within the cohort",
    "InCohortReclaimWhileBorrowing": "reclamation within the cohort while borrowing",
}


def condition(
    kind: str, reason: str, message: str, status: str = "True", minute: int = 50
) -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": at(minute),
    }


def text(by: str = "uid-new", reason: str = "InClusterQueue", job: str = "UNKNOWN") -> str:
    """Return what Kueue writes of a preemption."""
    return (
        f"Preempted to accommodate a workload (UID: {by}, JobUID: {job}) due to {WORDS[reason]}; "
        "preemptor path: /a; preemptee path: /a"
    )


def waiting(name: str, amount: int, *conditions: Object, **spec: Any) -> list[Object]:
    """Return a workload that waits in queue a after an eviction."""
    (found,) = pending("a", amount, 0)
    found["metadata"] |= {"name": name, "uid": f"uid-{name}"}
    found["spec"] |= spec
    found["status"] = {"conditions": list(conditions)}
    return [found]


def preempted(
    name: str, amount: int = 2, reason: str = "InClusterQueue", **how: Any
) -> list[Object]:
    """Return a workload that waits after a preemption."""
    message = text(how.pop("by", "uid-new"), reason, how.pop("job", "UNKNOWN"))
    both = condition("Evicted", "Preempted", message), condition("Preempted", reason, message)
    return waiting(name, amount, *both, **how)


def new(amount: int = 2, minute: int = 51) -> list[Object]:
    """Return the preemptor, which runs since a minute after the eviction."""
    return running("new", "a", amount, priority=10, minute=minute)


def past(*parts: list[Object], name: str = VICTIM) -> PastEviction:
    """Return the eviction that the explanation begins with."""
    found = planner.explain(state_of(*parts), name)
    assert isinstance(found, Explanation)
    assert found.eviction is not None
    assert found.answer.startswith(f"{found.eviction.text}. Now: ")
    return found.eviction


OWN = queue("a", 4, within="LowerPriority")


@pytest.mark.parametrize("reason", WORDS)
def test_by_whom_when_and_by_which_rule(reason: str) -> None:
    found = past(OWN, new(), preempted("victim", reason=reason))
    assert (found.reason, found.rule) == ("Preempted", reason)
    assert found.at is not None
    assert found.at.isoformat() == "2026-05-01T12:50:00+00:00"
    assert found.preemptor is not None
    assert (found.preemptor.workload, found.preemptor.cluster_queue) == ("ns/new", "a")
    law = {"InClusterQueue": "KQ-04", "InCohortReclamation": "KQ-05"}.get(reason)
    assert law is None or found.law == law
    start = (
        "ns/victim was preempted at 2026-05-01T12:50:00Z by ns/new of ClusterQueue a (priority 10)"
    )
    assert found.text.startswith(f"{start}, {RULES[reason]} ({reason}")


Scene = list[list[Object]]


def both_go() -> Scene:
    return [OWN, new(4), preempted("victim"), preempted("other")]


def still_pending() -> Scene:
    """The victim is gone, and the preemptor not in yet: there is one more that has to go."""
    (waits,) = pending("a", 4, 10)
    waits["metadata"] |= {"name": "new", "uid": "uid-new"}
    return [OWN, [waits], running("other", "a", 2), preempted("victim")]


NECESSARY: dict[str, tuple[Scene, bool]] = {
    "both_go": (both_go(), True),
    "protected_by_priority": (
        [OWN, new(), running("other", "a", 2, priority=10), preempted("victim")],
        True,
    ),
    "still_pending": (still_pending(), True),
    # Who was admitted after the eviction was not there to be taken in its place.
    "came_later": ([OWN, new(), running("later", "a", 2, minute=55), preempted("victim", 4)], True),
    "another_would_do": ([OWN, new(), running("other", "a", 2), preempted("victim")], False),
    "one_large_or_two_small": (
        [OWN, new(2), running("one", "a", 1), running("two", "a", 1), preempted("victim")],
        False,
    ),
}


@pytest.mark.parametrize("name", NECESSARY)
def test_whether_it_was_necessary(name: str) -> None:
    scene, necessary = NECESSARY[name]
    found = past(*scene)
    assert found.necessary is necessary
    told(found.text)
    assert ("That was necessary: " in found.text) is necessary
    assert ("That was not necessary: " in found.text) is not necessary


def two_flavors() -> Scene:
    """Return a queue with 4 of each of two flavors."""
    (owned, *rest) = queue("a", 4, within="LowerPriority")
    flavors = owned["spec"]["resourceGroups"][0]["flavors"]
    flavors.append({**flavors[0], "name": "spare"})
    version = owned["apiVersion"]
    spare = {"apiVersion": version, "kind": "ResourceFlavor", "metadata": {"name": "spare"}}
    return [[owned, *rest, spare]]


def of_both_flavors() -> Scene:
    """The preemptor has pods in both flavors, all of them: whoever was there had to go."""
    (preemptor,) = new(4)
    for part in (
        preemptor["spec"]["podSets"],
        preemptor["status"]["admission"]["podSetAssignments"],
    ):
        part.append({**part[0], "name": "other"})
    part[1] |= {"flavors": {"gpu": "spare"}}
    return [*two_flavors(), [preemptor], preempted("victim", 4), preempted("other", 4)]


def fewer_pods() -> Scene:
    (victim,) = preempted("victim")
    victim["spec"]["podSets"][0] |= {"count": 2, "minCount": 1}
    return [OWN, new(4), [victim]]


UNTOLD: dict[str, Scene] = {
    "gone": [OWN, running("other", "a", 4, priority=9), preempted("victim")],
    "there_is_room": [OWN, new(), preempted("victim")],
    "policy_changed": [queue("a", 4), new(), running("other", "a", 2), preempted("victim")],
    # In whichever flavor it ran, the other one had room for the preemptor.
    "any_flavor": [*two_flavors(), new(4), preempted("victim")],
    "fewer_pods": fewer_pods(),
}


@pytest.mark.parametrize("name", UNTOLD)
def test_what_a_dump_does_not_tell_is_said(name: str) -> None:
    found = past(*UNTOLD[name])
    assert found.necessary is None
    told(found.text)


def test_in_whichever_flavors_they_ran() -> None:
    found = past(*of_both_flavors())
    assert found.necessary is True
    told(found.text)


def test_of_two_flavors_only_who_ran_in_the_one_that_was_assigned_makes_room() -> None:
    """Had both run in one flavor, there had been room in the other one."""
    ones = [preempted(name, 4) for name in ("victim", "other")]
    assert past(*two_flavors(), new(4), *ones).necessary is True


def test_too_many_flavors_are_not_tried() -> None:
    ones = [preempted(f"other{n}", 1) for n in range(8)]
    found = past(*two_flavors(), new(4), preempted("victim"), *ones)
    assert found.necessary is None
    told(found.text)


def test_a_preemptor_that_is_gone_is_named_by_what_the_message_says() -> None:
    found = past(OWN, new(), preempted("victim", by="u-1", job="j-1"))
    told(found.text)


def test_a_preemptor_is_known_by_its_job() -> None:
    """Its workload was made anew since."""
    (preemptor,) = new(4)
    preemptor["metadata"]["labels"] = {"kueue.x-k8s.io/job-uid": "j-1"}
    found = past(OWN, [preemptor], preempted("victim", by="u-1", job="j-1"))
    assert found.preemptor is not None
    assert found.preemptor.workload == "ns/new"


@pytest.mark.parametrize("reason", sorted(CAUSES))
def test_other_evictions_are_told_as_such(reason: str) -> None:
    found = past(OWN, new(4), waiting("victim", 2, condition("Evicted", reason, "As Kueue says.")))
    assert (found.reason, found.preemptor, found.rule) == (reason, None, None)
    told(found.text)


def test_a_deactivation_has_a_cause_of_its_own() -> None:
    evicted = condition("Evicted", "DeactivatedDueToRequeuingLimitExceeded", "")
    found = past(OWN, new(4), waiting("victim", 2, evicted))
    told(found.text)


def test_who_was_deactivated_waits_no_more_and_is_told_why(tmp_path: Path) -> None:
    evicted = condition("Evicted", "DeactivatedDueToRequeuingLimitExceeded", "too often")
    parts = OWN, new(4), waiting("victim", 2, evicted, active=False)
    said = refused("explain", write(tmp_path, dump_of(*parts)), "--pending", VICTIM)
    told(said)


def test_a_reason_that_is_not_known_is_named() -> None:
    found = past(OWN, new(4), waiting("victim", 2, condition("Evicted", "BrandNew", "")))
    told(found.text)


def test_a_preemption_before_the_last_eviction() -> None:
    """It was preempted, ran again, and then its pods were not ready in time."""
    before = condition("Preempted", "QuotaReserved", f"Previously: {text()}", "False")
    last = condition("Evicted", "PodsReadyTimeout", "")
    found = past(OWN, new(4), waiting("victim", 2, last, before))
    assert (found.reason, found.necessary) == ("PodsReadyTimeout", None)
    told(found.text)


@pytest.mark.parametrize("preemption", [True, False])
def test_what_a_new_admission_has_ended(*, preemption: bool) -> None:
    """It waits again for another reason; what no condition tells any more is not made up."""
    message = f"Previously: {text() if preemption else 'As Kueue said.'}"
    ended = [
        condition(kind, "QuotaReserved", message, "False")
        for kind in ("Evicted", "Preempted")[: 1 + preemption]
    ]
    found = planner.explain(state_of(OWN, new(4), waiting("victim", 2, *ended)), VICTIM)
    assert isinstance(found, Explanation)
    assert (found.eviction is not None) is preemption
    if found.eviction is not None:
        assert (found.eviction.at, found.eviction.necessary) == (None, None)
        told(found.eviction.text)


def test_how_often_it_was_evicted() -> None:
    (victim,) = preempted("victim")
    counts = [("Preempted", "", 2), ("Deactivated", "RequeuingLimitExceeded", 1)]
    victim["status"]["schedulingStats"] = {
        "evictions": [
            {"reason": reason, "underlyingCause": cause, "count": count}
            for reason, cause, count in counts
        ]
    }
    found = past(OWN, new(4), [victim])
    assert [(one.reason, one.cause, one.count) for one in found.counts] == counts
    told(found.text)


def test_reclaimed_from_a_queue_that_had_borrowed() -> None:
    """Both of the borrower had to go; what the lender owns, it gets."""
    lender = queue("b", 4, "all", reclaim="Any")
    preemptor = running("new", "b", 4, minute=51)
    victims = (preempted(name, reason="InCohortReclamation") for name in ("victim", "other"))
    found = past(cohort("all"), queue("a", 0, "all"), lender, preemptor, *victims)
    assert (found.rule, found.law, found.necessary) == ("InCohortReclamation", "KQ-05", True)


@pytest.mark.parametrize("kept", [{}, {"status": {}}])
def test_who_was_never_evicted_is_told_nothing_of_it(kept: Mapping[str, Any]) -> None:
    (victim,) = waiting("victim", 2)
    found = planner.explain(state_of(OWN, new(4), [{**victim, **kept}]), VICTIM)
    assert isinstance(found, Explanation)
    assert found.eviction is None
    assert "Now:" not in found.answer


def test_it_is_in_every_format(tmp_path: Path) -> None:
    dump = write(tmp_path, dump_of(*both_go()))
    asked = ("explain", dump, "--pending", VICTIM)
    value = answer("explanation", *asked, code=3)
    assert value["eviction"]["necessary"] is True
    told(value["answer"])
    plain = call(*asked, "--format", "plain").stdout
    (line,) = (line for line in plain.splitlines() if line.startswith("evicted"))
    told(line)
    table = " ".join(call(*asked, "--format", "table").stdout.split())
    told(table)


def test_who_fits_and_is_not_looked_at_hears_both_in_sentences() -> None:
    gated = pending("a", 1)
    gated[0]["metadata"]["annotations"] = {"kueue.x-k8s.io/admission-gated-by": "x"}
    found = planner.explain(state_of(queue("a", 4), gated))
    assert ". It fits as it is: no eviction needed" in found.answer
    assert planner.render(found, "table").split()[:2] == ["Why", "nobody"]


def test_what_is_not_modelled_is_no_condition_of_what_happened(tmp_path: Path) -> None:
    """A conditional answer about the plan stands behind what Kueue wrote down."""
    (own, local), *others = both_go()
    off = {"conditions": [condition("Active", "False", "no reason", status="False")]}
    dump = write(tmp_path, dump_of([{**own, "status": off}, local], *others))
    value = json.loads(call("explain", dump, "--pending", VICTIM, "--format", "json").stdout)
    assert value["status"] == "conditional"
    told(value["answer"])


def sides() -> list[Path]:
    """Return pairs of dumps around the evictions of a live Kueue."""
    root = recorded_root()
    folder = None if root is None else root / "kueue-live" / "watch"
    return sorted(folder.glob("*-equal-*"))[:: 12 if TEST_ALL else 48] if folder else []


@pytest.mark.parametrize("pair", sides(), ids=lambda path: path.name[16:])
def test_live_evictions_are_told_as_kueue_did_them(pair: Path) -> None:
    """The dump after them tells the rule that Kueue named; the dump before is the truth."""
    before, after = (planner.read(pair / f"{side}.json.gz") for side in ("before", "after"))
    assert isinstance(before, State)
    assert isinstance(after, State)
    ran = {one.key for one in before.workloads if one.holds_quota}
    waited = {*before.pending}
    for one in after.workloads.pending():
        preempted = one.condition("Preempted")
        if preempted is None or not preempted.is_true:
            continue
        answered = planner.explain(after, one.key)
        assert isinstance(answered, Explanation)
        found = answered.eviction
        assert found is not None
        assert found.rule == preempted.reason
        key = found.preemptor.workload if found.preemptor is not None else None
        if found.necessary is not None and one.key in ran and key in waited:
            asked = KueueInquiry(before, Given(key), PROFILES["min-count"], Deadline())
            other = alternative(asked, asked.positions[one.key], "sparing")
            assert found.necessary is (other.status == "infeasible")
