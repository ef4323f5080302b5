"""The public names of the package, and the types in their signatures, for mkdocstrings to describe.

Fields of records are shown with their types; what they mean stands in the text of their class.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import isclass, isfunction
from typing import Any, Final, get_args

import planner
from planner.commands.audit.record import Audit
from planner.commands.check.plan import Check
from planner.commands.explain.kueue.record import Explanation
from planner.commands.explain.record import CommonExplanation
from planner.commands.explain.yunikorn.record import YuniKornExplanation
from planner.commands.whatif.edit import WhatIf
from planner.operations.lint import lint
from planner.operations.lint.lint import Lint
from planner.operations.risk import risk
from planner.operations.risk.measure import Risk
from planner.plan.base import Record
from planner.plan.yunikorn import YuniKornPlan
from planner.research.generate import generate
from planner.research.simulate import simulate
from planner.research.simulate.record import Simulation
from planner.research.simulate.script import Script

HEAD = """# Library

```python
import planner
```

Importing it costs next to nothing: what a name needs is loaded when it is first used. Everything
that is returned is frozen and typed, and has `model_dump_json()`. Bad input raises
[`PlannerError`](#planner.errors.PlannerError); an infeasible question is an answer, not an
exception. [Use it from Python](../how-to/python.md) shows it at work.
"""
TYPES: Final = (
    "planner.plan.Status",
    "planner.errors.UnsupportedError",
    "planner.errors.InternalError",
    "planner.objective.profiles.Profile",
    "planner.objective.profiles.DEFAULT_PROFILE",
    "planner.objective.profiles.Measure",
    "planner.objective.wishes.Wishes",
    "planner.objective.wishes.NO_WISHES",
    "planner.reader.Readable",
    "planner.reader.source.Loadable",
    "planner.reader.source.MAX_BYTES",
    "planner.reader.Ignored",
    "planner.state.AUTO",
    "planner.state.RequestsFrom",
    "planner.solver.start.AssignmentInput",
    "planner.scheduler.Flavors",
    "planner.scheduler.OWN",
    "planner.scheduler.Placement",
    "planner.plan.Assume",
    "planner.report.render.Answer",
    "planner.report.render.Style",
    "planner.report.render.WIDTH",
    "planner.quota.kueue.assignment.Assignment",
    "planner.commands.explain.DEFAULT_LIMIT",
    "planner.operations.risk.measure.Shapes",
    "planner.operations.risk.measure.Progress",
    "planner.operations.risk.measure.Question",
    "planner.operations.risk.measure.ALL",
    "planner.research.simulate.simulate.CYCLES",
    "planner.research.simulate.simulate.STORM",
    "planner.research.simulate.simulate.EVICTION_S",
    "planner.research.simulate.script.NOTHING_SAID",
    "planner.research.simulate.simulate.Report",
    "planner.research.simulate.simulate.Question",
    "planner.research.simulate.simulate.AS_IT_IS",
)
"""What signatures take and return besides the public names and the records."""
OF_WINGS: Final = (lint, risk, generate, simulate)
"""The functions of the wings."""
ANSWERS: Final[tuple[type[Record], ...]] = (
    YuniKornPlan,
    Audit,
    Check,
    CommonExplanation,
    Explanation,
    Lint,
    Risk,
    Script,
    Simulation,
    WhatIf,
    YuniKornExplanation,
)
"""The records that functions take and return, public names left out."""
RECORDS: Final = """# Records

What the functions of the [library](library.md) return, besides the public names, and what their
fields are made of, by name. In JSON they follow the [schemas](schemas.md).
"""


def page() -> str:
    """Return a page that asks mkdocstrings for every public name."""
    known = {name: getattr(planner, name) for name in planner.__all__ if name != "__version__"}
    functions = [*(thing for thing in known.values() if isfunction(thing)), *OF_WINGS]
    classes = [thing for thing in known.values() if isclass(thing)]
    parts = [HEAD, "## Functions", *map(_entry, functions), "## Classes", *map(_entry, classes)]
    return "\n\n".join([*parts, "## Types", *(f"::: {path}" for path in TYPES)]) + "\n"


def records() -> str:
    """Return the page of all records that answers are made of."""
    public = {getattr(planner, name) for name in planner.__all__ if name != "__version__"}
    roots = [*ANSWERS, *(one for one in public if isclass(one) and issubclass(one, Record))]
    found: set[type[Record]] = set()
    for root in roots:
        found.update(_within(root, found))
    by_name = sorted(found - public, key=lambda one: one.__name__)
    return "\n\n".join([RECORDS, *map(_entry, by_name)]) + "\n"


def _within(record: type[Record], known: set[type[Record]]) -> Iterator[type[Record]]:
    """Yield a record and those that its fields hold, at any depth."""
    ahead: list[Any] = [record]
    seen = set(known)
    while ahead:
        kind = ahead.pop()
        ahead.extend(get_args(kind))
        if isclass(kind) and issubclass(kind, Record) and kind not in seen:
            seen.add(kind)
            ahead.extend(field.annotation for field in kind.model_fields.values())
            yield kind


def _entry(thing: object) -> str:
    return f"::: {thing.__module__}.{thing.__qualname__}"  # type: ignore[attr-defined]
