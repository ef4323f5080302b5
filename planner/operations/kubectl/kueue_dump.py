"""Everything the planner reads of a cluster, as one dump.

Only the fields of objects that the reader reads are kept: all else is bookkeeping, or may be
secret. A state read from trimmed objects is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import closing
from datetime import datetime
from itertools import chain
from typing import Any, Final

from msgspec import Struct

from planner.dump import as_json, listed
from planner.errors import InputError, ParseError
from planner.garbage import without_garbage_collection
from planner.operations.kubectl.call import PROGRAM, Answer, Kubectl, option
from planner.operations.kubectl.kueue_resource import (
    CONFIGURATION,
    MANAGER,
    PHASES,
    RESOURCES,
    Question,
    Refused,
    Resource,
    forbidden,
    is_forbidden,
    is_missing,
    refusal,
)
from planner.reader.items import items_of
from planner.reader.kueue_kinds import KINDS, WORKLOAD
from planner.reader.parse import Document, parse_json
from planner.reader.settings import TAKEN_AT, written
from planner.reader.show import shown
from planner.reader.unknown import known_part
from planner.state.base import Metadata
from planner.state.clock import present
from planner.state.kueue_topology import PLACED

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which kubectl apply keeps a copy of the whole object."""
_TELLING: Final = {
    "Deployment": ("name", "namespace", "labels"),
    "Node": ("name", "labels"),
    "Pod": ("name", "namespace", "annotations"),
}
"""The fields of metadata that are kept, for certain kinds; a Deployment only shows the release."""


def trim(item: dict[str, Any]) -> dict[str, Any]:
    """Return an object with only the fields that the reader reads.

    A value of a wrong form stays, so that the reader can complain about it.
    """
    group = str(item.get("apiVersion", "")).rpartition("/")[0]
    kind = KINDS.get((group, str(item.get("kind"))))
    named = ("apiVersion", "kind", "metadata")
    whole: dict[str, Any] = {key: item[key] for key in named if key in item}
    if kind is not None:
        whole |= known_part(kind.model, item)
    elif "data" in item:  # the ConfigMap of Kueue's Configuration
        whole["data"] = item["data"]
    if isinstance(whole.get("metadata"), dict):
        whole["metadata"] = _metadata("" if kind is None else kind.name, whole["metadata"])
    if kind is WORKLOAD:
        _drop_annotations_of_pods(whole)
    return whole


def _drop_annotations_of_pods(workload: dict[str, Any]) -> None:
    """Keep only those annotations of templates that an admission check gives, too.

    It may contradict these; others decide nothing, and may hold anything, such as secrets.
    """
    updates = _all_at(workload, "status", "admissionChecks", "podSetUpdates", "annotations")
    contested = {key for found in updates if isinstance(found, dict) for key in found}
    for metadata in _all_at(workload, "spec", "podSets", "template", "metadata"):
        found = metadata.get("annotations") if isinstance(metadata, dict) else None
        if isinstance(found, dict):
            metadata["annotations"] = {k: v for k, v in found.items() if k in contested}
            if not metadata["annotations"]:
                del metadata["annotations"]


def _all_at(value: object, *path: str) -> list[Any]:
    """Return all values at a path, in each item of the lists on the way."""
    found = [value]
    for name in path:
        inner = [one.get(name) for one in found if isinstance(one, dict)]
        found = [each for one in inner for each in (one if isinstance(one, list) else [one])]
    return found


def _metadata(kind: str, whole: dict[str, Any]) -> dict[str, Any]:
    read = known_part(Metadata, whole)
    if kind in _TELLING:
        read = {key: read[key] for key in _TELLING[kind] if key in read}
    annotations = read.get("annotations")
    if kind == "Pod":  # the annotations that show that Kueue placed it
        placed = annotations.items() if isinstance(annotations, dict) else ()
        read["annotations"] = {key: value for key, value in placed if key in PLACED}
        if not read["annotations"]:
            del read["annotations"]
    elif isinstance(annotations, dict) and LAST_APPLIED in annotations:
        read["annotations"] = {k: v for k, v in annotations.items() if k != LAST_APPLIED}
    return read


EXPECTED: Final = "the JSON that kubectl get -o json prints"
_NAMESPACE_AND_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9.-]*")


Reply = list[dict[str, Any]] | str | Refused
"""The objects that were asked for; a note if there are none and the dump does without them; or the
cluster's refusal to list objects that are needed."""


class Dump(Struct, frozen=True):
    """The objects of a cluster, trimmed, in the order in which they were read.

    ``counts`` has the number of objects of each resource type that was asked for and is there,
    ``notes`` what the cluster does not have, and what holds instead; ``taken_at`` is when the last
    objects were read, by the clock of this machine.
    """

    objects: tuple[dict[str, Any], ...]
    counts: dict[str, int]
    notes: tuple[str, ...]
    taken_at: datetime

    def value(self) -> dict[str, Any]:
        """Return the objects as a v1 List that says when they were read."""
        return listed(self.objects, {TAKEN_AT: written(self.taken_at)})

    def text(self) -> str:
        """Return the objects as JSON: a v1 List, each object on a line of its own."""
        return as_json(self.value())


def take_dump(
    kubectl: Kubectl,
    *,
    namespace: str | None = None,
    configuration: str = CONFIGURATION,
    without: Collection[str] = (),
    on_call: Callable[[float, str], None] | None = None,
) -> Dump:
    """Ask kubectl for all kinds of objects that the reader understands, phase by phase.

    The pending workload is in ``namespace``: LimitRanges and ResourceClaimTemplates are read there
    only. Workloads and LocalQueues always are read in all namespaces, for quota is used in all of
    them. ``configuration`` is the ConfigMap of Kueue's Configuration, as NAMESPACE/NAME, and
    ``without`` names resource types not to ask for, of `OPTIONAL`. ``on_call`` is called before
    each answer with the share of answers that are read, and the resource type that comes next.

    Raises ``InputError`` if kubectl fails, for whatever reason, or prints something else than
    objects. All resource types that may not be read are named in one message.
    """
    option("namespace", namespace)  # before anything is asked for
    if not _NAMESPACE_AND_NAME.fullmatch(configuration):
        raise InputError("--configuration", f"{shown(configuration)} is not NAMESPACE/NAME")
    wanted = [each for each in RESOURCES if each.name not in without]
    replies: dict[str, Reply] = {}
    with without_garbage_collection():
        for phase in range(PHASES):
            there = {name for name, reply in replies.items() if reply and isinstance(reply, list)}
            asked = [
                _question(each, namespace, configuration)
                for each in wanted
                if each.phase == phase and (not each.needed_by or each.needed_by in there)
            ]
            with closing(kubectl.calls([one.call for one in asked])) as answers:
                for question in asked:
                    if on_call is not None:
                        on_call(len(replies) / len(wanted), question.resource.full_name)
                    replies[question.resource.name] = _reply(question, next(answers))
    in_order = [(each.name, replies[each.name]) for each in wanted if each.name in replies]
    lists = {name: reply for name, reply in in_order if isinstance(reply, list)}
    notes = [reply for _, reply in in_order if isinstance(reply, str)]
    refused = [reply for _, reply in in_order if isinstance(reply, Refused)]
    if refused:
        raise forbidden(refused)
    return Dump(
        objects=tuple(chain.from_iterable(lists.values())),
        counts={name: len(objects) for name, objects in lists.items()},
        notes=tuple(notes),
        taken_at=present(),
    )


def _question(resource: Resource, namespace: str | None, configuration: str) -> Question:
    if resource.single:
        where, name = configuration.split("/")
        return Question(resource, where, MANAGER if resource.name == "deployments" else name)
    return Question(resource, namespace if resource.of_preemptor else None)


def _reply(question: Question, answer: Answer) -> Reply:
    resource, where = question.resource, " ".join((PROGRAM, *question.words))
    if answer.code == 0:
        documents = list(parse_json(answer.output, where))
        if len(documents) != 1:
            found = f"printed {len(documents)} documents" if documents else "printed nothing"
            raise ParseError(where, found, EXPECTED)
        items = items_of(Document(where, documents[0], used_up=True))
        return [trim(item.value) for item in items]
    if resource.missing and is_missing(answer):
        what, another = resource.full_name, ""
        if resource.name == "deployments":
            what = f"Deployment {question.namespace}/{question.name}"
        elif resource.single:
            what = f"ConfigMap {question.namespace}/{question.name}"
            another = "; --configuration names another one"
        return f"the cluster has no {what}: {resource.missing}{another}"
    if is_forbidden(answer):
        if resource.forgone:
            return f"{resource.full_name} may not be listed: {resource.missing}"
        return Refused(question, where, answer)
    raise refusal(question, where, answer)
