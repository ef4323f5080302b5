"""The recorded legality lists: which victim sets the real core's own primitives accept."""

from tests.yunikorn.recorded import NAMES, Line

SMALL = [name for name in NAMES if name.rpartition("/")[2].startswith("small-")]
"""The files whose lines have such lists."""

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


def last_tier_of(line: Line) -> frozenset[str]:
    """Return the candidates that have opted out or are originators."""
    legality = line["expect"]["legality"]
    return _named(legality["optOut"] | legality["originator"], candidates_of(line))


def opted_out_of(line: Line) -> frozenset[str]:
    """Return the candidates that have opted out."""
    return _named(line["expect"]["legality"]["optOut"], candidates_of(line))


def _named(mask: int, keys: list[str]) -> frozenset[str]:
    return frozenset(key for bit, key in enumerate(keys) if mask >> bit & 1)
