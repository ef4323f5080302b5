"""Edits of the nodes of a state, which decide where a flavor has a topology.

================================== ==================================================
``node/NAME.unschedulable``        true or false
``node/NAME.allocatable.RESOURCE`` a quantity
``node/NAME.labels.KEY``           a text, or ``none``: without the label
``node/NAME.taints.KEY``           NoSchedule, NoExecute or PreferNoSchedule; or ``none``
``node/NEW.like``                  the name of a node: one more like it, with nobody on it
================================== ==================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from planner.commands.whatif.edit import ABSENT, Setting, replaced
from planner.reader.complaint import schema_error
from planner.reader.items import Item
from planner.state import HOST, Node, State
from planner.state.kueue_topology import NodeStatus
from planner.state.pods import Taint

FIELDS: Final = ("unschedulable", "allocatable.RESOURCE", "labels.KEY", "taints.KEY", "like")
_EFFECTS: Final = ("NoSchedule", "NoExecute", "PreferNoSchedule")
_LIKE: Final = ".like"


def with_node(state: State, rest: str, setting: Setting) -> State:
    """Return the state with a node changed, or one more; ``rest`` is the target behind ``node/``.

    Raises
    ------
    SchemaError
        If there is no such node or field, or it cannot have the value.
    """
    names = [node.metadata.name for node in state.nodes]
    if rest.endswith(_LIKE) and rest.removesuffix(_LIKE) not in names:
        more = _like(state, rest.removesuffix(_LIKE), setting, names)
        return state.model_copy(update={"nodes": (*state.nodes, more)})
    fitting = [name for name in names if rest.startswith(f"{name}.")]
    if not fitting:
        raise setting.unknown("Node", rest.partition(".")[0], names)
    name = max(fitting, key=len)
    place = names.index(name)
    changed = _changed(state.nodes[place], rest.removeprefix(f"{name}."), setting)
    nodes = (*state.nodes[:place], changed, *state.nodes[place + 1 :])
    return state.model_copy(update={"nodes": nodes})


def _like(state: State, name: str, setting: Setting, names: list[str]) -> Node:
    if setting.value not in names:
        raise setting.unknown("Node", setting.value, names)
    if not name:
        raise setting.refused("the new node has no name", "node/NEW.like=NAME")
    model = state.nodes[names.index(setting.value)]
    labels = dict(model.metadata.labels)
    if HOST in labels:
        labels[HOST] = name
    metadata = model.metadata.model_copy(update={"name": name, "uid": "", "labels": labels})
    return model.model_copy(update={"metadata": metadata})


def _changed(node: Node, path: str, setting: Setting) -> Node:
    field, _, key = path.partition(".")
    match field:
        case "unschedulable" if not key:
            return replaced(node, ("spec",), field, setting, f"Node {node.metadata.name}")
        case "allocatable" if key:
            return _with_allocatable(node, key, setting)
        case "labels" if key:
            labels = _put(node.metadata.labels, key, setting.value)
            metadata = node.metadata.model_copy(update={"labels": labels})
            return node.model_copy(update={"metadata": metadata})
        case "taints" if key:
            if setting.value not in {*_EFFECTS, ABSENT}:
                found = f'"{setting.value}" is no effect of a taint'
                raise setting.refused(found, ", ".join((*_EFFECTS, ABSENT)))
            taints = tuple(one for one in node.spec.taints if one.key != key)
            if setting.value != ABSENT:
                taints += (Taint(key=key, effect=setting.value),)
            spec = node.spec.model_copy(update={"taints": taints})
            return node.model_copy(update={"spec": spec})
    raise setting.unknown("field", path, FIELDS)


def _with_allocatable(node: Node, resource: str, setting: Setting) -> Node:
    given: dict[str, object] = {"allocatable": {resource: setting.value}}
    try:
        read = NodeStatus.model_validate(given)
    except ValidationError as error:
        item = Item(setting.where, (), given)
        subject = f"Node {node.metadata.name}"
        raise schema_error(item, subject, error, error.error_count()) from None
    amounts = {**node.status.allocatable, **read.allocatable}
    status = node.status.model_copy(update={"allocatable": amounts})
    return node.model_copy(update={"status": status})


def _put(labels: Mapping[str, str], key: str, value: str) -> dict[str, str]:
    kept = {name: text for name, text in labels.items() if name != key}
    return kept if value == ABSENT else {**kept, key: value}
