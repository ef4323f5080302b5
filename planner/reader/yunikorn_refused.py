"""What YuniKorn's core refuses in a queues.yaml that can be read: it goes on with the one before.

Source: docs/semantics/yunikorn.md §2; yunikorn-core be3bb487, common/configs/config.go
(ParseAndValidateConfig: no field may be unknown) and configvalidator.go (Validate). Limits, access
and placement are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from planner.reader.show import Path, place, plain
from planner.state.yunikorn import ROOT, QueueConfig, QueuesConfig, Resource

REFUSED: Final = "YuniKorn refuses such a queues.yaml"

_RESOURCES: Final[Mapping[str, Any]] = {"guaranteed": None, "max": None}
_TEMPLATE: Final = {"maxapplications": None, "properties": None, "resources": _RESOURCES}
_QUEUE: Final[dict[str, Any]] = {
    **_TEMPLATE,
    **dict.fromkeys(("name", "parent", "adminacl", "submitacl", "limits")),
    "childtemplate": _TEMPLATE,
}
_QUEUE["queues"] = _QUEUE
_PARTITION: Final = {
    **dict.fromkeys(("name", "placementrules", "limits", "nodesortpolicy", "usergroupresolver")),
    "queues": _QUEUE,
    "preemption": {"enabled": None, "quotapreemptionenabled": None},
}
_FIELDS: Final = {"partitions": _PARTITION, "checksum": None}
"""The fields of each object, with the fields of those below; None where no further one is known."""


def refused(value: Mapping[str, Any], config: QueuesConfig) -> tuple[str, ...]:
    """Return a remark with the first reason for which the core refuses queues.yaml, if any.

    ``value`` is what was read into ``config``.
    """
    reasons = (
        *_unknown(value, _FIELDS, ()),
        *(reason for one in config.partitions for reason in _of_tree(one.queues[0])),
    )
    return tuple(f"{REFUSED}: {reason}" for reason in reasons[:1])


def _unknown(value: object, known: Mapping[str, Any] | None, path: Path) -> Iterator[str]:
    if known is None:
        return
    if isinstance(value, Sequence) and not isinstance(value, str):
        for i, one in enumerate(value):
            yield from _unknown(one, known, (*path, i))
    elif isinstance(value, Mapping):
        for name, below in value.items():
            at, field = (*path, plain(str(name))), str(name).lower()
            if field in known:
                yield from _unknown(below, known[field], at)
            else:
                yield f"it knows no field {place('', at).removeprefix(': ')}"


def _of_tree(root: QueueConfig) -> Iterator[str]:
    """Yield what is wrong with the amounts and numbers of a tree, by itself and level by level."""
    if root.resources.guaranteed or root.resources.max:
        yield "the root may have no resources"
    reasons: list[str] = []
    _guaranteed(root, ROOT, {}, reasons)
    yield from reasons


def _guaranteed(queue: QueueConfig, path: str, most: Resource, reasons: list[str]) -> Resource:
    """Return what is guaranteed to a queue, or else to those below it, and note what is wrong.

    ``most`` is the maximum of the queues above it.
    """
    own, limit = queue.resources.guaranteed, queue.resources.max
    _compare(limit, most, f"max of {path}", "that of a queue above it", reasons)
    _compare(own, limit, f"guaranteed of {path}", "its max", reasons)
    limit = {**most, **{t: min(n, most.get(t, n)) for t, n in limit.items()}}
    below: dict[str, int] = {}
    for child in queue.queues:
        child_path = f"{path}.{child.name.lower()}"
        if queue.maxapplications and not 0 < child.maxapplications <= queue.maxapplications:
            reasons.append(f"maxapplications of {child_path} is not within that of {path}")
        for t, n in _guaranteed(child, child_path, limit, reasons).items():
            below[t] = below.get(t, 0) + n
    _compare(below, own, f"guaranteed below {path}", "its guaranteed", reasons)
    _compare(below, limit, f"guaranteed below {path}", "its max", reasons)
    return own if any(own.values()) else below


def _compare(small: Resource, large: Resource, what: str, than: str, reasons: list[str]) -> None:
    """Note if an amount is beyond another in a type that both have."""
    beyond = next((t for t, n in small.items() if t in large and n > large[t]), None)
    if beyond is not None:
        reasons.append(f"the {what} is more {beyond} than {than}")
