"""One kept connection, through the real kubectl, to a stand-in for the API server."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.errors import InputError
from planner.operations.kubectl.call import Kubectl
from planner.operations.kubectl.kueue_resource import WORKLOADS
from planner.operations.kubectl.proxy import Proxy
from planner.operations.steer.kueue.carry import PATHS, Denied, Hands
from planner.operations.steer.kueue.marks import Marked
from tests.cli.running import environment
from tests.cluster import Object
from tests.conftest import FOR_EVER_S, ROOT
from tests.operations.kubectl.served import served, versioned
from tests.operations.steer.world import gated, workload
from tests.told import told

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")
PLACE = "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/first"


@pytest.fixture
def items() -> list[Object]:
    return versioned([gated(workload("first", "lender", 4, 10))])


@pytest.fixture
def config(items: list[Object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path))
    with served(items, tmp_path) as found:
        yield found


@pytest.fixture
def proxy(config: Path) -> Iterator[Proxy]:
    made = Proxy(lambda: Kubectl(kubeconfig=str(config)), PATHS)
    yield made
    made.close()


def group(proxy: Proxy) -> int:
    assert proxy.process is not None
    return proxy.process.pid


def test_changes_go_over_one_connection(proxy: Proxy, config: Path, items: list[Object]) -> None:
    hands = Hands(lambda: Kubectl(kubeconfig=str(config)), proxy)
    one = hands.find(WORKLOADS, "ns/first")
    assert one is not None
    begun = group(proxy)
    first = Marked(one.value)
    ((_, boosted),) = hands.patch([first.boosted(-1, "ns/other")])
    assert boosted is not None
    assert (boosted.boost, boosted.boosted_for) == ("-1", "ns/other")
    # Of another version than the server has by now; of one that is gone.
    ((_, refused),) = hands.patch([first.boosted(-2, "ns/other")])
    gone = Marked(gated(workload("gone", "lender", 4, 10)))
    ((_, missing),) = hands.patch([gone.boosted(-2, "ns/other")])
    assert (refused, missing, hands.find(WORKLOADS, "ns/gone")) == (None, None, None)
    assert items[0]["metadata"]["annotations"]["kueue.x-k8s.io/priority-boost"] == "-1"
    assert group(proxy) == begun


def test_nobody_else_may_enter_and_nothing_else_goes_through(proxy: Proxy) -> None:
    assert proxy.ask("GET", PLACE).code == 200
    assert proxy.folder is not None
    assert stat.S_IMODE(Path(proxy.folder.name).stat().st_mode) == 0o700
    for path in ("/api/v1/secrets", "/apis/kueue.x-k8s.io/v1beta2/workloads", f"{PLACE}/x", "/"):
        assert proxy.ask("GET", path).code == 403, path
    assert proxy.ask("DELETE", PLACE).code == 403
    folder = Path(proxy.folder.name)
    proxy.close()
    assert not folder.exists()


def test_a_proxy_that_has_ended_is_started_again(proxy: Proxy) -> None:
    assert proxy.ask("GET", PLACE).code == 200
    os.killpg(group(proxy), signal.SIGKILL)
    with pytest.raises(InputError, match="kubectl proxy: failed: "):
        proxy.ask("GET", PLACE)
    assert proxy.ask("GET", PLACE).value["metadata"]["name"] == "first"


def test_it_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    nowhere = tmp_path / "none"
    with pytest.raises(InputError) as caught:
        Hands(lambda: Kubectl(kubeconfig=str(nowhere))).find(WORKLOADS, "ns/first")
    told(caught.value)
    with served([], tmp_path) as config:
        pass  # the server is gone by now
    hands = Hands(lambda: Kubectl(kubeconfig=str(config)))
    with pytest.raises(InputError) as raised:
        hands.find(WORKLOADS, "ns/first")
    hands.close()
    assert "refused" in str(raised.value)
    told(raised.value.hint)
    with pytest.raises(InputError) as caught:
        hands.find(WORKLOADS, "ns/../../secrets")
    told(caught.value)


@pytest.mark.parametrize(("code", "kind"), [(403, Denied), (401, InputError), (500, InputError)])
def test_what_the_server_refuses(
    code: int, kind: type[InputError], items: list[Object], tmp_path: Path
) -> None:
    with served(items, tmp_path, before=lambda _, __: code) as config:
        hands = Hands(lambda: Kubectl(kubeconfig=str(config)))
        with pytest.raises(kind) as raised:
            hands.patch([Marked(items[0]).boosted(1, "ns/other")])
        told(raised.value)
        hands.close()
    assert isinstance(raised.value, Denied) == (code == 403)


SCRIPT = f"""
import sys, time
from planner.operations.kubectl.call import Kubectl
from planner.operations.kubectl.proxy import Proxy
proxy = Proxy(lambda: Kubectl(kubeconfig=sys.argv[1]), {PATHS!r})
assert proxy.ask("GET", {PLACE!r}).code == 200
print(proxy.process.pid, flush=True)
time.sleep({FOR_EVER_S})
"""


def test_it_ends_with_a_process_that_is_killed(config: Path) -> None:
    words = [sys.executable, "-c", SCRIPT, str(config)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT, env=environment()) as process:
        assert process.stdout is not None
        started = int(process.stdout.readline())
        assert runs(started)
        process.kill()
    while runs(started):
        time.sleep(0.01)


def runs(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
