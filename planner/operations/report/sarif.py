"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a change.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from planner.operations.lint.lint import KINDS, Finding, Ignored, Kind, Lint, identities

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT: Final = "finding/v1"

Object = dict[str, Any]
Places = Mapping[str, tuple[str, int]]


def sarif(answer: Lint, places: Places, state: str, version: str) -> str:
    """Return findings as SARIF in ASCII, those that are ignored as suppressed.

    ``places`` are the files and lines of objects. Of what has none, such as a queue of YuniKorn,
    the file is ``state``, which is empty where there is no file. A fingerprint is made of the code
    and the objects alone, so that a finding is known again when amounts, words or lines change.
    """
    # Of findings alike those that a baseline has are the first: so each keeps its fingerprint.
    every = (*answer.ignored, *answer.findings)
    codes = sorted({one.code for one in every})
    results = [
        {
            "ruleId": one.code,
            "ruleIndex": codes.index(one.code),
            "level": one.severity,
            "message": {"text": f"{one.reason} What helps: {one.hint}."},
            "partialFingerprints": {FINGERPRINT: sha256("\0".join(key).encode()).hexdigest()},
            **_at(one, places, state),
            **_suppressed(one),
        }
        for one, key in zip(every, identities(every), strict=True)
    ]
    left_out = [f"{one.title}: {one.evidence}" for one in answer.coverage]
    notes = [{"level": "note", "message": {"text": note}} for note in (*left_out, *answer.notes)]
    driver = {"name": "planner lint", "version": version, "rules": [*map(_rule, codes)]}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> Object:
    kind: Kind = KINDS[code]
    return {
        "id": code,
        "shortDescription": {"text": kind.title},
        "fullDescription": {"text": kind.why},
        "help": {
            "text": f"{kind.why} What helps: {kind.cure}",
            "markdown": f"{kind.why}\n\n```yaml\n{kind.example}\n```\n\n"
            f"**What helps:** {kind.cure}",
        },
        "defaultConfiguration": {"level": kind.severity},
        "properties": {"tags": [kind.family]},
    }


def _at(one: Finding, places: Places, state: str) -> Object:
    """Return the location of the first object, and those of the others as related ones."""
    first, *others = (_location(name, places, state) for name in one.objects)
    return {"locations": [first], **({"relatedLocations": others} if others else {})}


def _location(name: str, places: Places, state: str) -> Object:
    location: Object = {"logicalLocations": [{"fullyQualifiedName": name, "kind": "resource"}]}
    file, *line = places.get(name, (state,))
    if file:
        path = PurePath(file)
        uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
        physical: Object = {"artifactLocation": {"uri": uri}}
        if line:
            physical["region"] = {"startLine": line[0]}
        location["physicalLocation"] = physical
    return location


def _suppressed(one: Finding) -> Object:
    if not isinstance(one, Ignored):
        return {}
    kind = "inSource" if one.by == "annotation" else "external"
    return {"suppressions": [{"kind": kind, "justification": f"ignored by {one.by}"}]}
