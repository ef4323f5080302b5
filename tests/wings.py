"""What tests of the core ask of the wings: whether they are there, and what more there is then."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from planner.cli.main import COMMANDS
from planner.wing import names_of_rules, wings
from tests.conftest import WINGS
from tests.page import blocks

ASKED: Final = re.compile(r"\bplanner ([a-z]\w*)|--rules (\w+)|(--cluster\b)")
"""A command, rules beside the scheduler's own, or other machines to work on."""


def has(wing: str) -> bool:
    """Tell whether a wing is there."""
    return find_spec(f"planner.{wing}") is not None


def away(text: str) -> bool:
    """Tell whether a text names the folder of a wing that is not there."""
    return any(f"{wing}/" in text for wing in WINGS if not has(wing))


def asks_in_vain(page: Path) -> bool:
    """Tell whether a page asks for what only a wing has that is not there."""
    there = {*COMMANDS, *names_of_rules(), *("--cluster" for one in wings() if one.workers)}
    texts = [one.command for one in blocks(page, "console")]
    texts += [one.content for one in blocks(page, "sh")]
    asked = {word for text in texts for words in ASKED.findall(text) for word in words if word}
    return not asked <= there
