"""Single objects, checked and kept by kind: fields, versions, namespaces, names."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, Final, NoReturn

import msgspec
from pydantic import ValidationError

from planner.errors import ParseError, SchemaError
from planner.reader.complaint import schema_error
from planner.reader.items import Item, Kind
from planner.reader.kueue_kinds import CONFIG, KINDS, WORKLOAD, refuse_other_case
from planner.reader.kueue_release import Labelled
from planner.reader.kueue_rows import quick_row
from planner.reader.kueue_versions import as_served
from planner.reader.show import Path, place, plain, shown
from planner.reader.unknown import misplaced
from planner.stage import going_on
from planner.state.base import slim
from planner.state.kueue import API_GROUP, Node, Pod, Workload
from planner.state.kueue_columns import SOME, Reading, Row

MANAGER_CONFIG: Final = "controller_manager_config.yaml"
"""The key under which the ConfigMap of Kueue's manager holds its Configuration."""

_INSTALLED: Final = frozenset(
    {"CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
)
"""Kinds in Kueue's chart that are not read, but have labels that show the release."""

_NEWEST: Final = {
    name: f"{group}/{kind.versions[-1]}".lstrip("/") for (group, name), kind in KINDS.items()
}
"""The newest apiVersion of each kind that is read."""
_SHORTENED: Final = frozenset({"ClusterQueue", "Cohort"})
"""Kinds of which people show the part that matters, without what stands around it."""
_KUEUE_NAMES: Final = frozenset(name for group, name in KINDS if group == API_GROUP)


class Collection:
    """The objects that were read so far.

    ``objects`` has the checked objects by kind, in the order in which they were read, and ``items``
    the JSON they were made from, if ``keep_items``. ``workloads`` has all workloads, those left as
    text, too, and ``newest`` is the newest time in these. ``ignored`` counts objects of other
    kinds, and ``notes`` how often something was tolerated; ``labelled`` are the objects of Kueue's
    installation, with their labels.
    """

    def __init__(self, *, keep_items: bool = False) -> None:
        self.objects: dict[str, list[Any]] = {name: [] for name in _NEWEST}
        self.items: list[tuple[Kind, Item]] = []
        self.ignored: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.labelled: list[Labelled] = []
        self.workloads = Reading()
        self.newest: datetime | None = None
        self._keep_items = keep_items
        self._places: dict[str, dict[str, tuple[str, Path]]] = {name: {} for name in _NEWEST}
        self._first_error: tuple[Kind, Item, ValidationError] | None = None
        self._errors = 0

    def where(self, kind: str, *field: str) -> str:
        """Say where a field of the only object of a kind stands; nothing if there is none."""
        found = next(iter(self._places[kind].values()), None)
        return "" if found is None else place(found[0], (*found[1], *field))

    def add(self, item: Item) -> None:
        """Check an object and keep it if its kind matters; otherwise count it."""
        name, api_version = str(item.value["kind"]), item.value.get("apiVersion")
        if not isinstance(api_version, str) or not api_version:
            if name in _NEWEST:
                none = api_version is None
                problem = "has no apiVersion" if none else f"{shown(api_version)} is no apiVersion"
                raise SchemaError(item.where, f"{_subject(name, item)}: {problem}", _NEWEST[name])
            refuse_other_case(item)
            self.ignored[plain(name)] += 1
            return
        group, _, version = api_version.rpartition("/")
        kind = KINDS.get((group, name))
        if kind is not None:
            if version not in kind.versions:
                self.notes[f"{name} of {plain(api_version)} was read as {_NEWEST[name]}"] += 1
            self._keep(kind, item)
            if name == "Configuration":
                self._note_labels(name, item)
        elif group == "" and name == "ConfigMap":
            self._add_config_map(item)
        else:
            refuse_other_case(item)
            if name in _INSTALLED:
                self._note_labels(name, item)
            self.ignored[plain(f"{name}.{group}" if group else name)] += 1
            if name == "Kustomization":
                self.notes["a Kustomization was ignored: what it makes was not built"] += 1
            if name in _KUEUE_NAMES:
                self.notes[f"{name} of {shown(api_version)} is not Kueue's and was ignored"] += 1

    def take(self, text: msgspec.Raw, root: str, path: Path) -> bool:
        """Keep an object as text if it is a workload with nothing unusual; say whether it is one.

        ``root`` and ``path`` are its document and its place there.
        """
        found = quick_row(text)
        if found is None:
            return False
        row, newest = found
        known = self._places[WORKLOAD.name]
        if row.key in known:
            subject = f"{WORKLOAD.name} {plain(row.key)}"
            self._refuse_second(WORKLOAD, row.key, subject, place(root, path))
        known[row.key] = root, path
        if newest is not None and (self.newest is None or newest > self.newest):
            self.newest = newest
        self._add(row)
        return True

    def _add(self, row: Row) -> None:
        self.workloads.rows.append(row)
        if len(self.workloads.rows) >= SOME:
            self.workloads.read()
            going_on()

    def finish(self) -> None:
        """Raise the first error there was, saying how many there were.

        Raises ``SchemaError`` if a field of any object cannot be used.
        """
        if self._first_error is not None:
            kind, item, error = self._first_error
            subject = _subject(kind.name, item)
            raise schema_error(item, subject, error, self._errors)

    def _keep(self, kind: Kind, item: Item) -> None:
        api_version = str(item.value["apiVersion"])
        value, dropped = as_served(kind.name, api_version, item.value)
        for field in dropped:
            said = f"{kind.name} of {plain(api_version)} has {field}, a field of older versions"
            self.notes[f"{said}: it was left out, as the API server leaves it out"] += 1
        for field, right in misplaced(kind.model, value) if kind.name in _SHORTENED else ():
            said = f"{_subject(kind.name, item)} has {field}, which is no field and says nothing"
            self.notes[f"{said}: {right} is one"] += 1
        try:
            checked = kind.model.model_validate(value)
        except ValidationError as error:
            # Go on: the message says how many errors there are, so that all can be mended at once.
            self._first_error = self._first_error or (kind, item, error)
            self._errors += error.error_count()
            return
        namespace = name = ""
        metadata = getattr(checked, "metadata", None)
        if metadata is not None:
            name = metadata.name
            # The API server sets this default where a manifest leaves the namespace out.
            namespace = (metadata.namespace or "default") if kind.namespaced else ""
            if namespace != metadata.namespace:
                changed = metadata.model_copy(update={"namespace": namespace})
                checked = checked.model_copy(update={"metadata": changed})
        if isinstance(checked, (Workload, Node, Pod)):
            slim(checked)
        # Whatever the version: the same object may be dumped in two versions of its API.
        key, known = f"{namespace}/{name}", self._places[kind.name]
        if key in known:
            self._refuse_second(kind, key, _subject(kind.name, item), item.where)
        known[key] = item.root, item.path
        if isinstance(checked, Workload):
            self._add(Row.of_workload(checked))
        self.objects[kind.name].append(checked)
        if self._keep_items:
            self.items.append((kind, item))

    def _refuse_second(self, kind: Kind, key: str, subject: str, where: str) -> NoReturn:
        found = f"{subject} stands twice"
        if kind.name == "Configuration":
            found = "a second Configuration stands here"
        first = place(*self._places[kind.name][key])
        raise SchemaError(where, f"{found}; the first is at {first}", hint="keep one")

    def _add_config_map(self, item: Item) -> None:
        """Keep Kueue's Configuration, if the ConfigMap holds one as a text."""
        from planner.reader.yaml_text import parse_yaml  # noqa: PLC0415 - only this is in YAML

        data = item.value.get("data")
        text = data.get(MANAGER_CONFIG) if isinstance(data, dict) else None
        path = (*item.path, "data", MANAGER_CONFIG)
        documents: list[object] = []
        try:
            documents = parse_yaml(text, place(item.root, path)) if isinstance(text, str) else []
        except ParseError:
            if CONFIG in str(text):  # other operators have a file of this name as well
                raise
        for value in documents:
            if isinstance(value, dict) and str(value.get("kind")).lower() == "configuration":
                group = str(value.get("apiVersion")).partition("/")[0]
                if group == CONFIG:
                    self._note_labels("ConfigMap", item)
                    self.add(Item(item.root, path, value))
                    return
        self.ignored["ConfigMap"] += 1

    def _note_labels(self, name: str, item: Item) -> None:
        metadata = item.value.get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, dict) else None
        if isinstance(labels, dict):
            words = {k: v for k, v in labels.items() if isinstance(k, str) and isinstance(v, str)}
            self.labelled.append((_subject(name, item), words))


def _subject(kind: str, item: Item) -> str:
    """Name an object by its metadata as written, which may be any JSON."""
    metadata = item.value.get("metadata")
    parts = [
        metadata[key]
        for key in ("namespace", "name")
        if isinstance(metadata, dict) and isinstance(metadata.get(key), str) and metadata[key]
    ]
    return f"{kind} {plain('/'.join(parts))}" if parts else kind
