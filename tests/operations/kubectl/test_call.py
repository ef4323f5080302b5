"""One call: words as they are, no shell, within a time and a number of bytes."""

import errno
import os
import selectors
import signal
import sys
import threading
from contextlib import suppress
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import pytest

from planner.errors import InputError, ParseError
from planner.operations.kubectl import call
from planner.operations.kubectl.call import Kubectl, last_words, option
from tests.batch.runs import wait_for
from tests.conftest import FOR_EVER_S
from tests.stand_in import REFUSED, StandIn, dies
from tests.told import told

HOSTILE = "$(touch x); y | z > w"


def test_words_arrive_as_they_are(
    kubectl: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = Kubectl(context=HOSTILE, kubeconfig="a b/'c\"")
    answer = program.call("get", "configmaps", "kueue-manager-config")
    assert answer.code == 0
    options = [f"--context={HOSTILE}", "--kubeconfig=a b/'c\""]
    assert kubectl.calls() == [["get", "configmaps", "kueue-manager-config", *options]]
    assert {path.name for path in tmp_path.iterdir()} == {"bin"}


@pytest.mark.parametrize("value", ["", "-x", "--server=evil", "a\0b"])
@pytest.mark.parametrize("name", ["context", "kubeconfig"])
def test_values_that_look_like_options_are_refused(kubectl: StandIn, name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"--{name}: "):
        Kubectl(**{name: value})  # type: ignore[arg-type]
    assert kubectl.calls() == []


def test_no_value_is_no_option() -> None:
    assert option("context", None) == []


def test_not_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError) as caught:
        Kubectl()
    told(caught.value)


def test_cannot_be_started(kubectl: StandIn) -> None:
    (kubectl.folder / "kubectl").write_text("#!/nonesuch/interpreter\n", encoding="utf-8")
    with pytest.raises(InputError, match="kubectl get configmaps: cannot be started"):
        Kubectl().call("get", "configmaps")


def test_too_many_open_files(kubectl: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an answer about kubectl, which a watch outlives, and no end of the process."""

    def full() -> selectors.BaseSelector:
        raise OSError(errno.EMFILE, "Too many open files")

    program = Kubectl()
    monkeypatch.setattr("selectors.DefaultSelector", full)
    with pytest.raises(InputError, match=r"cannot be started: .*Too many open files"):
        program.call("get", "configmaps")
    assert kubectl.calls() == []


def test_standard_input_is_empty(kubectl: StandIn) -> None:
    """A kubectl that asks for a password must not wait for it."""
    script = f"#!{sys.executable} -ES\nimport sys; print(repr(sys.stdin.read()))\n"
    (kubectl.folder / "kubectl").write_text(script, encoding="utf-8")
    assert Kubectl(timeout_s=FOR_EVER_S).call("get", "pods").output == b"''\n"


def test_timeout_kills_it_and_its_children(
    kubectl: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock stands still until it has said something; then the time is over."""
    kubectl.answer("configmaps", sleeps=True, said="Unable to reach it yet\n")
    times = chain([0, 0], repeat(FOR_EVER_S))  # at the start, before it is heard, and then
    monkeypatch.setattr(call, "time", SimpleNamespace(monotonic=partial(next, times)))
    monkeypatch.setattr(call, "_WAIT_S", FOR_EVER_S)
    with pytest.raises(InputError) as caught:
        Kubectl(timeout_s=FOR_EVER_S).call("get", "configmaps")
    told(caught.value)
    assert all(dies(pid) for pid in kubectl.pids())


def test_timeout_is_of_all_calls_together(kubectl: StandIn) -> None:
    program = Kubectl(timeout_s=0)
    with pytest.raises(InputError) as caught:
        program.call("get", "configmaps", "kueue-manager-config")
    told(caught.value)
    assert kubectl.folder.exists()


@pytest.mark.parametrize("seconds", [1e7, 1e308])
def test_any_timeout_may_be_given(kubectl: StandIn, seconds: float) -> None:
    """No system call waits for so long at once."""
    assert Kubectl(timeout_s=seconds).call("get", "workloads.kueue.x-k8s.io").code == 0
    assert kubectl.folder.exists()


def test_interruption_kills_it_and_its_children(kubectl: StandIn) -> None:
    def interrupt() -> None:
        wait_for((kubectl.folder / "pids").exists)
        os.kill(os.getpid(), signal.SIGINT)

    kubectl.answer("configmaps", sleeps=True)
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            Kubectl(timeout_s=FOR_EVER_S).call("get", "configmaps")
    finally:
        signal.signal(signal.SIGINT, previous)
    assert all(dies(pid) for pid in kubectl.pids())


def test_output_is_bounded_over_all_calls(kubectl: StandIn) -> None:
    kubectl.answer("configmaps", prints="x" * 600)
    program = Kubectl(max_bytes=1000)
    assert len(program.call("get", "configmaps").output) == 600
    with pytest.raises(ParseError) as caught:
        program.call("get", "configmaps")
    told(caught.value)


def test_flood_ends_it(kubectl: StandIn) -> None:
    kubectl.answer("configmaps", floods=1)
    with pytest.raises(ParseError) as caught:
        Kubectl(max_bytes=2**20, timeout_s=FOR_EVER_S).call("get", "configmaps")
    told(caught.value)


def test_flood_on_standard_error_ends_with_the_time(kubectl: StandIn) -> None:
    kubectl.answer("configmaps", floods=2)
    with pytest.raises(InputError) as caught:
        Kubectl(timeout_s=0.3).call("get", "configmaps")
    told(caught.value)


def test_child_that_stays_is_not_waited_for(kubectl: StandIn) -> None:
    """As one that a login plugin leaves behind: it holds on to standard error."""
    kubectl.answer("configmaps", leaves=True, prints="{}", said="Warning: old\n")
    answer = Kubectl(timeout_s=FOR_EVER_S).call("get", "configmaps")
    assert (answer.code, answer.output, answer.stderr) == (0, b"{}", "Warning: old\n")
    for pid in kubectl.pids():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_signal_is_its_code(kubectl: StandIn) -> None:
    kubectl.answer("configmaps", killed=int(signal.SIGKILL))
    assert Kubectl().call("get", "configmaps").code == -signal.SIGKILL


def test_last_words_are_no_log_lines_and_no_warnings() -> None:
    told(last_words(REFUSED))
    assert last_words("error: bad\nWarning: v1beta1 is deprecated\n\n") == "error: bad"
    assert last_words("Warning: only that\n") == ""
