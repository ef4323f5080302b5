"""The documents of YuniKorn, told from objects of Kueue: a state dump, and the files beside it.

Source: yunikorn-core be3bb487, webservice/state_dump.go; yunikorn-k8shim 23b6b47f,
common/constants/constants.go (the two ConfigMaps).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from types import MappingProxyType
from typing import Final, cast

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from planner.errors import SchemaError
from planner.reader.items import Item, items_of
from planner.reader.kueue_kinds import CONFIG, refuse_other_case
from planner.reader.parse import BOM, Document
from planner.reader.show import plain
from planner.reader.source import Holds
from planner.state.kueue import API_GROUP

QUEUES_KEY: Final = "queues.yaml"
PACKED_KEY: Final = "queues.yaml.gz"
"""The key of queues.yaml in the ``data`` of a ConfigMap, and packed in its ``binaryData``."""
GET_DUMP: Final = (
    "kubectl port-forward -n yunikorn service/yunikorn-service 9080:9080 and "
    "planner snapshot --yunikorn http://localhost:9080 -o statedump.json"
)
"""How to get a state dump from a cluster."""

_DUMP_NAMES: Final = frozenset({"applications", "nodes", "partitions", "queues"})
_YAML_NAME: Final = re.compile(rb"""^["']?([A-Za-z]+)["']?[ \t]*:""", re.MULTILINE)
READ: Final = {
    ("scheduling.k8s.io", "PriorityClass"): "PriorityClass",
    **{("", kind): kind for kind in ("Pod", "Namespace", "Node")},
}
"""The kinds of objects that are read beside a dump, by their API group and name."""
_DEFAULTS: Final = "yunikorn-defaults"
"""The ConfigMap which the other one, ``yunikorn-configs``, overrides."""


class YuniKornFiles(Struct, frozen=True):
    """A state dump or recorded instance of YuniKorn, and the documents beside it.

    ``queues`` is queues.yaml, also inside its ConfigMap; ``objects`` are those of Kubernetes, by
    the kinds in `READ`; ``ignored`` counts objects of other kinds.
    """

    dump: Document
    queues: Item | None = None
    objects: Mapping[str, Sequence[Item]] = MappingProxyType(dict.fromkeys(READ.values(), ()))
    ignored: Counter[str] = field(default_factory=Counter)


def yunikorn_files(documents: Sequence[Document]) -> YuniKornFiles | None:
    """Sort the documents of YuniKorn; None if none of them is YuniKorn's.

    Raises ``InputError`` if the state dump is missing, there are two, or objects of Kueue stand
    beside it.
    """
    dumps = [one for one in documents if _is_dump(one.value)]
    queues = [one for one in documents if _is_queues(one.value)]
    if not dumps and not queues:
        return None
    named = {id(one) for one in (*dumps, *queues)}
    items = [Item(one.where, (), _as_written(one)) for one in queues]
    for one in documents:
        if id(one) not in named:
            # Not marked as used up: these documents may turn out to be Kueue's after all.
            items += items_of(Document(one.where, one.value))
    kueue = next((item for item in items if _group(item) in {API_GROUP, CONFIG}), None)
    if not dumps:
        if kueue is not None and all("kind" in item.value for item in items):
            return None  # the ConfigMap of YuniKorn in a dump of a whole cluster
        raise SchemaError(
            queues[0].where,
            f"{QUEUES_KEY} of YuniKorn stands here, but no state dump",
            "the full state dump of the core beside it, in the same file or folder",
            GET_DUMP,
        )
    if kueue is not None:
        kind = plain(str(kueue.value.get("kind")))
        raise SchemaError(
            kueue.where,
            f"{kind} of Kueue stands beside a state dump of YuniKorn",
            "the state of one scheduler",
            "put them into folders of their own",
        )
    if len(dumps) > 1:
        raise _second(dumps[0].where, dumps[1].where, "state dump")
    return _sorted(_with_written_queues(dumps[0]), items)


def holds(data: bytes) -> Holds:
    """Say whether a text is a state dump or an instance, by the names in its outermost object."""
    try:
        names = [*msgspec.json.decode(data.removeprefix(BOM), type=dict[str, msgspec.Raw])]
    except (ValueError, RecursionError):  # perhaps YAML
        names = [name.decode() for name in _YAML_NAME.findall(data)]
    return "state" if _is_dump(dict.fromkeys(names)) else "part"


def _is_dump(value: object) -> bool:
    """Say whether a value is a state dump or an instance: it has two of their lists or more."""
    return isinstance(value, Mapping) and "kind" not in value and len(_DUMP_NAMES & set(value)) > 1


def _is_queues(value: object) -> bool:
    """Say whether a value is queues.yaml, with keys in any case, or the ConfigMap that holds it."""
    if not isinstance(value, Mapping):
        return False
    if value.get("kind") == "ConfigMap":
        parts = (value.get("data"), QUEUES_KEY), (value.get("binaryData"), PACKED_KEY)
        return any(isinstance(part, Mapping) and key in part for part, key in parts)
    names = {name.lower() for name in value if isinstance(name, str)}
    return "partitions" in names and "kind" not in names and not _is_dump(value)


def _as_written(queues: Document) -> dict[str, object]:
    """Return queues.yaml with numbers as texts, as the core reads them; a ConfigMap as it is."""
    value = cast("Mapping[str, object]", queues.value)
    return dict(value if "kind" in value else cast("Mapping[str, object]", queues.as_written()))


def _with_written_queues(dump: Document) -> Document:
    """Return a dump or an instance with the numbers of its queues.yaml as texts."""
    value = cast("Mapping[str, object]", dump.value)
    configs = [name for name in ("config", "queues") if isinstance(value.get(name), Mapping)]
    if not dump.yaml or not configs:
        return dump
    written = cast("Mapping[str, object]", dump.as_written())
    return Document(dump.where, {**value, **{name: written[name] for name in configs}})


def _group(item: Item) -> str:
    return str(item.value.get("apiVersion") or "").rpartition("/")[0]


def _sorted(dump: Document, items: Sequence[Item]) -> YuniKornFiles:
    kept: dict[str, list[Item]] = {kind: [] for kind in READ.values()}
    queues: list[Item] = []
    ignored: Counter[str] = Counter()
    for item in items:
        group, kind = _group(item), str(item.value.get("kind"))
        if _is_queues(item.value):
            queues.append(item)
        elif (group, kind) in READ:
            kept[kind].append(item)
        else:
            refuse_other_case(item)
            ignored[plain(f"{kind}.{group}" if group else kind)] += 1
    if len(queues) > 1:
        names = [item.value.get("metadata") for item in queues]
        is_own = [not isinstance(one, dict) or one.get("name") != _DEFAULTS for one in names]
        queues = [*compress(queues, is_own)] or queues
    if len(queues) > 1:
        raise _second(queues[0].where, queues[1].where, QUEUES_KEY)
    return YuniKornFiles(dump, next(iter(queues), None), kept, ignored)


def with_objects(files: YuniKornFiles, objects: Sequence[object]) -> YuniKornFiles:
    """Return the documents with objects of Kubernetes that stand in a recorded instance."""
    found = _sorted(files.dump, [*items_of(Document(files.dump.where, objects))]).objects
    return replace(files, objects={kind: (*files.objects[kind], *found[kind]) for kind in found})


def _second(first: str, second: str, what: str) -> SchemaError:
    return SchemaError(
        second,
        f"a second {what} of YuniKorn stands here; the first is at {first}",
        "the state of one cluster at one time",
        "planner audit and planner replay read many, one a line of a .jsonl file"
        if what != QUEUES_KEY
        else "keep one",
    )
