"""Whatever is changed in a plan, field by field: it is refused, or named as held against nothing.

Trees are left to tests/proof. A plan may leave parts out, which are not asked for then.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from pydantic import ValidationError

import planner
from planner.errors import InputError
from planner.plan import AnyPlan
from planner.state import AnyState
from tests.commands.check import test_said
from tests.commands.check.test_said import as_file
from tests.conftest import TEST_ALL, some
from tests.proof.mutation import Json, Path, replaced

AS_TRUE: Final = re.compile(
    r"borrowing|certificate\.(digest|trees_omitted)|(greedy\.)?stability"
    r"|greedy\.outside_rules\.\[\]"
)
"""Fields in which another value is as true: of two attempts both may permit the victims, the digest
and what is omitted are notes, and that no victim would preempt again is so where nobody asked; of
laws that are broken the words are."""
OF_NOTHING: Final[tuple[Any, ...]] = (
    *(True, 1, "any", "quota", "optimal", "certified", [], {"steps": [], "reason": "x"}),
    {"why": "notHead", "text": "it is not the head", "head": "a/b"},
    {"why": "notFirst", "text": "a acts before it", "asks": ["a"]},
    {"by": "order", "outcome": "waits"},
    {"cohort": None, "queue": None, "order": ["ByLowestPriority"], "wait": 0},
    {"digest": "", "levels": []},
)
"""What stands in the place of nothing."""
_DRAWN: Final = {"pod_set": "main", "flavor": "default", "slot": "", "placed": True, "domains": []}
_PLACED: Final = {"name": "main", "flavor": "default", "levels": [], "domains": []}
OF_AN_EMPTY_LIST: Final[tuple[Any, ...]] = (
    ["any"],
    [{"term": "workloads", "most": 1}],
    [_DRAWN],
    [_PLACED],
)
"""What stands in the place of an empty list: a word, a cap, nodes around a podset, its places."""

WORDS: Final = ("optimum", "infeasible", "certified", "2020-11-12T09:42:10Z")
"""What stands in the place of a word of which there are few, or of a time."""


def places(value: object, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield each value in a plan with where it stands; of a list the first two are enough."""
    yield path, value
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(value[:2]):
            yield from places(each, (*path, index))


def others(value: Any) -> tuple[Any, ...]:
    """Return other values of a kind, and none with less in it: of a list the first twice."""
    if value is None:
        return OF_NOTHING
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int | float):
        return value + 1, value - 1, -value
    if isinstance(value, dict):
        return ({**value, "further": 1},)
    if isinstance(value, list):
        return ([*value, value[0]],) if value else OF_AN_EMPTY_LIST
    return f"{value}x", value[1:] or "x", *WORDS


def forged(plan: AnyPlan) -> Iterator[tuple[str, AnyPlan]]:
    """Yield plans with one other value each, and the name of the field: one of each, or all."""
    file: Json = as_file(plan)
    tried = set[str]()
    for path, value in places(file):
        name = ".".join("[]" if isinstance(step, int) else step for step in path)
        for other in others(value) if path and path[:2] != ("certificate", "trees") else ():
            if name in tried and not TEST_ALL:
                break
            try:
                changed = type(plan).model_validate(replaced(file, path, other))
            except ValidationError:
                continue
            if changed != plan:
                tried.add(name)
                yield name, changed


@pytest.mark.parametrize(
    "made",
    some(
        (
            *("kueue", "outside", "topology", "preferred", "unstable", "unplaced"),
            *("yunikorn", "nobody", "lowered", "required"),
        ),
        2,
    ),
)
def test_no_field_is_taken_from_the_plan(made: str) -> None:
    state: AnyState
    state, plan = getattr(test_said, made)()
    assert planner.check(state, plan).accepted
    believed = set[str]()
    for name, each in forged(plan):
        try:
            found = planner.check(state, each)
        except InputError:
            continue
        bare = name.replace(".[]", "")
        named = any(bare == one or bare.startswith(f"{one}.") for one in found.unchecked)
        if found.accepted and not named and not AS_TRUE.fullmatch(name):
            believed.add(name)
    assert not believed
