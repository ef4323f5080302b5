"""Told by hand: one preemptor, or two, and what can be in the way."""

import copy
import json
from collections.abc import Sequence

import pytest

from planner.errors import InputError
from planner.operations.kubectl.call import Answer
from planner.operations.kubectl.kueue_resource import WATCHED, WORKLOADS
from planner.operations.kubectl.watch import WatchEvent
from planner.operations.steer.kueue.carry import LEASE_S, Lease
from planner.operations.steer.kueue.decide import Policy
from planner.operations.steer.kueue.loop import How, Scope, released
from planner.operations.steer.kueue.marks import GATE, NOTE, Marked, Patch
from planner.operations.steer.kueue.setup import findings
from planner.operations.steer.record import Act, Steered
from planner.operations.watch.record import Note
from planner.state.kueue_workload import BOOST_ANNOTATION
from tests.cluster import FLAVOR, KUEUE, Object, cohort, queue, running
from tests.operations.steer.world import LEASE, World, gated, settings, settled, workload
from tests.told import told


def parts(*more: list[Object], gates: dict[str, bool] | None = None) -> list[Object]:
    """Return a queue that wants its 4 back from another, where a fresh and an old job of 4 run.

    Kueue takes the fresh one, which started last; the old one loses more work, unless it has just
    written a checkpoint.
    """
    fresh = {"preemption-planner.io/last-checkpoint": "2026-05-01T12:59:59Z"}
    return [
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": FLAVOR}},
        *settings(gates),
        copy.deepcopy(LEASE),
        *cohort("all"),
        *queue("lender", 8, "all", reclaim="LowerPriority"),
        *queue("borrower", 0, "all"),
        *running("saved", "borrower", 4, minute=1, annotations=fresh),
        *running("late", "borrower", 4, minute=2),
        *(one for some in more for one in some),
    ]


def blocked(**how: object) -> World:
    """Return a world in which a workload is blocked on our gate, and the plan is not Kueue's."""
    return settled([*parts(), gated(workload("first", "lender", 4, 10))], **how)


def operations(patch: Patch) -> list[Object]:
    return [one for one in patch.change if isinstance(one, dict)]


def acts(world: World) -> list[str]:
    return [one.act for one in world.lines if isinstance(one, Act)]


def test_boosts_make_kueue_choose_the_plan_and_are_taken_away() -> None:
    world = blocked(until_s=10)
    assert world.decisions == []
    world.steer()
    assert world.first_decisions() == {"ns/first": {"ns/saved"}}
    (one,) = world.steered()
    assert (one.planned, one.own, one.evicted) == (("ns/saved",), ("ns/late",), ("ns/saved",))
    assert (one.came, one.steered, one.admitted, one.boosts) == (
        "exact",
        True,
        True,
        {"ns/saved": -1},
    )
    assert one.spared_s > 0
    assert acts(world) == ["plan", "boost", "open", "take back"]
    assert world.boosts() == {}


def test_a_dry_run_writes_no_boost_and_lets_kueue_choose() -> None:
    world = blocked(until_s=10)
    world.steer(How(dry_run=True))
    assert world.first_decisions() == {"ns/first": {"ns/late"}}
    assert world.acts("plan")[0].boosts == {"ns/saved": -1}
    assert "boost" not in acts(world)


def test_who_is_not_asked_for_is_let_go_for_kueues_own_choice() -> None:
    for scope in (Scope(queues=frozenset({"borrower"})), Scope(namespaces=frozenset({"other"}))):
        world = blocked(until_s=10)
        world.steer(How(scope=scope))
        assert world.first_decisions() == {"ns/first": {"ns/late"}}


@pytest.mark.parametrize("otherwise", ["kueue", "wait"])
def test_a_boost_of_somebody_else_is_not_touched(otherwise: str) -> None:
    world = blocked(until_s=10)
    world.find("ns/saved")["metadata"]["annotations"][BOOST_ANNOTATION] = "0"
    world.steer(How(Policy(otherwise=otherwise)))  # type: ignore[arg-type]
    assert world.find("ns/saved")["metadata"]["annotations"][BOOST_ANNOTATION] == "0"
    expected = {"ns/first": {"ns/late"}} if otherwise == "kueue" else {}
    assert world.first_decisions() == expected
    told(world.acts("plan")[0].why)


def test_one_of_a_tree_at_a_time() -> None:
    both = [gated(workload(name, "lender", 4, 10)) for name in ("first", "second")]
    world = settled([*parts(), *both], until_s=20)
    world.steer()
    assert {**world.first_decisions()} == {"ns/first": {"ns/saved"}, "ns/second": {"ns/late"}}
    opened = [one.preemptor for one in world.acts("open")]
    assert opened == ["ns/first", "ns/second"]
    admitted = [one.preemptor for one in world.lines if isinstance(one, Steered)]
    assert admitted == opened
    order = [
        one for one in world.lines if getattr(one, "act", "") == "open" or isinstance(one, Steered)
    ]
    assert [type(one) for one in order] == [Act, Steered, Act, Steered]


def test_a_plan_is_made_anew_where_somebody_came_in_between() -> None:
    def churn(world: World) -> None:
        if world.boosts() and not world.gone:
            world.finish("ns/saved")

    world = blocked(until_s=15)
    world.after_boost = churn
    world.steer()
    assert "ns/saved" not in set().union(*world.first_decisions().values(), set())
    assert world.boosts() == {}


def test_patience_ends_in_kueues_own_choice() -> None:
    world = blocked(until_s=20)
    world.refuses = frozenset({"ns/saved"})  # each boost is refused: the object has changed
    world.steer(How(Policy(patience_s=3)))
    assert world.first_decisions() == {"ns/first": {"ns/late"}}
    (opened,) = world.acts("open")
    told(opened.why)


@pytest.mark.parametrize(
    "note",
    [
        "{}",
        "[]",
        "x",
        "[" * 10_000,
        json.dumps({"for": "ns/first", "uid": "uid-other"}),
        json.dumps({"for": "ns/first"}),
    ],
)
def test_a_note_that_is_not_about_its_workload_is_nobodys(note: str) -> None:
    world = blocked(until_s=3)
    annotations = world.find("ns/late")["metadata"]["annotations"]
    annotations |= {NOTE: note, BOOST_ANNOTATION: "5"}
    world.steer()
    assert world.find("ns/late")["metadata"]["annotations"][BOOST_ANNOTATION] == "5"


def test_a_forged_note_only_takes_the_boost_beside_it_away() -> None:
    world = blocked(until_s=10)
    forged = {"for": "ns/first", "uid": "uid-late", "was": "2147483647"}
    annotations = world.find("ns/late")["metadata"]["annotations"]
    annotations |= {NOTE: json.dumps(forged), BOOST_ANNOTATION: "1000", "other": "stays"}
    world.steer()
    assert world.find("ns/late")["metadata"]["annotations"] == {"other": "stays"}
    assert world.first_decisions() == {"ns/first": {"ns/saved"}}


def test_gates_of_others_are_left_alone() -> None:
    world = settled([*parts(), gated(workload("first", "lender", 4, 10))], until_s=5)
    world.find("ns/first")["spec"]["preemptionGates"].insert(0, {"name": "other"})
    world.steer()
    assert acts(world) == []
    assert released(world.take, world.hands) == (1, ())
    assert world.find("ns/first")["spec"]["preemptionGates"] == [{"name": "other"}]


def test_the_place_of_our_gate_is_tested_before_it_is_opened() -> None:
    first = gated(workload("first", "lender", 4, 10))
    first["status"] = {"preemptionGates": [{"name": "other", "position": "Open"}]}
    now = World([]).take().taken_at
    assert operations(Marked(first).opened(now))[-1]["path"] == "/status/preemptionGates/-"
    first["status"]["preemptionGates"].append({"name": GATE, "position": "Closed"})
    test, change = operations(Marked(first).opened(now))
    assert test == {"op": "test", "path": "/status/preemptionGates/1/name", "value": GATE}
    assert change["path"] == "/status/preemptionGates/1/position"


def test_only_who_holds_the_lease_acts() -> None:
    world = blocked(until_s=60)
    other = Lease(world.hands, "preemption-planner-steer/steer", "other", lambda: world.now_s)
    assert other.keep()
    mine = Lease(world.hands, "preemption-planner-steer/steer", "mine", lambda: world.now_s)
    world.steer(lease=mine)
    opened = world.acts("open")
    assert opened
    assert world.decisions[0][0] >= LEASE_S  # the other one is gone, and never renews it
    told([one.text for one in world.lines if isinstance(one, Note)][-1])
    other_again = Lease(world.hands, "preemption-planner-steer/steer", "other", lambda: world.now_s)
    assert not other_again.keep()
    mine.leave()
    again = Lease(world.hands, "preemption-planner-steer/steer", "again", lambda: world.now_s)
    assert again.keep()


def test_an_outage_of_all_streams_is_told_once() -> None:
    world = blocked(until_s=10)
    tell, outages = world.poll, [2, 4]

    def poll(timeout_s: float) -> Sequence[WatchEvent]:
        events = [*tell(timeout_s)]
        if outages and world.now_s >= outages[0]:
            outages.pop(0)
            gone = Answer(1, b"", "Unable to connect to the server: EOF")
            events += [WatchEvent(one, "LOST", answer=gone) for one in WATCHED]
            events += [WatchEvent(one, "BEGUN") for one in WATCHED]
        return events

    world.poll = poll  # type: ignore[method-assign]
    world.steer()
    assert outages == []
    told = [one for one in world.lines if isinstance(one, Note)]
    notes = [one for one in told if not one.connected]
    assert len(notes) == 2
    assert all("Unable to connect" in one.text for one in notes)
    assert told[-1].connected  # and so says the metric
    assert world.first_decisions() == {"ns/first": {"ns/saved"}}


def test_what_cannot_be_read_is_read_anew() -> None:
    world = blocked(until_s=20)
    tell, odd = world.poll, [True]

    def poll(timeout_s: float) -> Sequence[WatchEvent]:
        events = [*tell(timeout_s)]
        if odd and world.now_s >= 1:
            odd.pop()
            value = copy.deepcopy(world.find("ns/late"))
            value["spec"]["podSets"] = 7
            value["metadata"]["resourceVersion"] = "900"
            events.append(WatchEvent(WORKLOADS, "MODIFIED", value))
        return events

    world.poll = poll  # type: ignore[method-assign]
    world.steer()
    assert [one.connected for one in world.lines if isinstance(one, Note)] == [True, False, True]
    assert world.first_decisions() == {"ns/first": {"ns/saved"}}


def test_without_a_lease_object_it_says_what_makes_one() -> None:
    world = blocked()
    world.items = [one for one in world.items if one["kind"] != "Lease"]
    lease = Lease(world.hands, "preemption-planner-steer/steer", "mine", lambda: world.now_s)
    with pytest.raises(InputError) as caught:
        world.steer(lease=lease)
    told(caught.value)
    with pytest.raises(InputError) as caught:
        Lease(world.hands, "--x/steer", "mine", lambda: 0.0)
    told(caught.value)


@pytest.mark.parametrize("what", ["workloads.kueue.x-k8s.io", "workloads.kueue.x-k8s.io/status"])
def test_a_missing_right_ends_it_with_the_cure(what: str) -> None:
    world = blocked(until_s=10, forbidden=frozenset({what}))
    with pytest.raises(InputError) as caught:
        world.steer()
    told(caught.value)
    assert world.decisions == []
    lease = "preemption-planner-steer/steer"
    found = {one.what: one for one in findings(world.state(), world.hands, lease)}
    missing = found[f"the right to patch {what}"]
    assert not missing.holds
    told(missing.cure)
    assert world.boosts() == {}


def test_what_is_there_and_what_is_missing() -> None:
    world = blocked()
    of = "/apis/admissionregistration.k8s.io"
    name = "preemption-planner-steer"
    lease = f"{name}/steer"
    old = {one.what: one for one in findings(world.state(), world.hands, lease)}
    policy = old.pop("MutatingAdmissionPolicy")
    assert (policy.holds, "1.36" in policy.cure) == (False, True)
    assert all(one.holds for one in old.values())
    world.raw = {f"{of}/v1beta1": {"resources": [{"name": "mutatingadmissionpolicies"}]}}
    found = {one.what: one for one in findings(world.state(), world.hands, f"{name}/other")}
    wanting = {what: one.cure for what, one in found.items() if not one.holds}
    apply = "planner steer --manifests v1beta1 | kubectl apply -f -"
    assert wanting == {
        f"mutatingadmissionpolicies/{name}": apply,
        f"mutatingadmissionpolicybindings/{name}": apply,
        f"the Lease {name}/other": "`planner steer --manifests` prints it",
    }


@pytest.mark.parametrize(
    ("gates", "image"),
    [({}, "kueue:v0.16.4"), ({}, "kueue:v0.18.6"), ({"PriorityBoost": True}, "kueue:v0.18.6")],
)
def test_a_kueue_that_cannot_be_steered_is_refused(gates: dict[str, bool], image: str) -> None:
    items = [one for one in parts() if one["kind"] not in {"ConfigMap", "Deployment"}]
    world = World([*items, *settings(gates, image)])
    with pytest.raises(InputError) as caught:
        world.steer()
    told(caught.value)
