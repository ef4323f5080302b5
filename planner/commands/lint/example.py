"""Examples as files, one a finding, to be read by every command that reads a state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from planner.commands.lint.record import Finding

_STRANGE: Final = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST: Final = 100


def files_of(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of a file for the example of each finding.

    It is named after the code and the first of the objects, and a number where that is not
    enough: KL-03-clusterqueue-team-a.json.
    """
    taken: set[str] = set()
    for one in findings:
        about = _STRANGE.sub("-", one.objects[0])[:_LONGEST].strip(".-")
        stem, number = f"{one.code}-{about}", 1
        while stem in taken:
            number += 1
            stem = f"{one.code}-{about}-{number}"
        taken.add(stem)
        yield f"{stem}.json", json.dumps(one.example.state, indent=2, ensure_ascii=True) + "\n"
