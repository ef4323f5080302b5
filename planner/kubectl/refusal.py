"""What kubectl says when it fails, as our errors.

The texts are those of kubectl 1.32 and of the API server; what is none of them is quoted.
"""

from __future__ import annotations

from typing import Final

from planner.errors import InputError
from planner.kubectl.call import Answer, last_words
from planner.kubectl.resource import KUEUE, Question, cluster_role, configuration_role
from planner.reader.show import plain

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
