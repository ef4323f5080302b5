"""Recorded answers against the reference: equal, different, skipped, and bad files."""

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from planner.commands import replay as room
from planner.commands.replay import Comparison, comparison, kueue, replay, replay_line, summarise
from planner.commands.replay.comparison import first_difference
from planner.errors import InputError
from planner.reference.kueue.cycle.processing import Cycle
from planner.reference.kueue.cycle.run import run_cycle
from planner.state.kueue import State
from tests.cli.running import SMALL, cluster
from tests.cluster import FLAVOR, NOW, cohort, configuration, dump_of, pending, queue, running
from tests.conftest import ROOT
from tests.recorded import put
from tests.told import told

Line = dict[str, Any]

SAMPLES = ROOT / "instances" / "recorded" / "topology"


def recorded(name: str = "one") -> Line:
    """Return a recorded instance: Kueue takes the newest four, newest first."""
    targets = [
        {"workload": key, "clusterQueue": "borrower", "reason": "InCohortReclamation"}
        for key in reversed(SMALL)
    ]
    flavors = {"gpu": {"flavor": FLAVOR, "mode": "Preempt"}}
    assignment = {
        "mode": "Preempt",
        "borrowing": 0,
        "podSets": [{"name": "main", "count": 1, "flavors": flavors}],
    }
    return {
        "id": name,
        "now": NOW,
        "pending": "ns/pending",
        "state": cluster(),
        "expect": {"assignment": assignment, "targets": targets},
    }


def fair(name: str = "fair") -> Line:
    """Return a recorded instance under fair sharing: the same victims, for another reason."""
    line = recorded(name)
    gates = {"FairSharingPreemptWithinNominal": False}
    line["state"] = cluster(configuration(fairSharing={}, featureGates=gates))
    for target in line["expect"]["targets"]:
        target["reason"] = "InCohortFairSharing"
    return line


def cycle(name: str = "cycle") -> Line:
    """Return a recorded scheduling cycle: the one pending workload preempts the newest four."""
    once = recorded()["expect"]
    entry = {
        "workload": "ns/pending",
        "clusterQueue": "lender",
        "outcome": "preempting",
        "status": "",
        "requeueReason": "PendingPreemption",
        "quotaReservedReason": "WaitingForPreemptedWorkloads",
        **once,
    }
    expect = {
        "entries": [entry],
        "inadmissible": [],
        "evicted": once["targets"][::-1],
        "left": {"lender": ["ns/pending"]},
        "parked": {},
        "deterministic": True,
    }
    return {"id": name, "now": NOW, "mode": "cycle", "state": cluster(), "expect": expect}


def mute(name: str = "mute") -> Line:
    """Return a recorded instance on which the scheduler itself gave no answer."""
    return {**recorded(name), "expect": {}}


def waits(name: str, queue_name: str, minute: int = 0) -> list[Line]:
    """Return a workload that waits since a minute."""
    (workload,) = pending(queue_name, 1, created=minute)
    return [{**workload, "metadata": {**workload["metadata"], "name": name, "uid": name}}]


def admitted(name: str, queue_name: str) -> Line:
    """Return the entry of a workload that simply fits."""
    flavors = {"gpu": {"flavor": FLAVOR, "mode": "Fit"}}
    pod_sets = [{"name": "main", "count": 1, "flavors": flavors}]
    return {
        "workload": f"ns/{name}",
        "clusterQueue": queue_name,
        "outcome": "admitted",
        "status": "assumed",
        "assignment": {"mode": "Fit", "borrowing": 0, "podSets": pod_sets},
    }


def tie(first: str, last: str) -> Line:
    """Return an instance in which two cohorts borrow the same; the last one loses its workload."""
    cohorts = [part for name in (first, last) for part in cohort(name, "all")]
    queues = [queue(f"in-{name}", 0, name) for name in ("left", "right")]
    line = recorded("tie")
    line["pending"] = "ns/pending"
    line["state"] = dump_of(
        configuration(fairSharing={}),
        cohort("all"),
        cohorts,
        queue("lender", 2, "all", reclaim="Any"),
        *queues,
        *(running(f"of-{name}", f"in-{name}", 1) for name in ("left", "right")),
        pending("lender", 1),
    )
    line["expect"]["targets"] = [
        {"workload": f"ns/of-{last}", "clusterQueue": f"in-{last}", "reason": "InCohortReclamation"}
    ]
    return line


def test_an_instance_that_is_reproduced() -> None:
    assert replay_line(recorded()) == Comparison("one", "equal")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("assignment", "mode"), "Fit"),
        (("assignment", "borrowing"), 1),
        (("assignment", "podSets", 0, "name"), "x"),
        (("assignment", "podSets", 0, "count"), 2),
        (("assignment", "podSets", 0, "flavors", "gpu", "flavor"), "x"),
        (("assignment", "podSets", 0, "flavors", "gpu", "mode"), "Fit"),
        (("assignment", "podSets", 0, "flavors", "cpu"), {"flavor": "x", "mode": "Fit"}),
        (("assignment", "podSets"), []),
        (("targets", 3, "workload"), "ns/big"),
        (("targets", 0, "clusterQueue"), "x"),
        (("targets", 0, "reason"), "x"),
        (("targets",), []),
    ],
)
def test_every_tampering_is_found(path: tuple[Any, ...], value: object) -> None:
    line = recorded()
    put(line["expect"], path, value)
    comparison = replay_line(line)
    assert comparison.outcome == "different"
    told(comparison.detail)


def test_order_of_targets_matters() -> None:
    line = recorded()
    line["expect"]["targets"].reverse()
    assert replay_line(line).outcome == "different"


def test_missing_and_additional_targets_are_found() -> None:
    line = recorded()
    extra = line["expect"]["targets"].pop()
    told(replay_line(line).detail)
    line["expect"]["targets"] += [extra, extra]
    assert replay_line(line).detail.startswith("targets[4]: recorded {")


@pytest.mark.parametrize("switch", [{}, {"enable": True}, {"preemptionStrategies": []}])
def test_fair_sharing_is_compared(switch: Line) -> None:
    line = fair()
    assert replay_line(line) == Comparison("fair", "equal")
    line["state"]["items"][-1]["fairSharing"] = switch
    assert replay_line(line) == Comparison("fair", "equal")
    line["state"]["items"][-1]["fairSharing"] = {"enable": False}
    assert replay_line(line).detail.startswith("targets[0].reason: ")


def test_equally_shared_cohorts_come_in_any_order() -> None:
    """Two cohorts borrow the same; the reference starts with the last one in the dump.

    The real scheduler chooses at random, and its recorded outcomes are a sample.
    """
    line = tie("left", "right")
    assert replay_line(line).outcome == "equal"
    line["expect"] = tie("right", "left")["expect"]
    assert replay_line(line).outcome == "different"
    line["expect"]["outcomes"] = [deepcopy(line["expect"])]
    assert replay_line(line).outcome == "equal"
    line["expect"]["outcomes"][0]["targets"] *= 2
    line["expect"]["targets"] *= 2
    told(replay_line(line).detail)


def test_there_are_not_too_many_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kueue, "MAX_ORDERS", 0)
    line = tie("left", "right")
    line["expect"] = tie("right", "left")["expect"]
    line["expect"]["outcomes"] = [deepcopy(line["expect"])]
    assert replay_line(line).outcome == "different"


def test_a_cycle_that_is_reproduced() -> None:
    assert replay_line(cycle()) == Comparison("cycle", "equal")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("entries", 0, "workload"), "ns/other"),
        (("entries", 0, "clusterQueue"), "borrower"),
        (("entries", 0, "outcome"), "skipped"),
        (("entries", 0, "status"), "skipped"),
        (("entries", 0, "requeueReason"), "NoFit"),
        (("entries", 0, "quotaReservedReason"), "WaitingForQuota"),
        (("entries", 0, "assignment", "mode"), "Fit"),
        (("entries", 0, "assignment", "podSets", 0, "flavors", "gpu", "mode"), "Fit"),
        (("entries", 0, "targets", 0, "reason"), "InClusterQueue"),
        (("entries",), []),
        (("inadmissible",), [{"workload": "ns/pending"}]),
        (("evicted", 0, "workload"), "ns/big"),
        (("evicted",), []),
        (("left", "lender"), []),
        (("left",), {}),
        (("parked",), {"lender": ["ns/pending"]}),
    ],
)
def test_every_tampering_with_a_cycle_is_found(path: tuple[Any, ...], value: object) -> None:
    line = cycle()
    put(line["expect"], path, value)
    assert replay_line(line).outcome == "different"


def test_entries_of_a_cycle_have_an_order() -> None:
    """Two queues without a cohort: an earlier workload comes first, whoever stands first."""
    line = cycle()
    line["state"] = dump_of(
        queue("a", 1), queue("b", 1), waits("late", "a", 9), waits("early", "b")
    )
    line["expect"] = {"entries": [admitted("early", "b"), admitted("late", "a")]}
    assert replay_line(line).outcome == "equal"
    line["expect"]["entries"].reverse()
    assert replay_line(line).detail.startswith("entries[0].workload: ")


def test_entries_that_tie_come_in_any_order() -> None:
    line = cycle()
    line["state"] = dump_of(queue("a", 1), queue("b", 1), waits("one", "a"), waits("other", "b"))
    right = {"entries": [admitted("one", "a"), admitted("other", "b")]}
    turned = {"entries": right["entries"][::-1]}
    for expect in (right, turned, {**turned, "outcomes": [turned]}):
        assert replay_line({**line, "expect": expect}).outcome == "equal"
    alone = {"entries": right["entries"][:1]}
    assert replay_line({**line, "expect": alone}).outcome == "different"


def test_any_of_several_outcomes_is_right() -> None:
    line = recorded()
    right = deepcopy(line["expect"])
    line["expect"]["targets"] = []
    other = deepcopy(line["expect"])
    line["expect"]["outcomes"] = [other, right]
    assert replay_line(line).outcome == "equal"
    line["expect"]["outcomes"] = [other, other]
    comparison = replay_line(line)
    assert comparison.outcome == "different"
    told(comparison.detail)


@pytest.mark.parametrize("expect", [{}, {"panic": "index out of range"}, {"stats": {}}])
def test_where_the_scheduler_gave_no_answer_nothing_is_compared(expect: Line) -> None:
    assert replay_line({**recorded(), "expect": expect}).outcome == "skipped"


@pytest.mark.parametrize(
    ("release", "expected"),
    [("0.16.9", "skipped"), ("0.17.6", "skipped"), ("0.17.7", "different"), ("main", "different")],
)
@pytest.mark.parametrize("at", ["pending", "running"])
def test_what_counts_below_zero_is_not_compared(at: str, release: str, expected: str) -> None:
    """Plans refuse it; since Kueue v0.17.7 no count is below zero."""
    line = {**recorded(), "release": release}
    line["expect"]["targets"][0]["workload"] = "ns/nobody"
    assert replay_line(line).outcome == "different"
    found = next(
        one
        for one in line["state"]["items"]
        if one["kind"] == "Workload" and ("admission" in one.get("status", {})) is (at == "running")
    )
    reclaimable = [{"name": "main", "count": 2}]
    found["status"] = {**found.get("status", {}), "reclaimablePods": reclaimable}
    compared = replay_line(line)
    assert compared.outcome == expected
    if expected == "skipped":
        told(compared.detail)


@pytest.mark.parametrize("part", ["assignment", "targets"])
def test_a_part_of_an_answer_is_compared_by_itself(part: str) -> None:
    line = recorded()
    del line["expect"][part]
    assert replay_line(line).outcome == "equal"
    rest = "targets" if part == "assignment" else "assignment"
    line["expect"][rest] = None
    assert replay_line(line).outcome == "different"


def test_null_is_the_same_as_empty() -> None:
    line = recorded()
    line["state"] = cluster(asks=9)
    flavorless = {"name": "main", "count": 1, "flavors": None}
    line["expect"] = {"assignment": {"mode": "NoFit", "podSets": [flavorless]}, "targets": None}
    assert replay_line(line) == Comparison("one", "equal")


def test_given_flavors_take_the_place_of_the_assignment() -> None:
    line = recorded()
    line["assignment"] = {"main": {"gpu": {"flavor": FLAVOR, "mode": "Preempt"}}}
    assert replay_line(line).outcome == "equal"
    line["assignment"]["main"]["gpu"]["mode"] = "Fit"
    assert replay_line(line).detail.startswith("assignment.mode")
    line["assignment"]["main"] = {"gpu": {"flavor": "unheard-of", "mode": "Preempt"}}
    assert replay_line(line).outcome == "different"


def test_no_answer_of_the_reference_is_a_difference() -> None:
    comparison = replay_line({**recorded(), "pending": "ns/nobody"})
    assert comparison.outcome == "different"
    told(comparison.detail)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", None),
        ("id", 7),
        ("now", None),
        ("now", "noon"),
        ("pending", ["ns/pending"]),
        ("state", []),
        ("state", {"kind": 3}),
        ("expect", None),
        ("expect", []),
        ("expect", {"outcomes": 3}),
        ("expect", {"outcomes": [3]}),
        ("assignment", 3),
        ("assignment", {"main": {"gpu": 3}}),
        ("release", "9.9"),
        ("release", "0.2.1"),
    ],
)
def test_what_is_no_recorded_instance(name: str, value: object) -> None:
    with pytest.raises(InputError, match=r"^file: line 3"):
        replay_line({**recorded(), name: value}, "file: line 3")


@pytest.mark.parametrize("part", ["inadmissible", "outcomes"])
@pytest.mark.parametrize("value", [True, 3, "none", [3]])
def test_what_is_no_recorded_cycle(part: str, value: object) -> None:
    line = cycle()
    line["expect"][part] = value
    with pytest.raises(InputError) as caught:
        replay_line(line, "file: line 3")
    told(caught.value)


def test_first_difference_of_equals_is_nothing() -> None:
    same = recorded()["expect"]
    assert first_difference(same, deepcopy(same), "expect") == ""


def store(path: Path, *lines: bytes) -> str:
    text = b"\n".join(lines) + b"\n"
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


def encoded(line: Line) -> bytes:
    return json.dumps(line).encode()


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_file_is_read_line_by_line(tmp_path: Path, name: str) -> None:
    wrong = {**recorded("wrong"), "expect": {"targets": []}}
    lines = map(encoded, (recorded(), fair(), mute(), wrong))
    shares: list[float] = []
    found = replay(store(tmp_path / name, *lines, b"", b"  "), shares.append)
    assert (found.instances, found.equal, found.skipped) == (4, 2, 1)
    assert [one.id for one in found.different] == ["wrong"]
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([b"{"], "line 1: is not JSON: it ends too early"),
        # An object in several lines, as kubectl prints it: the end of the first is no second line.
        ([b"{", b'  "kind": "List"', b"}"], "line 1: is not JSON: it ends too early"),
        ([b'{"id": "x" "y"}'], "line 1: is not JSON: Expecting ',' delimiter at column 12"),
        ([encoded(recorded()), b"[1]"], "line 2: is not a JSON object"),
        ([b"", b"", b"null"], "line 3: is not a JSON object"),
        ([b"[" * 200_000], "line 1: is not JSON"),
        ([b"\xff\xfe"], "line 1: is not JSON"),
        ([b'{"id": "x"}'], 'line 1: has no "expect"'),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_bad_lines(tmp_path: Path, name: str, lines: list[bytes], message: str) -> None:
    path = store(tmp_path / name, *lines)
    with pytest.raises(InputError) as caught:
        replay(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress((encoded(recorded()) + b"\n") * 50)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="is damaged"):
        replay(str(path))
    path.write_bytes(whole[:20] + b"\0" * 40)
    with pytest.raises(InputError, match="is damaged"):
        replay(str(path))


def test_endless_line(tmp_path: Path) -> None:
    path = store(tmp_path / "bomb.jsonl.gz", b" " * 10_000)
    with pytest.raises(InputError) as caught:
        list(comparison.read_lines(path, None, longest=1000))
    told(caught.value)


@pytest.mark.parametrize("name", ["nonesuch", "."])
def test_files_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        replay(str(tmp_path / name))
    told(caught.value)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_file_without_instances_is_not_a_success(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is empty"):
        replay(store(tmp_path / name, b"", b" "))


def test_sums() -> None:
    report = summarise([room.FileComparison("a", 3, 1, 1, (Comparison("x", "different"),))] * 2)
    assert (report.instances, report.equal, report.skipped) == (6, 2, 2)
    assert report.files[0].different == ("x",)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("domains", 0, "count"), 7),
        (("domains", 0, "values"), ["elsewhere"]),
        (("domains",), []),
        (("levels",), ["rack"]),
    ],
)
def test_every_tampering_with_a_placement_is_found(path: tuple[Any, ...], value: object) -> None:
    with gzip.open(SAMPLES / "tas-hand.jsonl.gz", "rt", encoding="utf-8") as lines:
        line: Line = next(line for line in map(json.loads, lines) if "-2-" in line["id"])
    assert replay_line(line).outcome == "equal"
    put(line["expect"]["assignment"]["podSets"][0]["topologyAssignment"], path, value)
    assert ".topologyAssignment" in replay_line(line).detail


@pytest.mark.parametrize("delayed", [True, False])
def test_second_passes_are_named_and_not_compared(*, delayed: bool) -> None:
    """Who holds quota and is placed later, or anew, is a head besides: that is not modelled."""
    with gzip.open(SAMPLES / "tas-hand.jsonl.gz", "rt", encoding="utf-8") as lines:
        line: Line = next(line for line in map(json.loads, lines) if "-2-" in line["id"])
    line["expect"]["targets"] = []
    assert replay_line(line).outcome == "different"
    status = next(
        item["status"]
        for item in line["state"]["items"]
        if item["kind"] == "Workload" and item.get("status", {}).get("admission")
    )
    if delayed:
        status["admission"]["podSetAssignments"][0]["delayedTopologyRequest"] = "Pending"
    else:
        status["unhealthyNodes"] = [{"name": "n1"}]
    assert replay_line(line) == Comparison(line["id"], "uncovered", "topology")


EXAMPLES = ROOT / "instances" / "recorded" / "features" / "examples.jsonl.gz"


def example(name: str) -> Line:
    """Return a recorded example of what decides who is nominated."""
    with gzip.open(EXAMPLES, "rt", encoding="utf-8") as lines:
        found: Line = next(line for line in map(json.loads, lines) if line["id"] == name)
    return found


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("q01-lq-hold", ("nominated",), True),
        ("q01-lq-hold", ("why",), "backOff"),
        ("q01-lq-hold", ("message",), "workload is inadmissible"),
        ("q12-not-the-head/new", ("ifHead", "targets"), []),
        ("q12-not-the-head/new", ("ifHead", "message"), "nothing"),
        ("q12-not-the-head/vip", ("requests", "main", "cpu"), "1"),
        ("q12-not-the-head/vip", ("outcome",), "skipped"),
        ("q12-not-the-head/vip", ("evicted",), []),
        ("q12-not-the-head/vip", ("targets",), []),
        ("q12-not-the-head/vip", ("message",), ""),
        ("ca02-parent-holds-no-quota", ("message",), "not enough"),
        ("q12-not-the-head/cycle", ("notQueued",), [{"workload": "ns/x", "message": "y"}]),
        ("q12-not-the-head/cycle", ("inactiveClusterQueues",), ["q"]),
        ("q12-not-the-head/cycle", ("admitted",), ["ns/vip"]),
        ("q12-not-the-head/cycle", ("blocked",), True),
    ],
)
def test_every_tampering_with_a_nomination_is_found(
    name: str, path: tuple[str, ...], value: object
) -> None:
    line = example(name)
    assert replay_line(line) == Comparison(name, "equal")
    put(line["expect"], path, value)
    assert replay_line(line).outcome == "different"


def with_topology(request: Line | None, name: str | None) -> Line:
    """Return an example in which a podset asks for a topology, or the flavor offers one.

    It is said to be of an older release, whose placement is not modelled.
    """
    line = {**example("q12-not-the-head/vip"), "release": "0.18.6"}
    for item in line["state"]["items"]:
        if item["kind"] == "ResourceFlavor" and name:
            item["spec"]["topologyName"] = name
        if item["kind"] == "Workload" and request is not None:
            item["spec"]["podSets"][0]["topologyRequest"] = request
    return line


def test_what_is_not_covered_is_named_and_not_compared() -> None:
    for line in (with_topology({"required": "rack"}, None), with_topology(None, "dc")):
        line["expect"]["outcome"] = "wrong"
        assert replay_line(line) == Comparison(line["id"], "uncovered", "topology")
    group = with_topology({"podSetGroupName": "g"}, None)
    assert replay_line(group).outcome == "equal"


def test_uncovered_lines_are_counted(tmp_path: Path) -> None:
    other = with_topology(None, "dc")
    other["expect"]["outcome"] = "wrong"
    lines = [json.dumps(other).encode(), json.dumps(recorded()).encode()]
    found = replay(store(tmp_path / "a.jsonl", *lines))
    assert (found.instances, found.equal, found.different) == (2, 1, ())
    report = summarise([found])
    assert report.uncovered == 1
    assert report.files[0].uncovered == {"q12-not-the-head/vip": "topology"}


def test_of_few_orders_each_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three queues and two cohorts there are twelve, the one of the dump among them."""
    parts = [*cohort("x"), *cohort("y"), *(one for name in "abc" for one in queue(name, 1))]
    line = {**cycle(), "state": dump_of(parts)}
    tried: list[tuple[str, ...]] = []
    run = run_cycle

    def noted(state: State, *given: Any, **more: Any) -> Cycle:
        tried.append(tuple(one.name for one in (*state.cluster_queues, *state.cohorts)))
        return run(state, *given, **more)

    monkeypatch.setattr(kueue, "run_cycle", noted)
    assert replay_line(line).outcome == "different"
    others = [one for one in tried if one != ("a", "b", "c", "x", "y")]
    assert len(others) == len({*others}) == 11
