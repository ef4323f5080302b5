"""What a field of an answer is called, and how it is shown: lines and pages follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

Tone = Literal["", "good", "warn", "bad", "dim", "strong"]
Larger = Literal["title", "badge", "verdict", "answer", "totals", "count", "counted", "numbered"]
Role = Literal["", "key", "code", "name", "text", "caution", "steps", "command", "list"]
"""key: the name of a record, first in its plain line, and in those of its parts; of several values
it is the path. code: another word before its facts; of a record without a key the first one stands
for it. name: a name of the state, or several. text: words for people. answer: a sentence that
stands alone. caution: one to be heeded. steps: sentences in their order. command: what a shell
takes. list: several codes, amounts or named numbers as facts of one line. count: several things of
which the number is told. counted: likewise, and each has lines of its own. numbered: records that
have a number, from 1. title, badge, verdict: what a page shows larger. totals: a record whose lines
come last."""


class Label(Struct, frozen=True):
    """A field as its readers see it; a field without a label is in JSON alone.

    ``title`` is what documents call it: in the head of an answer, as the title of a section or the
    head of a column. Without one it is in plain lines alone. ``plain`` is its name there where that
    is not the field's, or of one of several where that has more than an s less.

    ``said`` has words for its values, each with its tone, ``tones`` the tones alone, and ``absent``
    what plain lines say where there is none. ``unit`` is ``s`` for a duration, ``seconds`` for one
    that is measured, ``boost`` for what is added, ``rank`` for a number that is no amount,
    ``times`` for a count that is mostly 0: a column of nothing else is left out. Of a key it is the
    noun by which rows are counted.
    Columns with a ``rank`` are left out where there is no room, those of the highest first; one
    that has ``below`` stands under the column of that field then.
    """

    title: str = ""
    role: Role | Larger = ""
    plain: str = ""
    said: Mapping[Any, tuple[str, Tone]] = {}
    tones: Mapping[Any, Tone] = {}
    absent: str = ""
    unit: str = ""
    rank: int = 0
    below: str = ""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Give the field its title in the published schema."""
        known = handler(core)
        return {**known, "title": self.title} if self.title else known
