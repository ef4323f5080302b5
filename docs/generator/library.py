"""The public names of the package, for mkdocstrings to describe."""

from __future__ import annotations

from inspect import isclass, isfunction

import planner

HEAD = """# Library

```python
import planner
```

Importing it costs next to nothing: what a name needs is loaded when it is first used. Everything
that is returned is frozen and typed, and has `model_dump_json()`. Bad input raises
[`PlannerError`](#planner.errors.PlannerError); an infeasible question is an answer, not an
exception.
"""


def page() -> str:
    """Return a page that asks mkdocstrings for every public name."""
    known = [getattr(planner, name) for name in planner.__all__ if name != "__version__"]
    functions = [thing for thing in known if isfunction(thing)]
    classes = [thing for thing in known if isclass(thing)]  # a union is told of by its parts
    parts = [HEAD, "## Functions", *map(_entry, functions), "## Classes", *map(_entry, classes)]
    return "\n\n".join(parts) + "\n"


def _entry(thing: object) -> str:
    return f"::: {thing.__module__}.{thing.__qualname__}"  # type: ignore[attr-defined]
