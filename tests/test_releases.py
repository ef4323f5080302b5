"""The rules of releases of Kueue: the table, and what each release decided."""

import json
from pathlib import Path

import pytest

import planner
from planner.commands.replay import replay, replay_line
from planner.errors import UnsupportedError
from planner.quota.kueue.activity import MULTIKUEUE, PROVISIONING, Activity
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.state.kueue_configuration import FEATURE_GATES, Configuration
from planner.state.kueue_release import Rules, find_release, newest_first
from tests.cluster import (
    NOW,
    PENDING,
    Object,
    admission_check,
    configuration,
    dump_of,
    pending,
    queue,
    running,
)
from tests.conftest import ROOT, TEST_ALL, recorded_root
from tests.elastic import Pods, new, old
from tests.kueue_state import read_objects
from tests.recorded import texts
from tests.told import told

SAMPLE = sorted((ROOT / "instances" / "recorded" / "kueue-releases").glob("*.jsonl.gz"))
SEEN = ("v0.15.8", "v0.16.9", "v0.17.8", "v0.18.6", "v0.19.2")


def test_the_newest_rules_are_all_that_there_are() -> None:
    assert find_release("main").rules == find_release("0.20.0").rules == Rules()


@pytest.mark.parametrize(
    ("switch", "without", "first"),
    [
        ("preference_as_named", "0.16.1", "0.16.2"),
        ("preference_as_named", "0.15.8", "0.17.0"),
        ("borrowing_by_request", "0.15.7", "0.15.8"),
        ("prunes_by_borrowing", "0.16.9", "0.17.0"),
        ("searches_without_cohort", "0.17.8", "0.18.0"),
        ("no_candidates_last", "0.18.4", "0.18.5"),
        ("no_candidates_last", "0.19.0", "0.19.1"),
        ("own_label_keys", "0.17.5", "0.17.6"),
        ("own_label_keys", "0.18.1", "0.18.2"),
        ("skips_undeclared_zero", "0.15.8", "0.16.0"),
        ("drops_zero_requests", "0.16.9", "0.17.0"),
        ("pods_outside_search", "0.17.8", "0.18.0"),
        ("saturates", "0.17.8", "0.18.0"),
        ("saturates_wanted", "0.15.8", "0.17.3"),
        ("saturates_wanted", "0.16.7", "0.16.8"),
        ("saturates_wanted", "0.17.2", "0.17.3"),
        ("floors_requests", "0.18.4", "0.18.5"),
        ("floors_requests", "0.19.0", "0.19.1"),
        ("clamps_reclaimable", "0.17.6", "0.17.7"),
        ("clamps_reclaimable", "0.18.2", "0.18.3"),
        ("transforms_apart", "0.18.4", "0.18.5"),
        ("waits_for_replacement", "0.18.2", "0.18.3"),
        ("takes_one_kind_of_check", "0.15.8", "0.16.0"),
        ("heads_by_uid", "0.15.4", "0.15.5"),
        ("heads_by_uid", "0.16.1", "0.16.2"),
        ("counts_slices_once", "0.15.4", "0.15.5"),
        ("counts_slices_once", "0.16.1", "0.16.2"),
        ("parks_alike_always", "0.15.6", "0.15.7"),
        ("parks_alike_always", "0.16.3", "0.16.4"),
        ("gates_variants", "0.18.6", "0.19.0"),
        ("knows_on_hold", "0.17.6", "0.17.7"),
        ("knows_on_hold", "0.18.2", "0.18.3"),
        ("past_use_of_no_weight", "0.18.4", "0.18.5"),
        ("past_use_of_no_weight", "0.19.0", "0.19.1"),
        ("misses_local_queues", "0.17.7", "0.17.8"),
        ("misses_local_queues", "0.18.3", "0.18.4"),
        ("compares_tolerations", "0.15.8", "0.16.0"),
        ("limits_in_units", "0.16.9", "0.17.0"),
        ("saturates_requests", "0.18.4", "0.18.5"),
        ("saturates_requests", "0.19.0", "0.19.1"),
        ("counts_constrained", "0.18.1", "0.18.2"),
        ("skips_admin_access", "0.19.2", "0.20.0"),
        ("takes_newest_class", "0.18.4", "0.18.5"),
        ("takes_newest_class", "0.19.0", "0.19.1"),
        ("sums_extended_apart", "0.18.5", "0.18.6"),
        ("sums_extended_apart", "0.19.1", "0.19.2"),
        ("replaces_in_own_namespace", "0.16.9", "0.17.8"),
        ("replaces_in_own_namespace", "0.17.7", "0.17.8"),
        ("replaces_in_own_namespace", "0.18.3", "0.18.4"),
    ],
)
def test_the_patch_that_brought_a_rule(switch: str, without: str, first: str) -> None:
    """Written down from docs/semantics/kueue-releases.md §2."""
    assert not getattr(find_release(without).rules, switch)
    assert getattr(find_release(first).rules, switch)


@pytest.mark.parametrize(
    ("gate", "defaults"),
    [
        ("AdmissionGatedBy", "..--++"),
        ("ElasticJobsViaWorkloadSlices", "---+++"),
        ("FairSharingPreemptWithinNominal", "++++++"),
        ("FlavorFungibilityImplicitPreferenceDefault", "--...."),
        ("HierarchicalCohorts", "+++++."),
        ("PriorityBoost", "..----"),
        ("QuotaCheckStrategy", "...-++"),
        ("RecomputeAssignmentUponPreemptionTargetsOverlap", "...--+"),
        ("SchedulerTimestampPreemptionBuffer", "-----."),
        ("SchedulingEquivalenceHashing", "---+++"),
        ("WorkloadPriorityClassDefaulting", "...--+"),
    ],
)
def test_defaults_of_gates(gate: str, defaults: str) -> None:
    """Written down from docs/semantics/kueue-features.md §9: 0.15 to 0.19, then main."""
    found = [release.gates.get(gate) for release in reversed([*newest_first()])]
    assert "".join("." if one is None else "+" if one.default else "-" for one in found) == defaults


def test_reading_a_state_does_not_copy_what_is_known_of_a_release() -> None:
    """A copy for each Configuration took more time than all else of it."""
    assert Configuration().release is next(iter(newest_first()))


def test_the_newest_rules_have_the_defaults_of_the_configuration() -> None:
    newest = Configuration()
    assert {name: newest.gate(name) for name in FEATURE_GATES} == FEATURE_GATES


@pytest.mark.parametrize(
    ("release", "gates", "unmet"),
    [
        ("0.19.2", {"FlavorFungibility": False}, 0),
        ("main", {"FlavorFungibility": False}, 1),
        ("main", {"FlavorFungibility": False, "FlavorFungibilityPreserveScanProgress": False}, 0),
        ("0.15.8", {"TopologyAwareScheduling": False}, 1),
        ("0.15.8", {"TopologyAwareScheduling": False, "TASProfileMixed": False}, 0),
        # TASProfileMixed, and four gates of the replacement of failed nodes.
        ("0.17.3", {"TopologyAwareScheduling": False}, 1),
        ("0.17.4", {"TopologyAwareScheduling": False}, 5),
        ("0.18.6", {"KueueDRAIntegration": False}, 0),
        ("0.19.2", {"KueueDRAIntegration": False}, 2),
        ("main", {"KueueDRAIntegration": False, "AllAlpha": True}, 3),
        ("main", {"AllBeta": False}, 0),
        ("main", {"AllBeta": False, "KueueDRAIntegrationExtendedResource": True}, 1),
        ("0.17.8", {"KueueDRAIntegrationExtendedResource": True}, 0),
        ("main", {}, 0),
    ],
)
def test_gates_that_need_another(release: str, gates: dict[str, bool], unmet: int) -> None:
    """Written down from pkg/config/validation.go ``LoadAndValidateFeatureGates`` of each tag."""
    assert len([*find_release(release).unmet(gates)]) == unmet


def test_a_gate_that_needs_another_is_noted_and_refuses_nothing() -> None:
    parts = queue("q", 2), pending("q", 2), configuration(featureGates={"FlavorFungibility": False})
    state = read_objects(dump_of(*parts), where="test", now=NOW)
    (note,) = [one for one in state.notes if "does not start" in one]
    assert "FlavorFungibility off" in note
    told(note)
    assert note in planner.solve(state, PENDING).notes


@pytest.mark.parametrize(("release", "active"), [("0.15.8", True), ("0.16.0", False)])
def test_a_queue_with_both_kinds_of_admission_checks(release: str, *, active: bool) -> None:
    """Switch 29: 0.15 lets it be active."""
    kinds = {"m": MULTIKUEUE, "p": PROVISIONING}
    checks = [admission_check(name, controller) for name, controller in kinds.items()]
    value = dump_of(queue("q", 2), pending("q", 2), checks)
    asked = next(one for one in value["items"] if one["kind"] == "ClusterQueue")
    asked["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": n} for n in kinds]}
    state = read_objects(value, where="test", now=NOW, release=release)
    assert ("q" not in Activity.in_state(state).inactive) == active


@pytest.mark.parametrize(
    ("release", "status"), [("0.17.8", "infeasible"), ("0.18.0", "optimal"), ("main", "optimal")]
)
def test_a_quota_that_older_releases_take_for_nothing(release: str, status: str) -> None:
    """Switch 14: 10E has two digits and a power of ten that does not fit into 64 bits."""
    asked = with_nominal(queue("q", 4, within="LowerPriority"), "10E")
    value = dump_of(asked, running("x", "q", 2), pending("q", 3, priority=5))
    plan = planner.solve(read_objects(value, where="test", now=NOW, release=release), PENDING)
    assert plan.status == status
    noted = [one for one in plan.notes if "cannot count so far, and takes it for 0" in one]
    assert bool(noted) == (status == "infeasible")


def test_no_optimum_is_given_where_amounts_wrap_around() -> None:
    """Switch 14: what Kueue decides there is replayed."""
    asked = with_nominal(queue("q", 4, within="LowerPriority"), str(2**63 - 1))
    value = dump_of(asked, running("x", "q", 2), pending("q", 3, priority=5))
    old_one = read_objects(value, where="test", now=NOW, release="0.17.8")
    with pytest.raises(planner.PlannerError) as caught:
        planner.solve(old_one, PENDING)
    told(caught.value)
    newest = read_objects(value, where="test", now=NOW, release="main")
    assert planner.solve(newest, PENDING).status == "optimal"


@pytest.mark.parametrize(("release", "held"), [("0.17.8", -(2**63)), ("main", 2**63 - 1)])
def test_recorded_usage_is_read_as_the_release_reads_it(release: str, held: int) -> None:
    """Switch 14: 19 digits are exact, and the low 64 bits are left of them."""
    value = dump_of(queue("q", 4), running("x", "q", 2**63), pending("q", 3))
    state = read_objects(value, where="test", now=NOW, release=release)
    assert take_snapshot(state).usage.amount == [[held]]


@pytest.mark.parametrize("amount", [str(2**64 - 2), "2"])
def test_no_optimum_is_given_where_usage_wrapped_around(amount: str) -> None:
    """Switch 14: 0.18.4 reads 2^64 - 2 as -2, although its sums do not wrap around."""
    (held,) = running("x", "q", 2)
    held["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["gpu"] = amount
    parts = queue("q", 4, within="LowerPriority"), [held], pending("q", 3, priority=5)
    state = read_objects(dump_of(*parts), where="test", now=NOW, release="0.18.4")
    if amount == "2":
        assert planner.solve(state, PENDING).status == "optimal"
        return
    with pytest.raises(planner.PlannerError) as caught:
        planner.solve(state, PENDING)
    told(caught.value)


@pytest.mark.parametrize(
    ("release", "noted"), [("0.17.7", True), ("0.17.8", False), ("0.18.3", True), ("0.18.4", False)]
)
def test_a_missing_local_queue_where_past_use_orders(release: str, *, noted: bool) -> None:
    """Switch 33: v0.17.7 pkg/cache/scheduler/snapshot.go ``snapshotClusterQueue`` fails."""
    asked = queue("q", 4, within="LowerPriority")
    asked[0]["spec"]["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    (held,) = running("x", "q", 2)
    held["spec"]["queueName"] = "gone"
    sharing = {"usageHalfLifeTime": "10m", "usageSamplingInterval": "5m"}
    parts = asked, [held], pending("q", 3, priority=5), configuration(admissionFairSharing=sharing)
    state = read_objects(dump_of(*parts), where="test", now=NOW, release=release)
    found = [one for one in planner.solve(state, PENDING).notes if "LocalQueue ns/gone" in one]
    assert bool(found) == noted


@pytest.mark.parametrize(("release", "noted"), [("0.17.8", True), ("0.19.2", False)])
def test_claims_under_the_older_gate(release: str, *, noted: bool) -> None:
    """v0.17.8 pkg/dra/extended_resources.go ``NeedsDRAReconcile``; 0.18 has another gate."""
    (waits,) = pending("q", 3)
    claim = {"name": "c", "resourceClaimTemplateName": "t"}
    waits["spec"]["podSets"][0]["template"]["spec"]["resourceClaims"] = [claim]
    gates = {"DynamicResourceAllocation" if noted else "KueueDRAIntegration": True}
    parts = queue("q", 4), [waits], configuration(featureGates=gates)
    state = read_objects(dump_of(*parts), where="test", now=NOW, release=release)
    found = [one for one in planner.solve(state, PENDING).notes if "claims devices" in one]
    assert bool(found) == noted


def with_nominal(objects: list[Object], amount: str) -> list[Object]:
    """Give the only quota of a ClusterQueue another amount."""
    objects[0]["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = amount
    return objects


ELASTIC = {"featureGates": {"ElasticJobsViaWorkloadSlices": True}}


@pytest.mark.parametrize(("release", "asked"), [("0.17.7", 2), ("0.17.8", 6), ("0.18.3", 2)])
def test_a_slice_of_another_namespace(release: str, asked: int) -> None:
    """Switch 31: before the rule four of six pods are those of the old slice."""
    state = read_objects(
        dump_of(
            queue("q", 10),
            old("old", "q", Pods(4), namespace="other"),
            new("q", Pods(6), replaces="other/old"),
            configuration(**ELASTIC),
        ),
        where="test",
        now=NOW,
        release=release,
    )
    plan = planner.solve(state, PENDING)
    assert [one.requested for one in plan.demand] == [asked]


@pytest.mark.parametrize(("release", "used"), [("0.16.1", 6), ("0.16.2", 2)])
def test_what_a_slice_takes_in_a_cycle(release: str, used: int) -> None:
    """Switch 31: before the rule all six pods of the new slice are added to the usage."""
    parts = queue("q", 20), old("old", "q", Pods(4)), new("q", Pods(6)), configuration(**ELASTIC)
    state = read_objects(dump_of(*parts), where="test", now=NOW, release=release)
    snapshot = take_snapshot(state)
    decision = decide(snapshot, find_preemptor(state, snapshot, PENDING))
    assert list(decision.assigned.usage.values()) == [used]


def test_groups_of_gates() -> None:
    alpha = Configuration(
        feature_gates={"AllAlpha": True, "AllBeta": False, "PartialAdmission": True}
    )
    assert alpha.gate("PriorityBoost")
    assert alpha.gate("PartialAdmission")
    assert not alpha.gate("QuotaCheckStrategy")
    assert alpha.gate("LendingLimit")  # it is no gate any more


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_sample_is_replayed_exactly(path: Path) -> None:
    found = replay(str(path))
    assert [(one.id, one.detail) for one in found.different] == []
    assert found.equal == found.instances > 0


@pytest.mark.skipif(recorded_root() is None, reason="no recorded answers")
@pytest.mark.parametrize("release", SEEN)
def test_every_recorded_answer_of_a_release_is_reproduced(release: str, conformance: Path) -> None:
    """Of every file; in ordinary runs one line in so many, others of the other releases."""
    paths = sorted((conformance / "kueue-releases" / release).glob("*.jsonl.gz"))
    some = slice(None) if TEST_ALL else slice(SEEN.index(release), None, 4 * len(SEEN))
    found = [replay_line(json.loads(text)) for path in paths for text in texts(path)[some]]
    assert [(one.id, one.detail) for one in found if one.outcome != "equal"] == []
    assert len(found) > 100


def test_a_quota_of_pods_as_0_17_decided(conformance: Path) -> None:
    found = replay(str(conformance / "kueue-features" / "pods-quota-0.17.8.jsonl.gz"))
    assert found.equal == found.instances > 0


def test_who_asks_for_less_than_no_pods_is_refused_where_a_release_lets_it() -> None:
    waits = pending("alone", 2)
    waits[0]["status"] = {"reclaimablePods": [{"name": "main", "count": 2}]}
    dump = dump_of([*queue("alone", 4), *running("r", "alone", 4), *waits])
    assert planner.solve(planner.read(dump, now=NOW), PENDING).status == "optimal"
    older = planner.read(dump, now=NOW, release="0.17.6")
    with pytest.raises(UnsupportedError) as caught:
        planner.solve(older, PENDING)
    told(caught.value)
