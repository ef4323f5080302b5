"""The service: same answers as the command line, hard bounds, clear refusals, nothing kept."""

import asyncio
import gzip
import importlib.util
import json
import os
import signal
import socket
import subprocess
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from planner.cli import serve
from planner.cli.value import address
from planner.commands.serve.app import ENDPOINTS, AskedWho, Bounds, Service
from planner.objective.profiles import PROFILES
from tests.batch.runs import wait_for
from tests.cli.running import call, cluster, command, environment, refused
from tests.commands.serve.asking import Answer, ask
from tests.conftest import FOR_EVER_S, ROOT

DUMP = json.dumps(cluster()).encode()
BOUNDS = Bounds(max_bytes=10**6, seconds=FOR_EVER_S, memory=4 * 2**30, at_once=1)


def service(**bounds: float) -> Service:
    return Service(BOUNDS._replace(**bounds), serve.description)  # type: ignore[arg-type]


def one(answer: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run(answer)


def without_times(plan: dict[str, Any]) -> dict[str, Any]:
    del plan["certificate"]["wall_time_s"]
    return plan


def test_a_plan_is_that_of_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_bytes(DUMP)
    printed = call("solve", file, "--pending", "ns/pending", "--format", "json")
    query = {"pending": "ns/pending"}
    answer = one(ask(service(), "/v1/plan", DUMP[:100], DUMP[100:], **query))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["planner-exit-code"] == str(printed.exit_code) == "0"
    assert without_times(answer.json) == without_times(json.loads(printed.stdout))


def test_gzip_and_objectives() -> None:
    answer = one(ask(service(), "/v1/plan", gzip.compress(DUMP), objective="min-count"))
    assert answer.json["objective"] == "min-count"
    for name in PROFILES:
        assert AskedWho(objective=name).objective == name


def test_why_not_and_a_page() -> None:
    why = one(ask(service(), "/v1/explanation", DUMP, victim="ns/small-1"))
    assert (why.status, why.json["question"]) == (200, "why-not-that-one")
    assert why.json["workloads"][0]["workload"] == "ns/small-1"
    page = one(ask(service(), "/v1/page", DUMP))
    assert page.data.startswith(b"<!DOCTYPE html>")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.headers["cache-control"] == "no-store"


def test_what_if_and_what_can_be_set() -> None:
    edits = ["clusterqueue/lender.quota.default/gpu.nominal=2", "workload/ns/big.priority=3"]
    whatif = one(ask(service(), "/v1/whatif", DUMP, set=edits))
    assert (whatif.status, whatif.json["edits"]) == (200, edits)
    assert whatif.json["optimum"]["no_longer"] == ["ns/big"]
    listed = one(ask(service(), "/v1/settings", DUMP)).json
    assert [each["key"] for each in listed["pending"]] == ["ns/pending"]
    targets = {each["target"] for thing in listed["objects"] for each in thing["settings"]}
    assert {edit.partition("=")[0] for edit in edits} <= targets


@pytest.mark.parametrize(
    "edits", [[], ["x=1"] * 101, ["a\nb=1"], ["x" * 1201], ["--output=/tmp/x\0"]]
)
def test_edits_are_bounded(edits: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.commands.serve.app.PROGRAM", "nothing.is.started")
    assert one(ask(service(), "/v1/whatif", DUMP, set=edits)).status == 400


@pytest.mark.parametrize(
    ("dump", "query", "said"),
    [
        (b"{", {}, "stdin"),
        (DUMP, {"pending": "ns/nobody"}, "ns/nobody"),
        (DUMP, {"pending": "--output=/tmp/x"}, "--output=/tmp/x"),
        (DUMP, {"pending": "edit that are read at most kind: option"}, "are read at most kind"),
        (gzip.compress(DUMP)[:-9], {}, "is not a whole gzip file"),
        (json.dumps({"metadata": {}, "queues": [], "nodes": []}).encode() * 2, {}, "a second"),
    ],
)
def test_what_cannot_be_used_says_why(dump: bytes, query: dict[str, str], said: str) -> None:
    answer = one(ask(service(), "/v1/plan", dump, **query))
    assert answer.status == 422
    assert said in answer.json["error"]
    assert "Traceback" not in answer.json["error"]
    assert not answer.json["error"].endswith("kind: input")


@pytest.mark.parametrize(
    "dump",
    [gzip.compress(b" " * 2 * 10**6), gzip.compress(b"[" + b"{}," * 2**19 + b"{}]")],
    ids=["bytes", "values"],
)
def test_a_dump_that_is_too_large_unpacked_is_too_large(dump: bytes) -> None:
    answer = one(ask(service(max_bytes=1_900_000), "/v1/plan", dump))
    assert answer.status == 413
    assert "are read at most" in answer.json["error"]


@pytest.mark.parametrize(
    "query",
    [
        {"objective": "nonesuch", "set": "a=b"},
        {"now": "99", "set": "a=b"},
        {"pending": " ", "set": "a=b"},
        {"set": "no edit"},
        {"set": "clusterqueue/nobody.fairSharing.weight=2"},
    ],
)
def test_a_value_that_an_option_cannot_have(query: dict[str, str]) -> None:
    """Only the command itself tells."""
    answer = one(ask(service(), "/v1/whatif", DUMP, **query))
    assert answer.status == 400
    assert "Traceback" not in answer.json["error"]


@pytest.mark.parametrize(
    "query",
    [
        {"objective": "mine.toml"},
        {"objective": "/etc/passwd"},
        {"costs": "x"},
        {"output": "x"},
        {"pending": ""},
        {"pending": "a\0b"},
        {"pending": "x" * 601},
        {"victim": "only/explanations"},
        {"now": "../x"},
        {f"x{i}": "" for i in range(100)},
    ],
)
def test_only_known_options_are_taken(
    query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.commands.serve.app.PROGRAM", "nothing.is.started")
    answer = one(ask(service(), "/v1/plan", DUMP, **query))
    assert answer.status == 400
    assert answer.json["error"]


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/", "GET", 404),
        ("/v1/plan/", "POST", 404),
        ("/v1/plan", "GET", 405),
        ("/healthz", "POST", 405),
        ("/healthz", "GET", 200),
    ],
)
def test_paths_and_methods(path: str, method: str, status: int) -> None:
    assert one(ask(service(), path, method=method)).status == status


def test_too_large_is_not_read_on() -> None:
    answer = one(ask(service(max_bytes=10), "/v1/plan", b"x" * 6, b"x" * 6, b"x" * 6))
    assert answer.status == 413
    assert "10 bytes" in answer.json["error"]


def test_a_client_that_goes_away() -> None:
    answer = one(ask(service(), "/v1/plan", b"{", None))
    assert (answer.status, answer.json["error"]) == (400, "the dump broke off")


@pytest.fixture
def sleeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file in which a program that never ends writes its number, in place of planner."""
    (tmp_path / "sleeper.py").write_text(
        "import os, time\n"
        f"open({str(tmp_path / 'new')!r}, 'w').write(str(os.getpid()))\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(tmp_path / 'number')!r})\n"
        f"time.sleep({FOR_EVER_S})\n"
    )
    monkeypatch.setattr("planner.commands.serve.app.PROGRAM", "sleeper")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    return tmp_path / "number"


def test_plans_of_one_request_share_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "telling.py").write_text("import sys; print(*sys.argv)")
    monkeypatch.setattr("planner.commands.serve.app.PROGRAM", "telling")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    app = service(seconds=100)
    assert b" --time-limit=80.0 " in one(ask(app, "/v1/plan", DUMP)).data
    assert b" --time-limit=40.0 " in one(ask(app, "/v1/whatif", DUMP, set="a=b")).data
    assert b" --time-limit=40.0 " in one(ask(app, "/v1/page/whatif", DUMP, set="a=b")).data


def is_gone(number: int) -> bool:
    return not Path(f"/proc/{number}").exists()


def test_time_is_up_for_whoever_answers(sleeper: Path) -> None:
    answer = one(ask(service(seconds=1.5), "/v1/plan", DUMP))
    assert (answer.status, answer.json["error"]) == (408, "there was no answer within 1.5 s")
    assert not sleeper.exists() or is_gone(int(sleeper.read_text()))


def test_more_than_may_be_at_once_come_again(sleeper: Path) -> None:
    async def both() -> Answer:
        app = service()
        first = asyncio.create_task(ask(app, "/v1/plan", DUMP))
        await asyncio.to_thread(wait_for, sleeper.exists)
        second = await ask(app, "/v1/plan", DUMP)
        first.cancel()
        await asyncio.wait([first])
        return second

    answer = asyncio.run(both())
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert is_gone(int(sleeper.read_text()))


def test_a_client_that_does_not_wait_leaves_its_slot(sleeper: Path) -> None:
    async def one_after_the_other() -> tuple[Answer, Answer]:
        app = service()
        gone = asyncio.Event()
        first = asyncio.create_task(ask(app, "/v1/plan", DUMP, gone))
        await asyncio.to_thread(wait_for, sleeper.exists)
        gone.set()
        left = await first
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("planner.commands.serve.app.PROGRAM", "planner")
            return left, await ask(app, "/v1/plan", DUMP)

    left, answer = asyncio.run(one_after_the_other())
    assert is_gone(int(sleeper.read_text()))
    assert (left.status, left.json["error"]) == (400, "nobody waits for the answer any more")
    assert answer.status == 200


@pytest.mark.parametrize(
    ("mebibytes", "dump"),
    [(20, DUMP), (40, DUMP), (100, DUMP), (400, b"[" + b"{}," * 6 * 2**20 + b"{}]")],
)
def test_memory_is_bounded(mebibytes: int, dump: bytes) -> None:
    """Wherever it ends, in Python itself, in a library or in a plan: it is not the dump's fault."""
    bounds = {"memory": mebibytes * 2**20, "max_bytes": 2**30}
    answer = one(ask(service(**bounds), "/v1/plan", dump))
    assert answer.status == 500
    assert answer.json["error"]


def test_nothing_is_imported_from_where_the_service_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit(77)")
    monkeypatch.chdir(tmp_path)
    assert one(ask(service(), "/v1/plan", DUMP)).status == 200


def test_options_of_the_service_are_not_those_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_SOLVE_PENDING", "ns/nobody")
    assert one(ask(service(), "/v1/plan", DUMP)).status == 200


def test_openapi_has_the_schemas_of_the_answers() -> None:
    value = one(ask(service(), "/openapi.json", method="GET")).json
    assert value["openapi"] == "3.1.0"
    assert set(value["paths"]) == set(ENDPOINTS)
    schema = value["components"]["schemas"]["plan"]
    assert validator_for(schema) is Draft202012Validator
    Draft202012Validator.check_schema(schema)
    plan = one(ask(service(), "/v1/plan", DUMP)).json
    assert list(Draft202012Validator(schema).iter_errors(plan)) == []
    parameters = value["paths"]["/v1/explanation"]["post"]["parameters"]
    assert {each["name"] for each in parameters} == {"pending", "objective", "now", "victim"}


# The command.


@pytest.mark.parametrize("listen", ["", "8080", ":x", ":99999", "a:"])
def test_what_is_no_address(listen: str) -> None:
    assert call("serve", "--listen", listen).exit_code == 2


def test_loopback_unless_a_host_is_given() -> None:
    assert address(":1") == ("127.0.0.1", 1)
    assert address("[::1]:2") == ("::1", 2)
    assert address("0.0.0.0:3") == ("0.0.0.0", 3)  # noqa: S104 - it was asked for


HAS_UVICORN = importlib.util.find_spec("uvicorn") is not None


@pytest.mark.skipif(HAS_UVICORN, reason="the extra [serve] is installed")
def test_without_the_extra_it_says_what_to_install() -> None:
    said = refused("serve")
    assert "uvicorn is not installed" in said
    assert "pip install 'preemption-planner[serve]'" in said


@pytest.mark.skipif(not HAS_UVICORN, reason="the extra [serve] is not installed")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_listens_and_ends(number: signal.Signals) -> None:
    with subprocess.Popen(
        command("serve", "--listen", ":0"), env=environment(), stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        assert said.startswith("serve: http://127.0.0.1:")
        at = ("127.0.0.1", int(said.rpartition(":")[2]))

        def answered() -> bytes:
            with socket.create_connection(at) as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return connection.makefile("rb").read()

        wait_for(lambda: b'{"status": "ok"}' in answered())
        taken = call("serve", "--listen", f":{at[1]}")
        assert (taken.exit_code, "cannot listen there" in taken.stderr) == (2, True)
        server.send_signal(number)
        _, said = server.communicate(timeout=FOR_EVER_S)
    assert (server.returncode, said) == (0, "")
