"""Everything the planner reads of a cluster, as one dump."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from planner.errors import ParseError
from planner.kubectl.call import PROGRAM, Answer, Kubectl, option
from planner.kubectl.refusal import is_missing, refusal
from planner.kubectl.resource import KUEUE_NAMESPACE, RESOURCES, Resource
from planner.kubectl.trim import trim
from planner.reader.assemble import without_garbage_collection
from planner.reader.items import items_of
from planner.reader.json_text import parse_json
from planner.reader.parse import Document

EXPECTED: Final = "the JSON that kubectl get -o json prints"


@dataclass(frozen=True)
class Dump:
    """The objects of a cluster.

    Attributes
    ----------
    objects
        The trimmed objects, in the order in which they were read.
    counts
        How many there are of each resource type that was asked for and is there.
    notes
        What the cluster does not have, and what holds instead.
    """

    objects: tuple[dict[str, Any], ...]
    counts: dict[str, int]
    notes: tuple[str, ...]

    def value(self) -> dict[str, Any]:
        """Return them as a v1 List."""
        return {"apiVersion": "v1", "kind": "List", "items": list(self.objects)}

    def text(self) -> str:
        """Return them as JSON: a v1 List, each object on a line of its own."""
        lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in self.objects)
        body = f"\n{lines}\n" if lines else ""
        return f'{{"apiVersion":"v1","kind":"List","items":[{body}]}}\n'


def take_dump(
    kubectl: Kubectl,
    *,
    namespace: str | None = None,
    kueue_namespace: str = KUEUE_NAMESPACE,
    without: Collection[str] = (),
    on_call: Callable[[float, str], None] | None = None,
) -> Dump:
    """Ask kubectl for all kinds of objects that the reader understands.

    Parameters
    ----------
    kubectl
        How to call it.
    namespace
        Where the pending workload is: LocalQueues and LimitRanges are read there only. Workloads
        always are read in all namespaces, for quota is used in all of them.
    kueue_namespace
        Where Kueue's manager and its Configuration are.
    without
        Names of resource types not to ask for, of `planner.kubectl.resource.OPTIONAL`.
    on_call
        Told before each call: the share of calls that are done, and what is asked for next.

    Raises
    ------
    InputError
        If kubectl fails, for whatever reason, or prints something else than objects.
    """
    for name, value in (("namespace", namespace), ("kueue-namespace", kueue_namespace)):
        option(name, value)  # before anything is asked for
    wanted = [each for each in RESOURCES if each.name not in without]
    objects: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    notes = []
    with without_garbage_collection():
        for done, resource in enumerate(wanted):
            if on_call is not None:
                on_call(done / len(wanted), resource.full_name)
            where = namespace if resource.of_preemptor else None
            found = _get(kubectl, resource, kueue_namespace if resource.object_name else where)
            if found is None:
                notes.append(f"the cluster has no {_called(resource)}: {resource.missing}")
                continue
            objects += found
            counts[resource.name] = len(found)
    return Dump(tuple(objects), counts, tuple(notes))


def _called(resource: Resource) -> str:
    return f"ConfigMap {resource.object_name}" if resource.object_name else resource.full_name


def _get(
    kubectl: Kubectl, resource: Resource, namespace: str | None
) -> list[dict[str, Any]] | None:
    """Return the objects of a resource type; None if the cluster may and does have none."""
    words = ["get", resource.full_name]
    if resource.object_name:
        words.append(resource.object_name)
    answer = kubectl.call(
        *words,
        *(option("namespace", namespace) or ["--all-namespaces"]),
        "--output=json",
    )
    where = " ".join((PROGRAM, *words))
    if answer.code == 0:
        return list(_objects(answer, where))
    if resource.missing and is_missing(answer):
        return None
    raise refusal(resource, where, answer, namespace)


def _objects(answer: Answer, where: str) -> Iterator[dict[str, Any]]:
    documents = list(parse_json(answer.output, where))
    if len(documents) != 1:
        found = "printed nothing" if not documents else f"printed {len(documents)} documents"
        raise ParseError(where, found, EXPECTED)
    for item in items_of(Document(where, documents[0], used_up=True)):
        yield trim(item.value)
