"""The service: same answers as the command line, hard bounds, clear refusals, nothing kept."""

import asyncio
import gzip
import html
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi import FastAPI
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from planner.cli.main import main
from planner.cli.value import address
from planner.errors import TELL_KIND
from planner.objective.profiles import PROFILES
from planner.operations.serve import app as serving
from planner.operations.serve import server
from planner.operations.serve.answering import PROGRAM, Bounds, run_command
from planner.operations.serve.app import AskedWho
from tests.batch.runs import wait_for
from tests.cli.running import another_pending, call, cluster, refused
from tests.conftest import FOR_EVER_S, ROOT, TEST_ALL, some
from tests.operations.serve.asking import Answer, ask, serving_at
from tests.told import told

DUMP = json.dumps(cluster()).encode()
SIZES = 4 if TEST_ALL else 3
AT_NIGHT = pytest.mark.skipif(not TEST_ALL, reason="PLANNER_TEST_ALL is not set")
BOUNDS = Bounds(max_bytes=10**6, seconds=FOR_EVER_S, memory=4 * 2**30, at_once=1)


def service(*hosts: str, **bounds: float) -> FastAPI:
    return serving.service(BOUNDS._replace(**bounds), "1.2.3", hosts=hosts)  # type: ignore[arg-type]


def one(answer: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run(answer)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands run in this process: one of their own for each answer takes much longer."""

    class Here:
        returncode: int | None = None

        def __init__(self, words: Sequence[str]) -> None:
            self.words = words

        async def communicate(self, dump: bytes) -> tuple[bytes, bytes]:
            done = CliRunner().invoke(main, self.words, dump, {TELL_KIND: "1"})
            self.returncode = done.exit_code
            return done.stdout_bytes, done.stderr_bytes

    async def start(*words: str, **_: Any) -> Here:
        return Here(words[words.index(PROGRAM) + 1 :])

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)


def without_times(plan: dict[str, Any]) -> dict[str, Any]:
    del plan["certificate"]["wall_time_s"]
    return plan


def test_a_plan_is_that_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the service was started: nothing is imported from there, no variable is heeded."""
    file = tmp_path / "cluster.json"
    file.write_bytes(DUMP)
    printed = call("solve", file, "--pending", "ns/pending", "--format", "json")
    (tmp_path / "click.py").write_text("raise SystemExit(77)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANNER_SOLVE_PENDING", "ns/nobody")
    answer = one(ask(service(), "/v1/plan", DUMP[:100], DUMP[100:]))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["planner-exit-code"] == str(printed.exit_code) == "0"
    assert without_times(answer.json) == without_times(json.loads(printed.stdout))


@pytest.mark.usefixtures("here")
def test_gzip_and_objectives() -> None:
    answer = one(ask(service(), "/v1/plan", gzip.compress(DUMP), objective="min-count"))
    assert answer.json["objective"] == "min-count"
    for name in PROFILES:
        assert AskedWho(objective=name).objective == name


@pytest.mark.usefixtures("here")
def test_why_not_and_a_page() -> None:
    why = one(ask(service(), "/v1/explanation", DUMP, victim="ns/small-1"))
    assert (why.status, why.json["question"]) == (200, "why-not-that-one")
    assert why.json["workloads"][0]["workload"] == "ns/small-1"
    page = one(ask(service(), "/v1/page", DUMP))
    assert page.data.startswith(b"<!DOCTYPE html>")
    told(page.headers["content-type"])
    told(page.headers["content-security-policy"])
    assert page.headers["cache-control"] == "no-store"


@pytest.mark.usefixtures("here")
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
    monkeypatch.setattr("planner.operations.serve.answering.PROGRAM", "nothing.is.started")
    assert one(ask(service(), "/v1/whatif", DUMP, set=edits)).status == 400


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("dump", "query"),
    [
        (b"{", {}),
        (DUMP, {"pending": "ns/nobody"}),
        (DUMP, {"pending": "--output=/tmp/x"}),
        (DUMP, {"pending": "edit that are read at most kind: option"}),
        (gzip.compress(DUMP)[:-9], {}),
        (json.dumps({"metadata": {}, "queues": [], "nodes": []}).encode() * 2, {}),
    ],
)
def test_what_cannot_be_used_says_why(dump: bytes, query: dict[str, str]) -> None:
    answer = one(ask(service(), "/v1/plan", dump, **query))
    assert answer.status == 422
    told(answer.json["error"])
    assert "Traceback" not in answer.json["error"]
    assert not answer.json["error"].endswith("kind: input")


@pytest.mark.usefixtures("here")
def test_no_hint_is_about_an_option_of_the_command_line() -> None:
    both = json.dumps(cluster(another_pending("other"))).encode()
    several = one(ask(service(), "/v1/plan", both)).json["error"]
    told(several.splitlines()[1:])
    unknown = one(ask(service(), "/v1/plan", DUMP, objective="min-cuont")).json["error"]
    told(unknown)
    assert "--help" not in unknown
    edit = "clusterqueue/lender.preemption.reclaimWithinCohrt=Any"
    misspelt = one(ask(service(), "/v1/whatif", DUMP, set=[edit])).json["error"]
    told(misspelt)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "dump",
    [gzip.compress(b" " * 2 * 10**6), gzip.compress(b"[" + b"{}," * 2**19 + b"{}]")],
    ids=["bytes", "values"],
)
def test_a_dump_that_is_too_large_unpacked_is_too_large(dump: bytes) -> None:
    answer = one(ask(service(max_bytes=1_900_000), "/v1/plan", dump))
    assert answer.status == 413
    assert "--" not in answer.json["error"]  # the limit is the service's: no option of a request
    told(answer.json["error"])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "query", [{"now": "99", "set": "a=b"}, {"set": "clusterqueue/nobody.fairSharing.weight=2"}]
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
    monkeypatch.setattr("planner.operations.serve.answering.PROGRAM", "nothing.is.started")
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
    assert answer.status == 400
    told(answer.json["error"])


@pytest.fixture
def sleeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file in which a program that never ends writes its number, in place of planner."""
    (tmp_path / "sleeper.py").write_text(
        "import os, time\n"
        f"open({str(tmp_path / 'new')!r}, 'w').write(str(os.getpid()))\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(tmp_path / 'number')!r})\n"
        f"time.sleep({FOR_EVER_S})\n"
    )
    monkeypatch.setattr("planner.operations.serve.answering.PROGRAM", "sleeper")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    return tmp_path / "number"


def test_plans_of_one_request_share_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "telling.py").write_text("import sys; print(*sys.argv)")
    monkeypatch.setattr("planner.operations.serve.answering.PROGRAM", "telling")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    app = service(seconds=100)
    assert b" --time-limit=80.0 " in one(ask(app, "/v1/plan", DUMP)).data
    assert b" --time-limit=40.0 " in one(ask(app, "/v1/whatif", DUMP, set="a=b")).data
    assert b" --time-limit=40.0 " in one(ask(app, "/v1/page/whatif", DUMP, set="a=b")).data


def is_gone(number: int) -> bool:
    return not Path(f"/proc/{number}").exists()


def test_time_is_up_for_whoever_answers(sleeper: Path) -> None:
    answer = one(ask(service(seconds=1.5), "/v1/plan", DUMP))
    assert answer.status == 408
    told(answer.json["error"])
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
            patched.setattr("planner.operations.serve.answering.PROGRAM", "planner")
            return left, await ask(app, "/v1/plan", DUMP)

    left, answer = asyncio.run(one_after_the_other())
    assert is_gone(int(sleeper.read_text()))
    assert left.status == 400
    told(left.json["error"])
    assert answer.status == 200


@pytest.mark.parametrize(
    ("mebibytes", "dump"),
    [(20, DUMP), (40, DUMP), (100, DUMP), (400, b"[" + b"{}," * 6 * 2**20 + b"{}]")][:SIZES],
)
def test_memory_is_bounded(mebibytes: int, dump: bytes) -> None:
    """Wherever it ends, in Python itself, in a library or in a plan: it is not the dump's fault."""
    bounds = {"memory": mebibytes * 2**20, "max_bytes": 2**30}
    answer = one(ask(service(**bounds), "/v1/plan", dump))
    assert answer.status == 500
    assert answer.json["error"]


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost", "", 200),
        ("127.0.0.1:8080", "http://127.0.0.1:8080", 200),
        ("[::1]:8080", "http://[::1]:8080", 200),
        ("10.1.2.3:80", "", 200),
        ("planner.team.svc:80", "", 200),
        ("PLANNER.team.svc", "", 200),
        ("evil.example", "", 403),
        ("localhost.evil.example", "", 403),
        ("[", "", 403),
        ("", "", 403),
        ("localhost:8080", "http://evil.example", 403),
        ("localhost:8080", "http://localhost:9090", 403),
        ("localhost", "null", 403),
        ("127.0.0.1", "http://localhost", 403),
    ],
)
def test_other_sites_and_other_names_are_refused(host: str, origin: str, status: int) -> None:
    app = service("planner.team.svc")
    paths = [("GET", "/healthz")]
    if status == 403 or host == "localhost":  # an answer about a state is a process
        paths.append(("POST", "/v1/settings"))
    for method, path in paths:
        answer = one(ask(app, path, DUMP, method=method, host=host, origin=origin))
        assert answer.status == status
        assert ("error" in answer.json) is (status == 403)


def test_there_are_no_websockets() -> None:
    answer = one(ask(service(), "/", method="GET", upgrade="WebSocket"))
    assert (answer.status, answer.json) == (426, {"error": "there are no WebSockets here"})
    sent = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/", "headers": [], "query_string": b""}
    asyncio.run(service()(scope, receive, send))
    assert sent == ["websocket.close"]


def test_a_process_ends_with_the_service(sleeper: Path) -> None:
    """However that ends: here it is killed."""
    start = (
        "import asyncio; from planner.operations.serve import answering as a;"
        "a.PROGRAM = 'sleeper'; asyncio.run(a.run_command([], b'', a.Bounds(1, 1000, 2**40, 1), 1))"
    )
    with subprocess.Popen([sys.executable, "-c", start]) as parent:
        wait_for(sleeper.exists)
        parent.kill()
    wait_for(lambda: is_gone(int(sleeper.read_text())))


def test_a_process_that_works_without_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "busy.py").write_text("while True: pass")
    monkeypatch.setattr("planner.operations.serve.answering.PROGRAM", "busy")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    ended = asyncio.run(run_command([], b"", BOUNDS._replace(seconds=0.5), 1))
    assert ended.code == -signal.SIGKILL


@pytest.mark.usefixtures("here")
def test_openapi_has_the_schemas_of_the_answers() -> None:
    value = one(ask(service(), "/openapi.json", method="GET")).json
    assert (value["openapi"], value["info"]["version"]) == ("3.1.0", "1.2.3")
    operations = [one for path in value["paths"].values() for one in path.values()]
    names = [one["operationId"] for one in operations]
    assert len(names) == len({*names}) == 8
    schemas = {f"#/components/schemas/{name}" for name in value["components"]["schemas"]}
    assert "Plan" in value["components"]["schemas"]
    assert set(re.findall(r'"(#/[^"]*)"', json.dumps(value))) <= schemas

    answers = value["paths"]["/v1/plan"]["post"]["responses"]["200"]["content"]
    schema = answers["application/json"]["schema"] | {"components": value["components"]}
    assert validator_for(schema) is Draft202012Validator
    plan = one(ask(service(), "/v1/plan", DUMP)).json
    assert list(Draft202012Validator(schema).iter_errors(plan)) == []
    wrong = plan | {"status": "nonesuch"}
    assert list(Draft202012Validator(schema).iter_errors(wrong))

    parameters = value["paths"]["/v1/explanation"]["post"]["parameters"]
    assert {each["name"] for each in parameters} == {"pending", "objective", "now", "victim"}
    edits = value["paths"]["/v1/whatif"]["post"]["parameters"]
    assert [each["name"] for each in edits if each["required"]] == ["set"]
    for path, one_path in value["paths"].items():
        assert ("requestBody" in one_path.get("post", {})) is path.startswith("/v1/")


# The command.


@pytest.mark.parametrize("listen", ["", "8080", ":x", ":99999", "a:"])
def test_what_is_no_address(listen: str) -> None:
    assert call("serve", "--listen", listen).exit_code == 2


def test_loopback_unless_a_host_is_given() -> None:
    assert address(":1") == ("127.0.0.1", 1)
    assert address("[::1]:2") == ("::1", 2)
    assert address("0.0.0.0:3") == ("0.0.0.0", 3)  # noqa: S104 - it was asked for


@pytest.mark.parametrize("missing", ["uvicorn", "fastapi"])
def test_without_the_extra_it_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for name in ("app", "server"):
        monkeypatch.delitem(sys.modules, f"planner.operations.serve.{name}", raising=False)
    said = refused("serve")
    told(said)


def test_memory_in_which_nothing_could_be_answered_is_refused() -> None:
    for size in ("1", "1M", "63Mi"):
        assert "64Mi or more" in refused("serve", "--memory", size)


def answered(at: tuple[str, int], request: bytes) -> bytes:
    with socket.create_connection(at, timeout=FOR_EVER_S) as connection:
        connection.sendall(request)
        return connection.makefile("rb").read()


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("number", some([signal.SIGTERM, signal.SIGINT], 2))
def test_it_listens_and_ends(number: signal.Signals, tmp_path: Path) -> None:
    """A state is there as it was when it began.

    Idle connections shut nobody out, and the oldest are closed: files that may be open are never
    used up, and the log says nothing. Errors are JSON.
    """
    file = tmp_path / "<b>.json.gz"
    file.write_bytes(gzip.compress(DUMP))
    with serving_at(str(file)) as (process, at):
        wait_for(lambda: b'{"status":"ok"}' in answered(at, HEALTH))
        taken = call("serve", "--listen", f":{at[1]}")
        assert (taken.exit_code, "cannot listen there" in taken.stderr) == (2, True)
        file.unlink()
        page = answered(at, HEALTH.replace(b"healthz", b""))
        assert f'data-state="{html.escape(str(file))}"'.encode() in page
        state = answered(at, HEALTH.replace(b"healthz", b"state"))
        assert state.partition(b"\r\n\r\n")[2] == DUMP
        idle = [socket.create_connection(at) for _ in range(150)]
        assert b'{"status":"ok"}' in answered(at, HEALTH)
        first, last = idle[0], idle[-1]
        first.settimeout(FOR_EVER_S)
        assert first.recv(1) == b""
        last.settimeout(0)
        with pytest.raises(BlockingIOError):
            last.recv(1)
        head, _, said = answered(at, b"no HTTP at all\r\n\r\n").partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(said) == {"error": "Invalid HTTP request received."}
        for connection in idle:
            connection.close()
        process.send_signal(number)
        _, said_at_all = process.communicate(timeout=FOR_EVER_S)
    assert (process.returncode, said_at_all) == (0, "")


def test_a_state_that_is_none_is_refused(tmp_path: Path) -> None:
    told(refused("serve", tmp_path / "none.json"))
    (tmp_path / "one.json").write_bytes(b"{}")
    assert "is a directory" in refused("serve", tmp_path)


def test_a_connection_that_asks_for_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SECONDS_TO_ASK", 0.1)

    async def closed() -> bytes:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            serving = server.server(service())
            task = asyncio.create_task(serving.serve(sockets=[listener]))
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(HEALTH[:20])
            left = await reader.read()  # until the service closes
            writer.close()
            serving.should_exit = True
            await task
            return left

    assert asyncio.run(closed()) == b""


def test_slow_dumps_keep_nobody_from_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take no place of an answer, of which there is one, and are not waited for long."""
    monkeypatch.setattr(serving, "SECONDS_TO_SEND", 2)

    head = "POST /v1/plan HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"

    async def asked(at: tuple[str, int], length: int, dump: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(*at)
        writer.write(head.format(length=length).encode() + dump)
        said = await reader.read()
        writer.close()
        return said

    async def slow_and_quick() -> tuple[bytes, list[bytes]]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            serving_it, at = server.server(service()), listener.getsockname()
            task = asyncio.create_task(serving_it.serve(sockets=[listener]))
            slow = [asyncio.create_task(asked(at, 100, b"{")) for _ in range(3)]
            await asyncio.sleep(0.5)
            quick, late = await asked(at, len(DUMP), DUMP), await asyncio.gather(*slow)
            serving_it.should_exit = True
            await task
            return quick, late

    quick, slow = asyncio.run(slow_and_quick())
    assert quick.startswith(b"HTTP/1.1 200 ")
    for said in slow:
        assert said.startswith(b"HTTP/1.1 408 ")
        assert said.endswith(b'{"error":"the dump comes too slowly"}')


@AT_NIGHT
def test_a_client_made_of_the_description(tmp_path: Path) -> None:
    """It has all operations, and reads each answer into classes of its own."""
    described = tmp_path / "openapi.json"
    described.write_bytes(one(ask(service(), "/openapi.json", method="GET")).data)
    config = tmp_path / "config.yaml"
    config.write_text("package_name_override: planner_client\npost_hooks: []\n")
    options = ["--path", described, "--config", config, "--meta", "none"]
    options += ["--output-path", tmp_path / "planner_client", "--fail-on-warning"]
    program = [sys.executable, "-m", "openapi_python_client", "generate", *map(str, options)]
    subprocess.run(program, check=True, capture_output=True)
    api = tmp_path / "planner_client" / "api" / "default"
    made = {path.stem for path in api.glob("*.py")} - {"__init__"}
    assert made >= {"plan", "explanation", "whatif", "settings", "plan_page", "health"}
    asking = tmp_path / "asking.py"
    asking.write_text(ASKING)
    with serving_at() as (_, at):
        url = f"http://{at[0]}:{at[1]}"
        said = subprocess.run(
            [sys.executable, asking, url],
            input=DUMP,
            capture_output=True,
            check=False,
            cwd=tmp_path,
        )
    assert (said.returncode, said.stderr) == (0, b"")
    assert said.stdout.split() == [
        b"optimal",
        b"kueue",
        b"why-this-plan",
        b"workload/ns/big.priority=3",
        b"ok",
    ]


@AT_NIGHT
def test_whatever_the_description_permits_is_answered_as_it_says() -> None:
    """A dump of any bytes may be refused; nothing may be answered otherwise than described."""
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        pytest.skip("the extra [nightly] is not installed")
    with serving_at() as (_, at):
        described = f"http://{at[0]}:{at[1]}/openapi.json"
        checks = ["--exclude-checks", "positive_data_acceptance"]
        run = [str(program), "run", described, "--max-examples", "100", *checks]
        ended = subprocess.run(run, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


ASKING = """
import io, sys
from planner_client import Client
from planner_client.api.default import explanation, health, plan, settings, whatif
from planner_client.types import File

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)
dump = sys.stdin.buffer.read()
def ask(api, **more):
    return api.sync(client=client, body=File(payload=io.BytesIO(dump)), **more)
print(ask(plan, pending="ns/pending").status.value)
print(ask(settings).scheduler)
print(ask(explanation).question.value)
print(*ask(whatif, set_=["workload/ns/big.priority=3"]).edits)
print(health.sync(client=client).status)
"""
