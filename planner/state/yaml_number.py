"""Numbers as plain scalars of YAML write them, and as Kubernetes and YuniKorn read them."""

from __future__ import annotations

import re
from typing import Final

_INTEGER: Final = re.compile(
    r"(?P<sign>[+-]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)"
    r"|(?P<decimal>0|[1-9][0-9]*))"
)
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASES: Final = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
BEGINS: Final = "+-.0123456789"
"""What a number may begin with."""
LONGEST: Final = 1000
"""A longer text is no number: Python refuses to read decimal ones of some thousand digits."""


def yaml_number(text: str) -> int | float | None:
    """Return the number that a text writes, perhaps an infinite one; ``None`` if it writes none.

    Between digits ``_`` counts nothing, and a whole number that starts with 0 is octal.
    """
    if not text or text[0] not in BEGINS or len(text) >= LONGEST:
        return None
    plain = text if text[0] == "." else text.replace("_", "")
    match = _INTEGER.fullmatch(plain)
    if match:
        base = str(match.lastgroup)
        return int(match["sign"] + match[base], _BASES[base])
    return float(plain) if _FLOAT.fullmatch(plain) else None
