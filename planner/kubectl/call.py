"""One call of kubectl: a list of words, no shell, within a time and a number of bytes.

The texts are those of kubectl 1.32 and of the API server; what is none of them is quoted.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from typing import Final, NamedTuple

from planner.errors import InputError
from planner.reader.show import plain, shown
from planner.reader.source import MAX_BYTES, too_large

KUEUE: Final = "kueue.x-k8s.io"
CONFIGURATION: Final = "kueue-system/kueue-manager-config"
"""The ConfigMap that holds Kueue's Configuration (kueue ff69552e, config/default and
config/components/manager); charts and operators may call it otherwise."""
ROLE: Final = "preemption-planner"


class Resource(NamedTuple):
    """A resource type of the API server.

    Attributes
    ----------
    name
        Its plural name.
    group
        Its API group; empty for the core group.
    missing
        What holds without it, in words; empty if there is no plan without it.
    of_preemptor
        Whether only those in the namespace of the pending workload matter.
    single
        Whether only one object is wanted, by its name.
    forgone
        Whether it is done without where the cluster refuses to tell.
    """

    name: str
    group: str = KUEUE
    missing: str = ""
    of_preemptor: bool = False
    single: bool = False
    forgone: bool = False

    @property
    def full_name(self) -> str:
        """The name that no other API group can answer to, such as workloads.kueue.x-k8s.io."""
        return f"{self.name}.{self.group}" if self.group else self.name

    @property
    def verb(self) -> str:
        """What RBAC must permit."""
        return "get" if self.single else "list"


class Question(NamedTuple):
    """What one call asks for: a resource type, in one namespace or all, and perhaps one object."""

    resource: Resource
    namespace: str | None
    name: str = ""

    @property
    def words(self) -> list[str]:
        """The words after kubectl, without options."""
        return ["get", self.resource.full_name, *([self.name] if self.name else [])]


# Workloads first: what they refer to was there before them, and is read after them.
RESOURCES: Final = (
    Resource("workloads"),
    Resource("localqueues", of_preemptor=True),
    Resource("clusterqueues"),
    Resource("cohorts", missing="cohorts have no quota of their own and no parent"),
    Resource("resourceflavors"),
    Resource("workloadpriorityclasses", missing="workloads have the priority that they carry"),
    Resource("admissionchecks", missing="no admission check decides anything"),
    Resource("priorityclasses", "scheduling.k8s.io", "workloads have the priority that they carry"),
    Resource("runtimeclasses", "node.k8s.io", "pods have the overhead that they carry"),
    Resource("namespaces", "", "every namespaceSelector is taken to match"),
    Resource("limitranges", "", "pods have no default requests and limits", of_preemptor=True),
    Resource("poddisruptionbudgets", "policy", "no PodDisruptionBudget is looked at", forgone=True),
    Resource(
        "configmaps",
        "",
        "feature gates, fair sharing and resource settings of Kueue are at their defaults",
        single=True,
    ),
)
"""Everything that is asked for, in this order."""

OPTIONAL: Final = tuple(each.name for each in RESOURCES if each.missing)
"""Names of what a dump may do without."""


def cluster_role() -> str:
    """Return the command that makes the least ClusterRole for what is listed."""
    listed = ",".join(each.full_name for each in RESOURCES if not each.single)
    return f"kubectl create clusterrole {ROLE} --verb=list --resource={listed}"


def configuration_role(configuration: str = CONFIGURATION) -> str:
    """Return the command that makes the least Role for a ConfigMap, given as NAMESPACE/NAME."""
    namespace, _, name = configuration.partition("/")
    return (
        f"kubectl create role {ROLE} -n {namespace} --verb=get --resource=configmaps "
        f"--resource-name={name}"
    )


_NO_SUCH_TYPE: Final = (
    "the server doesn't have a resource type",
    "the server could not find the requested resource",
)
_NO_SUCH_OBJECT: Final = "(NotFound)"
_FORBIDDEN: Final = "(Forbidden)"
_UNREACHABLE: Final = (
    "was refused",
    "unable to connect to the server",
    "no such host",
    "i/o timeout",
    "connection reset",
    "no route to host",
    "tls handshake",
)
_NOT_LOGGED_IN: Final = ("(unauthorized)", "please enter username", "getting credentials")
_LONGEST: Final = 400


def is_missing(answer: Answer) -> bool:
    """Say whether the cluster has no such resource type, or no such object."""
    return any(text in answer.said for text in (*_NO_SUCH_TYPE, _NO_SUCH_OBJECT))


def is_forbidden(answer: Answer) -> bool:
    """Say whether the cluster refuses to tell."""
    return _FORBIDDEN in answer.said


def refusal(question: Question, words: str, answer: Answer) -> InputError:
    """Say why a call failed; ``words`` is how the message names the call."""
    told = last_words(answer.said)
    resource = question.resource
    if is_missing(answer) and resource.group == KUEUE:
        return InputError(
            words,
            "Kueue is not installed in this cluster",
            f"the resource type {resource.full_name}",
            "--context and --kubeconfig choose another cluster",
        )
    if is_forbidden(answer):
        return _forbidden(question, words, told)
    return InputError(words, _found(answer, told), hint=_hint(told))


def _forbidden(question: Question, words: str, told: str) -> InputError:
    resource, namespace, name = question
    role = configuration_role(f"{namespace}/{name}") if resource.single else cluster_role()
    instead = f"; or do without them: --without {resource.name}" if resource.missing else ""
    place = f"namespace {plain(namespace)}" if namespace else "all namespaces"
    return InputError(
        words,
        f"is forbidden: {_short(told)}",
        f"the right to {resource.verb} {resource.full_name} in {place}",
        f"an administrator grants it: {role}{instead}",
    )


def _found(answer: Answer, told: str) -> str:
    if told:
        return f"failed: {_short(told)}"
    how = f"signal {-answer.code}" if answer.code < 0 else f"exit code {answer.code}"
    return f"ended with {how} and gave no reason"


def _hint(told: str) -> str:
    lower = told.lower()
    if any(text in lower for text in _NOT_LOGGED_IN):
        return "log in to the cluster first, until `kubectl get namespaces` works"
    if any(text in lower for text in _UNREACHABLE):
        return "--context and --kubeconfig choose the cluster; `kubectl cluster-info` tries it"
    if "context" in lower:
        return "`kubectl config get-contexts` lists the contexts"
    return ""


def _short(told: str) -> str:
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."


PROGRAM: Final = "kubectl"
TIMEOUT_S: Final = 120.0
MAX_ERROR_BYTES: Final = 2**16
"""How much of kubectl's standard error is kept; the rest is read and dropped."""
_PIECE: Final = 2**16
_WAIT_S: Final = 3600.0
"""How long is waited at once: the system knows no waiting for more than 24 days."""
_CHATTER: Final = re.compile(r"[EIWF]\d{4} |Warning: ")
"""Log lines of klog, such as ``E0411 12:00:00.0 memcache.go:265]``, and the server's warnings."""


class Answer(NamedTuple):
    """How a call ended: its exit code, its standard output, and what it said beside that."""

    code: int
    output: bytes
    said: str


class Kubectl:
    """kubectl, found on PATH, with the cluster it asks and what all its calls may take together.

    Parameters
    ----------
    context, kubeconfig
        Handed on as ``--context`` and ``--kubeconfig``; without them kubectl decides.
    timeout_s
        Seconds for all calls together, from now on; None for no limit.
    max_bytes
        Bytes that all calls may print together.

    Raises
    ------
    InputError
        If there is no kubectl, or a value could be taken for an option.
    """

    def __init__(
        self,
        *,
        context: str | None = None,
        kubeconfig: str | None = None,
        timeout_s: float | None = TIMEOUT_S,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._options = [*option("context", context), *option("kubeconfig", kubeconfig)]
        found = shutil.which(PROGRAM)
        if found is None:
            raise InputError(
                PROGRAM,
                "is not on PATH",
                hint="https://kubernetes.io/docs/tasks/tools/ says how to install it; a dump "
                "that was written elsewhere does without",
            )
        self._program = found
        self._timeout_s = timeout_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._max_bytes = max_bytes
        self._room = max_bytes

    def call(self, *words: str) -> Answer:
        """Run kubectl with these words and wait for it.

        Raises
        ------
        InputError
            If it cannot be started, takes too long or prints too much. Nothing that it started
            is left running then.
        """
        where = " ".join((PROGRAM, *words[:2]))
        try:
            process = subprocess.Popen(  # noqa: S603 - a list of words, no shell
                [self._program, *words, *self._options],
                stdin=subprocess.DEVNULL,  # it must not ask for passwords
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise InputError(where, f"cannot be started: {error}") from None
        output, said = bytearray(), bytearray()
        with process:
            try:
                self._read(process, output, said, where)
                process.wait(self._left())
                _read_rest(process, said)
            except subprocess.TimeoutExpired:
                _kill(process)
                raise self._too_slow(where, said) from None
            except BaseException:
                _kill(process)
                raise
        self._room -= len(output)
        return Answer(process.returncode, bytes(output), said.decode(errors="replace"))

    def _read(
        self, process: subprocess.Popen[bytes], output: bytearray, said: bytearray, where: str
    ) -> None:
        """Read both streams until standard output ends."""
        with selectors.DefaultSelector() as selector:
            for stream, into in ((process.stdout, output), (process.stderr, said)):
                if stream is not None:
                    selector.register(stream, selectors.EVENT_READ, into)
            while process.stdout in selector.get_map():
                left = self._left()
                if left == 0:
                    raise subprocess.TimeoutExpired(where, self._timeout_s or 0)
                for key, _ in selector.select(None if left is None else min(left, _WAIT_S)):
                    piece = os.read(key.fd, _PIECE)
                    if not piece:
                        selector.unregister(key.fileobj)
                    key.data.extend(piece)
                del said[MAX_ERROR_BYTES:]
                if len(output) > self._room:
                    raise too_large(where, self._max_bytes)

    def _left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _too_slow(self, where: str, said: bytearray) -> InputError:
        last = last_words(said.decode(errors="replace"))
        return InputError(
            where,
            f"had no answer when the {self._timeout_s:g} s were over"
            + (f"; it said: {last}" if last else ""),
            hint="--timeout SECONDS gives it longer",
        )


def option(name: str, value: str | None) -> list[str]:
    """Return an option as one word; none without a value.

    Raises
    ------
    InputError
        If the value is empty, or begins like an option.
    """
    if value is None:
        return []
    if not value or value.startswith("-") or "\0" in value:
        found = f"{shown(value)} is no value for it" if value else "the value is empty"
        raise InputError(f"--{name}", found, hint="kubectl would take it for something else")
    return [f"--{name}={value}"]


def last_words(said: str) -> str:
    """Return the last line on standard error that is neither a log line nor a warning."""
    lines = [line.strip() for line in said.splitlines()]
    telling = [line for line in lines if line and not _CHATTER.match(line)]
    return telling[-1] if telling else ""


def _read_rest(process: subprocess.Popen[bytes], said: bytearray) -> None:
    """Read what kubectl still said, without waiting for others that hold on to the stream.

    A plugin that logs in may outlive kubectl.
    """
    if process.stderr is not None:
        os.set_blocking(process.stderr.fileno(), False)
        said.extend(process.stderr.read(MAX_ERROR_BYTES) or b"")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill kubectl and what it started: they are a process group of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
