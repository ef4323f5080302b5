"""Parameters that a docstring describes together, one by one: each has a type of its own.

Griffe, which reads the docstrings for the site, would give all of them the type of the first.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

GROUP = re.compile(r"^(?P<names>\w+(?:, \w+)+)\n(?P<text>(?:    .*\n?|\n(?=    ))+)", re.MULTILINE)


class Grouped(Extension):
    """Repeats the description for each parameter of a group."""

    def on_object(self, *, obj: Object, **_: Any) -> None:  # noqa: ANN401 - griffe's own
        """Rewrite the docstring of what was read."""
        if obj.docstring is not None:
            obj.docstring.value = GROUP.sub(_one_by_one, obj.docstring.value)


def _one_by_one(group: re.Match[str]) -> str:
    text = group["text"].rstrip("\n") + "\n"
    return "".join(f"{name}\n{text}" for name in group["names"].split(", "))
