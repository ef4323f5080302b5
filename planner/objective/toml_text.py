"""TOML text to plain values, within bounds on depth and on numbers."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

_STRING_OR_COMMENT: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"'
    r"|'''.*?'''|'[^'\n]*'|#[^\n]*",
    re.DOTALL,
)
_DEEP: Final = re.compile(r"(?<![\w-])[\w-]+(?:[ \t]*\.[ \t]*[\w-]+){20}")
_LONG: Final = re.compile(r"(?<![\w-])[+-]?[0-9][\w.+-]{100}")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text.

    What Python itself makes of it takes memory by the square of the length of a dotted key, and of
    long numbers it makes what cannot be printed: both are refused before.

    Raises
    ------
    ValueError
        If it is no TOML, or more than a table of settings needs.
    """
    bare = _STRING_OR_COMMENT.sub("k", text)
    if _DEEP.search(bare):
        message = "a key has more than 20 parts"
        raise ValueError(message)
    if _LONG.search(bare):
        message = "a number has more than 100 digits"
        raise ValueError(message)
    try:
        return tomllib.loads(text)
    except RecursionError:
        message = "lists and tables are nested too deeply"
        raise ValueError(message) from None
