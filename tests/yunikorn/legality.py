"""The recorded legality lists: which victim sets the real core's own primitives accept."""

import json
from collections.abc import Iterator

from tests.conftest import TEST_ALL
from tests.yunikorn.recorded import FEATURES, FULL, NAMES, Line, named, texts

SMALL = [name for name in NAMES if name.rpartition("/")[2].startswith("small-")]
"""The files whose lines have such lists."""

SMALL_QUOTA = [name for name in named(FEATURES) if name.endswith("small-quota")]
"""The files of queues above their maximum, with such lists."""

FIELDS = {"yunikorn-design": "legal", "yunikorn-code": "code"}
"""The list of each rule set."""


def candidates_of(line: Line) -> list[str]:
    """Return the keys of the candidates, in the order of the masks' bits."""
    keys: list[str] = line["expect"]["legality"]["candidates"] or []
    return keys


def sets_of(line: Line, rules: str) -> dict[str, set[frozenset[str]]]:
    """Return the legal sets of allocation keys for each usable node, by a rule set."""
    keys = candidates_of(line)
    field = FIELDS[rules]
    return {
        node["node"]: {_named(mask, keys) for mask in node[field] or ()}
        for node in line["expect"]["legality"]["perNode"] or ()
    }


def lowered_lines(name: str, sample: int) -> Iterator[tuple[Line, str, set[frozenset[str]]]]:
    """Yield every so-manieth line of a file with its queue, and the legal sets of victims."""
    every = texts(FEATURES / f"{name}.jsonl.gz")
    for line in map(json.loads, every[:: 1 if TEST_ALL or FULL is None else sample]):
        legal = line["expect"]["legality"]["legal"] or ()
        keys = candidates_of(line)
        yield line, line["x"]["quotaQueue"], {_named(mask, keys) for mask in legal}


def last_tier_of(line: Line) -> frozenset[str]:
    """Return the candidates that have opted out or are originators."""
    legality = line["expect"]["legality"]
    return _named(legality["optOut"] | legality["originator"], candidates_of(line))


def opted_out_of(line: Line) -> frozenset[str]:
    """Return the candidates that have opted out."""
    return _named(line["expect"]["legality"]["optOut"], candidates_of(line))


def _named(mask: int, keys: list[str]) -> frozenset[str]:
    return frozenset(key for bit, key in enumerate(keys) if mask >> bit & 1)
