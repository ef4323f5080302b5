"""Plans that were written as JSON, and proof trees that were written apart from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from pydantic import ValidationError

from planner.errors import InputError, ParseError, SchemaError, UnsupportedError
from planner.plan import AnyPlan
from planner.plan.proof import lines_of, trees_of
from planner.reader.complaint import schema_error
from planner.reader.items import Item
from planner.reader.parse import BOM, parse_json, refuse_binary, refuse_twice
from planner.reader.show import place, shown
from planner.reader.source import MAX_BYTES, load_file
from planner.scheduler import find_scheduler, schedulers

EXPECTED: Final = "a plan, as planner solve --format json writes it"
_OTHERS: Final = {
    "pending": "is a joint plan, which has no trees",
    "points": "is a front of plans",
    "fronts": "holds fronts of plans",
    "apiVersion": "holds objects of a cluster: planner check takes the state first, then a plan",
    "partitions": "is the dump of a scheduler: planner check takes the state first, then a plan",
}
"""Other output of planner solve, and states, each kind by a field that no plan has."""


class Plans(NamedTuple):
    """The plans of a file: a single one, or those for ``every`` pending workload."""

    plans: Sequence[AnyPlan]
    every: bool

    def missing(self, waiting: Iterable[str]) -> tuple[str, ...]:
        """Return those that wait, given by keys, for whom a plan is missing."""
        planned = {plan.preemptor for plan in self.plans}
        return tuple(key for key in waiting if key not in planned) if self.every else ()


def read_plans(source: str, max_bytes: int | None = None) -> Plans:
    """Read the plan that a file holds, or all of a list as ``planner solve --all`` writes it.

    Raises an InputError if it cannot be read, or holds no plan, or a kind that cannot be checked.
    """
    text = load_file(source, max_bytes or MAX_BYTES, EXPECTED)
    root, data = text.where, text.data.removeprefix(BOM)
    refuse_binary(data, root, EXPECTED)
    try:
        values = list(parse_json(data, root))
    except ParseError as error:
        raise ParseError(error.where, error.found, EXPECTED, error.hint) from None
    if len(values) != 1:
        found = f"holds {len(values)} documents" if values else "is empty"
        raise ParseError(root, found, EXPECTED)
    value = values[0]
    refuse_twice(data, root, EXPECTED)
    if isinstance(value, dict) and isinstance(value.get("plans"), list):
        strange = [name for name in value if name not in {"schema", "plans"}]
        if strange:
            where = place(root, (strange[0],))
            raise SchemaError(where, "a list of plans has no such key", EXPECTED)
        if not value["plans"]:
            raise SchemaError(place(root, ("plans",)), "is empty: nothing to check", EXPECTED)
        plans = [_plan(root, ("plans", i), each) for i, each in enumerate(value["plans"])]
        return Plans(plans, every=True)
    return Plans([_plan(root, (), value)], every=False)


def with_trees(plans: Sequence[AnyPlan], proof: Path) -> list[AnyPlan]:
    """Return plans with the trees that ``planner solve --proof`` wrote to a file.

    Raises an InputError if it cannot be read, holds something else, or trees of another plan.
    """
    text = load_file(proof, MAX_BYTES, "a file of planner solve --proof")
    try:
        lines = text.data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ParseError(text.where, "is not UTF-8 text") from None
    trees = trees_of(lines, text.where)
    strangers = sorted(trees.keys() - {plan.preemptor for plan in plans})
    if strangers:
        found = f'holds trees of a plan for "{strangers[0]}", which is not there'
        raise InputError(text.where, found, "trees of the plans that are checked")

    def whole(plan: AnyPlan) -> AnyPlan:
        certificate, more = plan.certificate, trees.get(plan.preemptor, ())
        if certificate is None or not more:
            return plan
        update: dict[str, Any] = {"trees": (*certificate.trees, *more), "trees_omitted": 0}
        return plan.model_copy(update={"certificate": certificate.model_copy(update=update)})

    return list(map(whole, plans))


def proof_text(plans: Sequence[AnyPlan]) -> bytes:
    """Return the trees of plans as lines, for a file of their own."""
    lines = (
        line
        for plan in plans
        if plan.certificate is not None
        for line in lines_of(plan.preemptor, plan.certificate.trees)
    )
    return "".join(f"{line}\n" for line in lines).encode()


def _plan(root: str, path: tuple[str | int, ...], value: object) -> AnyPlan:
    where = place(root, path)
    if not isinstance(value, dict):
        raise SchemaError(where, f"{shown(value)} stands here", EXPECTED)
    other = next((name for name in _OTHERS if name in value), None)
    if other is not None:
        raise UnsupportedError(where, _OTHERS[other], EXPECTED)
    named = value.get("scheduler")
    scheduler = find_scheduler(named) if isinstance(named, str) else None
    if scheduler is None:
        said = f"{shown(named)} stands here" if "scheduler" in value else "is missing"
        known = " or ".join(one.id for one in schedulers())
        raise SchemaError(place(root, (*path, "scheduler")), said, known, EXPECTED)
    if scheduler.plan is None:
        raise scheduler.lacks("plan", "plan")
    try:
        plan = scheduler.plan.model_validate(value)
    except ValidationError as error:
        raise _refused(root, path, value, error) from None
    if misnamed := plan.about.misnamed:
        raise SchemaError(where, misnamed, "names as objects of a cluster have them")
    return plan


def _refused(
    root: str, path: tuple[str | int, ...], value: dict[str, Any], error: ValidationError
) -> SchemaError:
    """Return the error about the first place in which a value is no plan."""
    location = error.errors(include_url=False)[0]["loc"]
    if "steps" in location[:-1]:  # a step is one of several: pydantic complains for each of them
        upto = location[: location.index("steps") + 2]
        step: object = value
        for name in upto:
            step = cast("Mapping[str | int, object]", step)[name]  # or a list
        if isinstance(step, dict):
            said = f"a step with the fields {', '.join(map(shown, step)) or 'none'} stands here"
            where = place(root, (*path, *upto))
            expected = (
                "of and most, whole and most, split and at, narrow, row, round and by, rows, or law"
            )
            return SchemaError(where, said, expected)
    found = schema_error(Item(root, path, value), "the plan", error, error.error_count())
    return SchemaError(found.where, found.found, found.expected or EXPECTED, found.hint)
