"""Plans, trees and states with something changed in them."""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from planner.plan.kueue import Plan

Json = dict[str, Any]
Path = tuple[str | int, ...]

UNCLAIMED: Final = frozenset(
    {"seed", "wall_time_s", "corrected", "cut_off", "trees_omitted", "hidden", "touched", "wait"}
)
"""Numbers of a plan that say how it was found, what is drawn, or by which rules it was asked for:
nothing that is claimed."""

NAMED_NUMBERS: Final = frozenset(
    {"nominalQuota", "borrowingLimit", "lendingLimit", "priority", "value", "weight", "minutes"}
)
"""Fields of a state that are numbers, besides those of usage and requests."""

_NUMBER: Final = re.compile(r"\d+")


def plain(plan: Plan) -> Json:
    """Return a plan as JSON values."""
    value: Json = json.loads(plan.model_dump_json(by_alias=True))
    return value


def numbers(value: object, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """Yield the whole numbers and truth values in a JSON value, with where they stand."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from numbers(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from numbers(each, (*path, index))
    elif isinstance(value, int):
        yield path, value


def replaced(value: Json, path: Path, new: object) -> Json:
    """Return a JSON value with another value in one place, which shares all others."""
    changed = copy.copy(value)
    at: Any = changed
    for step in path[:-1]:
        at[step] = at = copy.copy(at[step])
    at[path[-1]] = new
    return changed


def other_number(chance: random.Random, old: int) -> int:
    """Return another number than one, most often a near one."""
    if isinstance(old, bool):
        return not old
    choices = (
        old + 1,
        old - 1,
        0,
        1,
        -old,
        2 * old,
        old + chance.randint(-40, 40),
        2**70,
        -(2**63),
    )
    return chance.choice([new for new in choices if new != old])


def with_another_number(chance: random.Random, plan: Json, within: Path = ()) -> Json | None:
    """Return a plan with one of its claimed numbers changed; ``within`` says where."""
    part: Any = plan
    for step in within:
        part = part[step]
    found = [
        (path, old)
        for path, old in numbers(part, within)
        if not UNCLAIMED.intersection(path) and path[:2] != ("certificate", "verdicts")
    ]
    if not found:
        return None
    path, old = chance.choice(found)
    return replaced(plan, path, other_number(chance, old))


def with_another_tree(chance: random.Random, plan: Json) -> Json | None:
    """Return a plan with one tree changed: a number, a name, a step, or the tree itself."""
    trees = (plan.get("certificate") or {}).get("trees") or []
    if not trees:
        return None
    changed = copy.deepcopy(plan)
    trees = changed["certificate"]["trees"]
    tree = chance.choice(trees)
    steps = tree["steps"]
    at = chance.randrange(len(steps))

    def number() -> None:
        _change_number(chance, steps[at])

    def name() -> None:
        rows = [each for one in trees for step in one["steps"] for each in step.get("rows", {})]
        if "rows" in steps[at] and rows:
            step = steps[at]["rows"]
            step[chance.choice(rows)] = step.pop(chance.choice(list(step)))

    changes: list[Callable[[], object]] = [
        number,
        number,
        number,
        name,
        lambda: steps.pop(at),
        lambda: steps.insert(at, copy.deepcopy(chance.choice(steps))),
        lambda: steps.insert(at, copy.deepcopy(chance.choice(chance.choice(trees)["steps"]))),
        steps.reverse,
        lambda: tree.update(claim=chance.choice(trees)["claim"]),
        lambda: trees.remove(tree),
        lambda: steps.__setitem__(at, {"law": "it is so"}),
        lambda: steps.__setitem__(at, {"narrow": steps[at].get("rows", {})}),
    ]
    chance.choice(changes)()
    return changed


def _change_number(chance: random.Random, step: Json) -> None:
    found = list(numbers(step))
    if found:
        path, old = chance.choice(found)
        at: Any = step
        for part in path[:-1]:
            at = at[part]
        at[path[-1]] = other_number(chance, old)


def with_another_state(chance: random.Random, objects: list[Json]) -> list[Json]:
    """Return objects with one number changed: a quota, a limit, usage, a request, a priority."""
    found = [place for place in _texts(objects) if _is_amount(place[0])]
    path, old = chance.choice(found)
    new: object
    if isinstance(old, int):
        new = old + chance.choice((-1, 1))
    else:
        number = int(_NUMBER.findall(old)[0])
        near = (number + 1, number - 1, 0, 2 * number, number + chance.randint(1, 4))
        choices = [max(0, n) for n in near if max(0, n) != number]
        new = _NUMBER.sub(str(chance.choice(choices)), old, count=1)
    return list(replaced({"items": objects}, ("items", *path), new)["items"])


def _texts(value: object, path: Path = ()) -> Iterator[tuple[Path, int | str]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in items:
            yield from _texts(each, (*path, name))
    elif not isinstance(value, bool) and isinstance(value, int | str) and _has_digits(value):
        yield path, value


def _has_digits(value: int | str) -> bool:
    """Say whether a value is a number, or a text with one."""
    return bool(_NUMBER.search(str(value)))


def _is_amount(path: Path) -> bool:
    inside = {"requests", "resourceUsage"} & set(path)
    return bool(inside) or path[-1] in NAMED_NUMBERS
