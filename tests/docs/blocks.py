"""What pages show of something recorded: a block that a test writes, and the lines of a picture."""

import os
import re
from pathlib import Path


def check_block(page: Path, name: str, test: str, wanted: str) -> None:
    """Compare a block of a page with what it is to say; PLANNER_UPDATE_PAGES=1 writes it anew.

    Parameters
    ----------
    name, test
        The name of the block, and the file that writes it, as its first line has both.
    wanted
        What stands between the first line and the last.
    """
    start = f"<!-- {name}: written by {test} -->\n"
    block = re.compile(rf"(?<={re.escape(start)}).*?(?=<!-- /{name} -->)", re.DOTALL)
    text = page.read_text("utf-8")
    if os.environ.get("PLANNER_UPDATE_PAGES"):
        page.write_text(block.sub(lambda _: wanted, text), "utf-8")
        text = page.read_text("utf-8")
    assert block.findall(text) == [wanted]


def lines_of(svg: str) -> list[str]:
    """Return the lines of a plot; another release of the library may draw letters elsewhere."""
    return re.findall(r'<path d="([^"]*)" clip-path', svg)
