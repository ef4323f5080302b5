"""Documents to single objects: lists are opened, places remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from planner.errors import SchemaError
from planner.reader.parse import EXPECTED, Document
from planner.reader.quick import read_item
from planner.reader.show import Path, place, shown
from planner.state.base import Schema

ANSWERS: Final = "planner/"
"""What the field ``schema`` of an answer of the planner begins with, in every version."""


_PART_OF_CORE: Final = (
    "a scheduler's REST service says this of a part of its state: planner snapshot gets all of it "
    "in one dump"
)
# Source: yunikorn-core be3bb487, webservice/dao.
_OF_CORE: Final = (
    {"queuename"},
    {"applicationID"},
    {"nodeID"},
    {"partitionName", "nodesInfo"},
    {"clusterId", "capacity"},
    {"clusterName", "partition"},
)
"""Fields of queues, applications, nodes, partitions and clusters, as such a service prints them."""
_UNKIND: Final = (
    ({"items"}, "the kind of a list stands at its end: was the command that wrote it interrupted?"),
    ({"type", "object"}, "kubectl get --watch prints events: without it, it prints objects"),
    ({"Name", "Kind"}, "kubectl describe is for people: kubectl get -o json prints objects"),
    ({"managerConfig"}, "values of a chart are no objects: the ConfigMap made of them is one"),
    ({"apiVersion", "name", "version"}, "a chart is no object: helm template prints its objects"),
    *((fields, _PART_OF_CORE) for fields in _OF_CORE),
    ({"partitions", "nodes"}, "a scheduler's state dump stands alone in its file, in no list"),
)
"""What the fields of other things than objects are, and what helps."""
_VALUES: Final = re.compile(r"(?:.*/)?values[^/]*\.ya?ml(?:: document [0-9]+)?")
"""How the files are called that hold the values of a chart."""
BUILD: Final = "build it first: kubectl kustomize FOLDER prints the objects"
"""What to do with a kustomization."""
_KUSTOMIZES: Final = frozenset(
    {"apiVersion", "resources", "bases", "components", "crds", "configurations"}
    | {"namePrefix", "nameSuffix", "namespace", "labels", "commonLabels", "commonAnnotations"}
    | {"patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "replicas", "images"}
    | {"configMapGenerator", "secretGenerator", "generatorOptions", "generators", "transformers"}
    | {"helmCharts", "helmGlobals", "validators", "vars", "openapi", "buildMetadata", "sortOptions"}
)
"""The fields of a kustomization; its kind may be left out."""
_REFUSAL: Final = "Status"
"""The kind of what an API server answers instead of objects."""


class Kind(NamedTuple):
    """A kind of object which the planner reads."""

    name: str
    model: type[Schema]
    versions: tuple[str, ...]
    namespaced: bool = False


class Item(NamedTuple):
    """A JSON object that claims to be a Kubernetes object, and where it stands."""

    root: str
    path: Path
    value: dict[str, object]

    @property
    def where(self) -> str:
        """Its document and path, for messages."""
        return place(self.root, self.path)


Taken = Callable[[msgspec.Raw, str, Path], bool]
"""Called with the text of an object, its document and its path; says whether it took the object."""


def items_of(
    document: Document,
    path: Path = (),
    taken: Taken = lambda *_: False,
) -> Iterator[Item]:
    """Yield the objects of a document in order; lists, also nested ones, are opened.

    Objects that were left as text are passed over if ``taken`` takes them.

    Raises ``SchemaError`` if a value of the document is no object, or an object without a kind.
    """
    root = document.where
    # A stack of its own: lists in lists, however deep, must not end in a RecursionError.
    todo: list[Iterator[tuple[Path, object]]] = [iter([(path, document.value)])]
    while todo:
        for at, listed in todo[-1]:
            value = listed
            if isinstance(value, msgspec.Raw):
                if taken(value, root, at):
                    continue
                value = read_item(value)
            if isinstance(value, list | tuple):
                todo.append(_numbered(value, at))
                break
            if not isinstance(value, dict):
                where = place(root, at)
                raise SchemaError(where, f"{shown(value)} is not an object", EXPECTED)
            kind = _kind_of(value, root, at)
            # With a spec it is a single object whose kind happens to end in List.
            if kind.endswith("List") and "spec" not in value:
                todo.append(_list_items(Item(root, at, value), kind, used_up=document.used_up))
                break
            yield Item(root, at, value)
        else:
            todo.pop()


def cut_off(document: Document) -> Iterator[str]:
    """Yield a remark if a list is a piece of a longer one, as an API server with a limit sends it.

    Whether another document has the rest cannot be told.
    """
    metadata = document.value.get("metadata") if isinstance(document.value, dict) else None
    if isinstance(metadata, dict) and metadata.get("continue"):
        where = f"{document.where}: the list goes on elsewhere (metadata.continue)"
        yield f"{where}: what no other list has is missing"


def _kind_of(value: dict[str, object], root: str, at: Path) -> str:
    """Return the kind of an object.

    Raises `SchemaError` if it has none, or is what an API server answers instead of objects.
    """
    kind = value.get("kind")
    if not isinstance(kind, str) or not kind:
        found = f"{shown(kind)} is not a kind" if kind else ""
        if str(value.get("schema")).startswith(ANSWERS):
            found = "an answer of the planner stands here, not a state"
        hint = next((hint for fields, hint in _UNKIND if fields <= value.keys()), "")
        if not hint and _VALUES.fullmatch(root):
            hint = "values of a chart are no objects: helm template prints its objects"
        if {"apiVersion"} < value.keys() | {"apiVersion"} <= _KUSTOMIZES:
            found, hint = "a kustomization stands here", BUILD
        raise SchemaError(
            place(root, at),
            found or "an object without a kind stands here",
            "apiVersion, kind and metadata",
            hint,
        )
    if kind == _REFUSAL and value.get("apiVersion") == "v1":
        said = shown(value.get("message") or value.get("reason"))
        found = f"the API server's refusal stands here instead of objects: {said}"
        raise SchemaError(place(root, at), found, EXPECTED)
    return kind


def _numbered(values: Sequence[object], at: Path) -> Iterator[tuple[Path, object]]:
    for index, value in enumerate(values):
        yield (*at, index), value


def _list_items(item: Item, kind: str, *, used_up: bool) -> Iterator[tuple[Path, object]]:
    """Yield the items of a v1 List, or of a typed list, whose items may leave out their kind."""
    items = item.value.get("items")
    if items is not None and not isinstance(items, list):
        where = place(item.root, (*item.path, "items"))
        raise SchemaError(where, f"{shown(items)} is not a list", "the items of a list")
    base: dict[str, object] = {}
    if kind != "List":
        base = {"kind": kind.removesuffix("List"), "apiVersion": item.value.get("apiVersion")}
    for index, value in enumerate(items or ()):
        if items and used_up:
            items[index] = None
        whole = {**base, **value} if base and isinstance(value, dict) else value
        yield (*item.path, "items", index), whole
