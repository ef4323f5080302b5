"""Where the objects of a state stand: file and line, for those who mark them there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from planner.reader.source import Source, Text

MAX_BYTES: Final = 4 * 2**20
"""Files beyond this are dumps, in which nobody looks for a line; the tree takes much memory."""
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Position(NamedTuple):
    """The file that an object stands in, and the line where it begins, from 1 on."""

    file: str
    line: int


def positions(source: Source) -> dict[str, Position]:
    """Return where the objects of a state stand, by ``kind/name`` or ``kind/namespace/name``.

    The state must have been read before: that bounds how deep its values are nested. JSON is read
    as YAML, and left out where it is none.
    """
    return {
        name: Position(text.where, line)
        for text in source.texts
        if len(text.data) <= MAX_BYTES
        for name, line in _objects_of(text)
    }


def _objects_of(text: Text) -> Iterator[tuple[str, int]]:
    try:
        todo = list(yaml.compose_all(text.data, Loader=_LOADER))
    except (yaml.YAMLError, ValueError):  # JSON with escapes or tabs that YAML does not have
        return
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.SequenceNode):
            todo += node.value
            continue
        fields = _fields(node)
        todo += [fields[name] for name in ("items", "state") if name in fields]
        metadata = _fields(fields.get("metadata"))
        kind, name = fields.get("kind"), metadata.get("name")
        if isinstance(kind, yaml.ScalarNode) and isinstance(name, yaml.ScalarNode):
            namespace = metadata.get("namespace")
            within = [namespace.value] if isinstance(namespace, yaml.ScalarNode) else []
            yield "/".join((kind.value.lower(), *within, name.value)), node.start_mark.line + 1


def _fields(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return the fields of a mapping by name; none of anything else."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}
