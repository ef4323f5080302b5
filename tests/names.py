"""Terms by their names where a record has their ids, as documents had them before 0.1.0."""

import re
from typing import Final

from planner.term import TERMS, name_of

_IDS: Final = re.compile(r"\b(?:{})\b".format("|".join(one.id for one in TERMS.values())))
_TERM: Final = re.compile(
    r'"(?:term|claim|row)": *"[^"]*"|"(?:terms|costs|levels|rows|narrow)": *\{[^{}]*\}'
)


def in_names(text: str) -> str:
    """Return a document in JSON with the names of terms in the place of their ids."""
    return _TERM.sub(lambda found: _IDS.sub(lambda one: name_of(one[0]), found[0]), text)
