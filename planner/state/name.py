"""Names that Kubernetes allows, for whatever is handed to kubectl or to the API server.

Source: Kubernetes documentation, "Object Names and IDs": the name of an object is a DNS subdomain
name, that of a namespace a DNS label (RFC 1123).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_PART: Final = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_NAMESPACE: Final = re.compile(_PART)
_NAME: Final = re.compile(rf"{_PART}(?:\.{_PART})*")
_LONGEST_NAMESPACE: Final = 63
_LONGEST_NAME: Final = 253
NOT_ALLOWED: Final = "is no name that Kubernetes allows"


def is_name(text: str) -> bool:
    """Say whether an object can have this name: a workload, a queue, a flavor."""
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


def is_namespace(text: str) -> bool:
    """Say whether a namespace can have this name."""
    return len(text) <= _LONGEST_NAMESPACE and _NAMESPACE.fullmatch(text) is not None


def is_key(text: str) -> bool:
    """Say whether a text is ``namespace/name`` of an object that there can be."""
    namespace, slash, name = text.partition("/")
    return bool(slash) and is_namespace(namespace) and is_name(name)


def not_allowed(keys: Iterable[str]) -> str:
    """Say which of some keys no object can have; empty if all of them are allowed."""
    return next((f"{key} {NOT_ALLOWED}" for key in keys if not is_key(key)), "")
