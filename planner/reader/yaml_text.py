"""YAML text to plain values."""

from __future__ import annotations

import yaml

from planner.errors import ParseError


def parse_yaml(data: bytes, where: str) -> list[object]:
    """Parse every document of a YAML text."""
    try:
        return [v for v in yaml.load_all(data, Loader=yaml.CSafeLoader) if v is not None]
    except yaml.YAMLError as error:
        raise ParseError(where, f"is not YAML: {error}") from None
