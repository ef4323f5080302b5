"""``planner snapshot --yunikorn``: from the service of a core, or what is none, to a state."""

import copy
import json
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from planner.operations.rest import yunikorn_dump
from planner.reader import read, read_objects
from planner.state.clock import from_nanoseconds, present
from planner.state.yunikorn import YuniKornState
from tests.cli.running import call
from tests.conftest import YUNIKORN, recorded_root
from tests.operations.rest.service import Answer, Said, as_json, core, error, serving
from tests.told import told

Json = dict[str, Any]
QUICKSTART = YUNIKORN / "statedump.json"
RECORDED = sorted(
    ((recorded_root() or Path("nowhere")) / "yunikorn" / "statedump").glob("*.dump.json")
)
SECRET = "sesame"  # noqa: S105 - the point of the tests
PENDING = "serving/ranker-2"
TELLING = (
    "yunikorn.apache.org/requiredNode",
    "kubernetes.io/meta/namespace",
    "kubernetes.io/meta/podName",
)


def dump_of(path: Path = QUICKSTART) -> Json:
    value: Json = json.loads(path.read_bytes())
    return value


def state_of(source: Path | Json) -> Json:
    """Return a state without what it is called, whose it is, and tags that nothing is made of."""
    state = read_objects(source, where="x") if isinstance(source, dict) else read(source)
    assert isinstance(state, YuniKornState)
    value = state.model_dump(exclude={"source", "digest"})
    for application in value["partitions"][0]["applications"]:
        del application["user"], application["groups"]
        for claim in (*application["allocations"], *application["requests"]):
            tags = claim["allocation_tags"]
            claim["allocation_tags"] = {name: tags.get(name) for name in TELLING}
    return value


def with_secrets(dump: Json) -> Json:
    """Hide something wherever the core, the shim or an operator may have put it."""
    whole = copy.deepcopy(dump)
    whole["config"]["Extra"] = {"service.token": SECRET}
    whole["rmDiagnostics"]["config"] = {"token": SECRET}
    pod, *others = whole["rmDiagnostics"]["cache"]["pods"].values()
    for other in others:
        other["labels"] = {"app": "x", "tier": "back", "x": SECRET}
    pod["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": SECRET}
    pod["labels"] = {"app": "x", "tier": "front", "team": SECRET}
    row = {"key": "tier", "operator": "Exists"}
    rule = {"topologyKey": "zone", "namespaceSelector": {"matchLabels": {"team": "a"}}}
    rule["labelSelector"] = {"matchLabels": {"app": "x"}, "matchExpressions": [row]}
    preferred = {"weight": 1, "podAffinityTerm": rule | {"labelSelector": {"x": SECRET}}}
    pod["affinity"] = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [rule],
            "preferredDuringSchedulingIgnoredDuringExecution": [preferred],
        },
        "nodeAffinity": {"x": SECRET},
    }
    whole["rmDiagnostics"]["cache"]["priorityClasses"]["batch"]["labels"] = {"app": SECRET}
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule", "timeAdded": SECRET}
    (info, *_) = whole["nodes"][0]["nodesInfo"]
    machine = {"name": info["nodeID"], "labels": {"app": SECRET}, "taints": [taint]}
    whole["rmDiagnostics"]["cache"]["nodes"] = {info["nodeID"]: machine}
    for application in whole["applications"]:
        application |= {"user": SECRET, "groups": [SECRET]}
        for claim in application.get("allocations") or ():
            claim["allocationTags"]["kubernetes.io/label/x"] = SECRET
    whole["nodes"][0]["nodesInfo"][0]["attributes"] = {"x": SECRET}
    builds = [{"buildVersion": "1.7.0", "shimSHA": SECRET}]
    whole["clusterInfo"] = [{"clusterName": SECRET, "rmBuildInformation": builds}]
    whole["eventStreams"] = [{"name": SECRET}]
    return whole


@pytest.mark.parametrize("path", [QUICKSTART, *RECORDED], ids=lambda path: path.stem)
def test_the_state_is_that_of_the_whole_dump(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "state.json"
    with serving(core(dump_of(path))) as asked:
        result = call("snapshot", "--yunikorn", asked.url, "-o", out)
    assert (result.exit_code, asked.paths) == (0, ["/debug/fullstatedump"])
    assert state_of(out) == state_of(path)
    assert out.stat().st_size < path.stat().st_size


def test_counts_and_plan(tmp_path: Path) -> None:
    out = tmp_path / "state.json"
    with serving(core(dump_of())) as asked:
        result = call("snapshot", "--yunikorn", asked.url, "-o", out)
    dump = dump_of()
    applications, nodes = len(dump["applications"]), len(dump["nodes"][0]["nodesInfo"])
    counted = f"partitions 1, queues 1, applications {applications}, nodes {nodes}"
    assert result.stderr == f"snapshot: {counted}\n"
    plans = [
        json.loads(call("solve", one, "--pending", PENDING, "--format", "json").stdout)
        for one in (out, QUICKSTART)
    ]
    assert plans[0]["victims"] == plans[1]["victims"] != []


def test_what_is_not_read_is_not_kept(tmp_path: Path) -> None:
    out = tmp_path / "state.json"
    dump = with_secrets(dump_of())
    with serving(core(dump)) as asked:
        assert call("snapshot", "--yunikorn", asked.url, "-o", out).exit_code == 0
    assert SECRET not in out.read_text()
    state = state_of(out)
    assert state == state_of(dump)
    assert "keeps off by anti-affinity" in str(state)
    # Of labels only stay those that a selector of pods names.
    first, *others = json.loads(out.read_text())["rmDiagnostics"]["cache"]["pods"].values()
    assert first["labels"] == {"app": "x", "tier": "front"}
    assert {key for one in others for key in one["labels"]} == {"app", "tier"}
    assert state["release"] == "1.7.0"


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_whether_a_pod_is_over_is_kept(phase: str, tmp_path: Path) -> None:
    """Only one that still runs keeps others apart from it."""
    out = tmp_path / "state.json"
    dump = dump_of()
    status = {"phase": phase, "message": SECRET}
    rule = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}
    pod = {"namespace": "a", "name": "one", "nodeName": "worker-1", "affinity": apart}
    dump["rmDiagnostics"]["cache"]["pods"]["a/one"] = pod | {"status": status}
    with serving(core(dump)) as asked:
        assert call("snapshot", "--yunikorn", asked.url, "-o", out).exit_code == 0
    state = state_of(out)
    assert state == state_of(dump)
    assert ("that a/one on worker-1 keeps off" in str(state)) == (phase == "Running")
    assert SECRET not in out.read_text()


def test_whose_applications_are_is_kept_where_there_are_limits(tmp_path: Path) -> None:
    out = tmp_path / "state.json"
    dump = dump_of()
    dump["config"]["Partitions"][0]["Queues"][0]["Limits"] = [{"Users": ["ada"]}]
    dump["applications"][0] |= {"user": "ada", "groups": ["ml"]}
    with serving(core(dump)) as asked:
        assert call("snapshot", "--yunikorn", asked.url, "-o", out).exit_code == 0
    kept = json.loads(out.read_text())["applications"][0]
    assert (kept["user"], kept["groups"]) == ("ada", ["ml"])


def with_usage(answer: Answer, usage: Json) -> Answer:
    """Answer what users and groups have, too."""

    def asked(path: str, handler: BaseHTTPRequestHandler) -> Said | None:
        kind = path.rpartition("/ws/v1/partition/default/usage/")[2]
        return as_json(usage[kind]) if kind in usage else answer(path, handler)

    return asked


def test_what_users_and_groups_have_is_asked_where_there_are_limits(tmp_path: Path) -> None:
    out = tmp_path / "state.json"
    dump = dump_of()
    row: Json = {"queuePath": "root", "maxResources": {"vcore": 5}}
    row |= {
        "resourceUsage": {"vcore": 3},
        "maxApplications": 2,
        "runningApplications": ["a"],
        "children": None,
    }
    users = [{"userName": "ada", "groups": {"a": "ml"}, "queues": row, "more": SECRET}]
    answer = with_usage(core(dump), {"users": users, "groups": None})
    with serving(answer) as asked:
        assert call("snapshot", "--yunikorn", asked.url, "-o", out).exit_code == 0
    assert asked.paths == ["/debug/fullstatedump"]
    dump["config"]["Partitions"][0]["Limits"] = [{"Users": ["ada"]}]
    answer = with_usage(core(dump), {"users": users, "groups": None})
    with serving(answer) as asked:
        assert call("snapshot", "--yunikorn", asked.url, "-o", out).exit_code == 0
    assert SECRET not in out.read_text()
    state = read(out)
    assert isinstance(state, YuniKornState)
    usage = state.partitions[0].usage
    assert usage is not None
    (ada,) = usage.users
    assert (ada.user_name, ada.groups, usage.groups) == ("ada", {"a": "ml"}, ())
    assert ada.queues is not None
    known = ada.queues.resource_usage, ada.queues.max_resources, ada.queues.max_applications
    assert known == ({"vcore": 3}, {"vcore": 5}, 2)


def test_a_service_that_does_not_say_what_users_have(tmp_path: Path) -> None:
    dump = dump_of()
    dump["config"]["Partitions"][0]["Limits"] = [{"Users": ["ada"]}]
    with serving(core(dump)) as asked:
        result = call("snapshot", "--yunikorn", asked.url, "-o", tmp_path / "state.json")
    assert result.exit_code == 0
    told(result.stderr)


def test_before_yunikorn_1_7(tmp_path: Path) -> None:
    out = tmp_path / "state.json"
    with serving(core(dump_of(), dump_at="/ws/v1/fullstatedump")) as asked:
        assert call("snapshot", "--yunikorn", f"{asked.url}/", "-o", out).exit_code == 0
    assert asked.paths == ["/debug/fullstatedump", "/ws/v1/fullstatedump"]
    assert state_of(out) == state_of(QUICKSTART)


def page(path: str, _: BaseHTTPRequestHandler) -> Said:
    """Answer as a server of web pages does, which has one for every path."""
    del path
    return Said(200, b"<!doctype html>", "text/html; charset=utf-8")


def behind_pages(answer: Answer) -> Answer:
    """Let only /ws through, as the server of YuniKorn's web pages does."""
    return lambda path, handler: (answer if path.startswith("/ws/") else page)(path, handler)


def test_put_together_where_the_dump_is_not_to_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "state.json"
    dump = dump_of()
    moment = from_nanoseconds(dump["timestamp"])
    monkeypatch.setattr(yunikorn_dump, "present", lambda: moment)
    with serving(behind_pages(core(dump, dump_at=None))) as asked:
        result = call("snapshot", "--yunikorn", asked.url, "-o", out)
    assert result.exit_code == 0
    told(result.stderr)
    below = "/ws/v1/partition/default"
    # In the order of the core's own dump (webservice/state_dump.go, doStateDump): the queue of an
    # application that comes in between is there.
    pieces = (f"{below}/applications/active", f"{below}/nodes", f"{below}/queues")
    assert asked.paths[2:] == ["/ws/v1/partitions", *pieces, "/ws/v1/config", "/ws/v1/clusters"]
    del dump["rmDiagnostics"]  # which nothing but the dump has
    assert state_of(out) == state_of(dump)


def test_names_of_partitions_stay_below_their_path() -> None:
    dump = dump_of()
    dump["partitions"] = [{"name": "../../x?y#z"}]
    with serving(core(dump, dump_at=None)) as asked:
        assert call("snapshot", "--yunikorn", asked.url).exit_code == 2
    assert asked.paths[-1] == "/ws/v1/partition/..%2F..%2Fx%3Fy%23z/applications/active"


@pytest.mark.parametrize("partitions", [None, [], [{}], [{"name": None}]])
def test_a_core_without_partitions_is_none(partitions: object, tmp_path: Path) -> None:
    """It has one before it answers: nothing would be left of the cluster."""
    usual, out = core(dump_of(), dump_at=None), tmp_path / "state.json"

    def answer(path: str, handler: BaseHTTPRequestHandler) -> Said | None:
        is_asked = path == "/ws/v1/partitions"
        return as_json(partitions) if is_asked else usual(path, handler)

    with serving(answer) as asked:
        result = call("snapshot", "--yunikorn", asked.url, "-o", out)
    assert (result.exit_code, out.exists()) == (2, False)
    assert result.stderr.startswith(f"error: {asked.url}/ws/v1/partitions: ")


def test_the_clock_is_the_present() -> None:
    now = present()
    assert now.tzinfo == UTC
    assert now >= datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *_: Said(404, b"404 page not found\n", "text/plain"), "answers 404 Not Found"),
        (lambda *_: error(500, "no memory"), 'answers 500 Internal Server Error: "no memory"'),
        (lambda *_: error(401, "who are you"), "answers 401 Unauthorized"),
        (lambda *_: Said(503, b"", "text/plain"), "answers 503 Service Unavailable"),
        (lambda *_: Said(299, b"", "text/plain"), "answers 299"),
        (page, "answers with text/html, not JSON"),
        (lambda *_: Said(200, b"hello", "text/plain"), "answers with text/plain, not JSON"),
        (lambda *_: Said(200, b'{"a":', "application/json"), "too early"),
        (lambda *_: Said(200, b"", "application/json"), "answers with 0 documents"),
        (lambda *_: as_json([1, 2]), "answers a list"),
        (lambda *_: as_json({"kind": "Status"}), "is no state dump"),
        (lambda *_: as_json({"timestamp": 1, "partitions": 5, "queues": []}), "is no state dump"),
    ],
)
def test_what_is_no_service_of_yunikorn(answer: Answer, said: str, tmp_path: Path) -> None:
    out = tmp_path / "state.json"
    with serving(answer) as asked:
        result = call("snapshot", "--yunikorn", asked.url, "-o", out)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {asked.url}/")
    assert said in result.stderr
    assert not out.exists()


def test_bounds_are_those_of_the_command() -> None:
    with serving(core(dump_of())) as asked:
        result = call("snapshot", "--yunikorn", asked.url, "--max-size", "1000")
    assert result.exit_code == 2
    assert "more than the 1000 bytes that are read at most" in result.stderr


@pytest.mark.parametrize(
    "words", [("--context", "x"), ("-n", "x"), ("--without", "pods"), ("--as", "x")]
)
def test_options_of_kubectl_go_not_with_it(words: tuple[str, str]) -> None:
    with serving(page) as asked:
        result = call("snapshot", "--yunikorn", asked.url, *words)
    assert (result.exit_code, asked.paths) == (2, [])
    told(result.stderr)
