"""Damage to JSON values: to anything anywhere, and to what a dump is made of."""

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any, Final

from tests.fuzz import hostile

MOST_COPIES: Final = 40
_LONGEST: Final = 100_000
_NAMES: Final = (
    *("name", "namespace", "kind", "apiVersion", "spec", "status", "metadata", "cohort", "parent"),
    *("cohortName", "parentName", "queueName", "clusterQueue", "priority", "count", "podSets"),
    *("queues", "properties", "nodes", "allocationKey", "applicationID", "uid", "x", "", "items"),
)

_WHOLE: Final = (0, 1, 2, 3, 100, -1, 10**9, -(10**9), 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1)
_AMOUNTS: Final = (
    *("0", "1", "3", "1.5", "1m", "100m", "1e3", "1Ki", "7Ei", "8Ei", "1e18", "0.1", "1n", "-1"),
    *("9223372036854775807", "9223372036854775806", "4611686018427387904", "1000000000000"),
)
_CHOICES: Final = (
    *("Any", "Never", "LowerPriority", "LowerOrNewerEqualPriority", "MayStopSearch"),
    *("TryNextFlavor", "Hold", "HoldAndDrain", "True", "False", "StrictFIFO", "BestEffortFIFO"),
    *("fence", "default", "disabled", "true", "false", "main", "x"),
)

Place = tuple[Any, Any]
"""A container, and the key or index of something in it."""


def places(value: Any) -> list[Place]:
    """List every place in a value."""
    found: list[Place] = []
    todo = [value]
    while todo:
        container = todo.pop()
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in pairs:
            found.append((container, key))
            if isinstance(item, dict | list) and item:
                todo.append(item)
    return found


def objects(value: Any, kind: str | None = None) -> list[Place]:
    """List the places of objects that have a kind, or of those of one kind."""
    return [
        (container, key)
        for container, key in places(value)
        if isinstance(container[key], dict)
        and isinstance(container[key].get("kind"), str)
        and (kind is None or container[key]["kind"] == kind)
    ]


def damage(value: Any, chance: Random) -> Any:
    """Return a copy with some damage; the value itself may become another.

    Most of it is mild: a value that could stand there, or the lack of one. What no reader takes
    shows no more than that the reader refuses it.
    """
    holder = [deepcopy(value)]
    mild = chance.random() < 0.65
    for _ in range(chance.choice((1, 1, 2, 3, 5, 8) if mild else (1, 1, 1, 2))):
        found = places(holder)
        ways = _MILD if mild else _OF_OBJECTS if chance.random() < 0.3 else _ANYWHERE
        chance.choice(ways)(holder, found, chance)
        if not holder:
            holder.append(None)
    return holder[0]


def _replace(_: Any, found: list[Place], chance: Random) -> None:
    container, key = chance.choice(found)
    container[key] = hostile.value(chance)


def _replace_alike(_: Any, found: list[Place], chance: Random) -> None:
    """Replace something by what could stand there: that gets further than the reader."""
    container, key = chance.choice(found)
    old = container[key]
    same = [c[k] for c, k in found if k == key and type(c[k]) is type(old) and c[k] != old]
    if same and chance.random() < 0.5:
        container[key] = deepcopy(chance.choice(same))
    elif isinstance(old, bool):
        container[key] = not old
    elif isinstance(old, int):
        container[key] = chance.choice(_WHOLE)
    elif isinstance(old, str):
        container[key] = _text_alike(old, chance)
    elif isinstance(old, dict | list):
        container[key] = type(old)()


def _text_alike(old: str, chance: Random) -> str:
    if old[:4].isdecimal() and "T" in old:
        return chance.choice(hostile.TIMES[:7])
    if old[:1].isdecimal():
        return chance.choice(_AMOUNTS)
    return chance.choice((old + "x", old.lower(), "", *_CHOICES, hostile.text(chance)))


def _drop(_: Any, found: list[Place], chance: Random) -> None:
    container, key = chance.choice(found)
    del container[key]


def _rename(_: Any, found: list[Place], chance: Random) -> None:
    fields = [(container, key) for container, key in found if isinstance(container, dict)]
    if fields:
        container, key = chance.choice(fields)
        renamed = (key.swapcase(), key + "s", key[:-1], key + "\u200b", hostile.text(chance))
        container[chance.choice((*renamed, *_NAMES[:3]))] = container.pop(key)


def _move(_: Any, found: list[Place], chance: Random) -> None:
    """Let something stand where something else stood, as texts of one dump do that name another."""
    (container, key), (other, other_key) = chance.choice(found), chance.choice(found)
    container[key] = deepcopy(other[other_key])


def _swap_alike(_: Any, found: list[Place], chance: Random) -> None:
    container, key = chance.choice(found)
    alike = [(c, k) for c, k in found if k == key and c is not container]
    if alike:
        other, other_key = chance.choice(alike)
        container[key], other[other_key] = deepcopy(other[other_key]), deepcopy(container[key])


def _double(_: Any, found: list[Place], chance: Random) -> None:
    container, key = chance.choice(found)
    copied = deepcopy(container[key])
    if isinstance(container, list):
        times = chance.choice((1, 1, 1, 2, MOST_COPIES))
        container[key:key] = [deepcopy(copied) for _ in range(times)]
    else:
        container[chance.choice(_NAMES)] = copied


def _insert(_: Any, found: list[Place], chance: Random) -> None:
    container, key = chance.choice(found)
    if isinstance(container, list):
        container.insert(key, hostile.value(chance))
    else:
        container[chance.choice((*_NAMES, hostile.text(chance)))] = hostile.value(chance)


def _nest(_: Any, found: list[Place], chance: Random) -> None:
    container, key = chance.choice(found)
    value = container[key]
    for _ in range(chance.choice((1, 1, 2, 50))):
        value = [value] if chance.random() < 0.5 else {chance.choice(_NAMES): value}
    container[key] = value


def _long(_: Any, found: list[Place], chance: Random) -> None:
    texts = [(container, key) for container, key in found if isinstance(container[key], str)]
    if texts:
        container, key = chance.choice(texts)
        container[key] = (container[key] or "x") * (_LONGEST // max(1, len(container[key])))


def _drop_kind(holder: Any, _: list[Place], chance: Random) -> None:
    """Take all objects of a kind away."""
    found = objects(holder)
    if found:
        container, key = chance.choice(found)
        kind = container[key]["kind"]
        if isinstance(container, list):
            container[:] = [
                one for one in container if not (isinstance(one, dict) and one.get("kind") == kind)
            ]


def _double_object(holder: Any, _: list[Place], chance: Random) -> None:
    """Have an object twice, the second time with some difference."""
    found = [place for place in objects(holder) if isinstance(place[0], list)]
    if found:
        container, key = chance.choice(found)
        again = deepcopy(container[key])
        if chance.random() < 0.7:
            container_again, key_again = chance.choice(places(again))
            container_again[key_again] = hostile.value(chance)
        container.insert(chance.randint(0, len(container)), again)


def _shuffle(holder: Any, _: list[Place], chance: Random) -> None:
    for container, _key in objects(holder)[:1]:
        if isinstance(container, list):
            chance.shuffle(container)


def _circle(holder: Any, _: list[Place], chance: Random) -> None:
    """Let cohorts, or queues of YuniKorn, belong to themselves or to one another."""
    cohorts = [container[key] for container, key in objects(holder, "Cohort")]
    names = [
        one["metadata"]["name"]
        for one in cohorts
        if isinstance(one.get("metadata"), dict) and "name" in one["metadata"]
    ]
    for one in cohorts:
        spec = one.get("spec")
        if names and isinstance(spec, dict):
            spec[chance.choice(("parentName", "parent"))] = chance.choice(names)
    queues = [(c, k) for c, k in places(holder) if k in {"queues", "children"} and c[k]]
    if queues:
        container, key = chance.choice(queues)
        if isinstance(container[key], list) and isinstance(container[key][0], dict):
            container[key].append({**deepcopy(container), "name": "again"})


def _annotate(holder: Any, _: list[Place], chance: Random) -> None:
    """Say something about a workload that the planner listens to."""
    described = [c[k] for c, k in places(holder) if k == "metadata" and isinstance(c[k], dict)]
    if described:
        metadata = chance.choice(described)
        notes = metadata.get("annotations")
        said = {chance.choice(hostile.ANNOTATIONS): hostile.text(chance)}
        metadata["annotations"] = {**(notes if isinstance(notes, dict) else {}), **said}


def _retype(holder: Any, _: list[Place], chance: Random) -> None:
    found = objects(holder)
    if found:
        container, key = chance.choice(found)
        other, other_key = chance.choice(found)
        container[key]["kind"] = other[other_key]["kind"]
        if chance.random() < 0.3:
            container[key]["apiVersion"] = hostile.text(chance)


def _wrap(holder: Any, found: list[Place], chance: Random) -> None:
    del found
    for _ in range(chance.choice((1, 2, 30))):
        holder[0] = {"apiVersion": "v1", "kind": "List", "items": [holder[0]]}


def _same_name(holder: Any, _: list[Place], chance: Random) -> None:
    """Give every object of one kind, or just all of them, one name."""
    name = hostile.text(chance)
    kind = None
    found = objects(holder)
    if found and chance.random() < 0.7:
        container, key = chance.choice(found)
        kind = container[key]["kind"]
    for container, key in objects(holder, kind):
        if isinstance(container[key].get("metadata"), dict):
            container[key]["metadata"]["name"] = name


Way = Callable[[Any, list[Place], Random], None]
_ANYWHERE: Final[tuple[Way, ...]] = (
    *(_replace, _replace, _replace_alike, _replace_alike, _replace_alike, _drop, _drop, _rename),
    *(_move, _swap_alike, _swap_alike, _double, _insert, _nest, _long),
)
_MILD: Final[tuple[Way, ...]] = (
    *(_replace_alike, _replace_alike, _replace_alike, _replace_alike, _drop, _swap_alike),
    *(_drop_kind, _double_object, _shuffle, _circle, _annotate, _same_name, _double),
)
_OF_OBJECTS: Final[tuple[Way, ...]] = (
    *(_drop_kind, _double_object, _shuffle, _circle, _annotate, _annotate, _retype, _wrap),
    _same_name,
)
