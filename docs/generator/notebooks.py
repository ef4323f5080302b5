"""The notebooks as pages, with the outputs that are stored in them: nothing is run."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[2] / "notebooks"
LONG: Final = 12
"""Lines of code from which on a cell is folded."""
STYLE: Final = re.compile(r"<style.*?</style>", re.DOTALL)


def files() -> dict[str, str | bytes]:
    """Return the pages, and the pictures on them, by path in the site."""
    made: dict[str, str | bytes] = {}
    for path in sorted(FOLDER.glob("*.ipynb")):
        cells = json.loads(path.read_bytes())["cells"]
        made[f"notebooks/{path.stem}.md"] = "\n\n".join(_page(path, cells)) + "\n"
        made |= {f"notebooks/{name}": data for name, data in _pictures(path.stem, cells)}
    return made


def _page(path: Path, cells: list[Mapping[str, Any]]) -> Iterator[str]:
    title = ""
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            headings = [line.strip("# ") for line in source.splitlines() if line.startswith("#")]
            title = headings[-1] if headings else title
            yield source
            if number == 0:
                yield f"*Made from `notebooks/{path.name}`, as it was run; run it to change it.*"
        else:
            yield _code(source)
            for place, output in enumerate(cell["outputs"]):
                yield _output(output.get("data", {}), _name(path.stem, number, place), title)


def _code(source: str) -> str:
    fenced = f"```python\n{source}\n```"
    if source.count("\n") < LONG:
        return fenced
    return '??? example "Code"\n\n' + "\n".join(
        f"    {line}".rstrip() for line in fenced.split("\n")
    )


def _output(data: Mapping[str, Any], picture: str, title: str) -> str:
    """Return the richest form that there is of an output."""
    if "image/png" in data:
        return f"![{title}]({picture})"
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    if "text/html" in data:
        table = STYLE.sub("", "".join(data["text/html"])).replace(
            ' border="1" class="dataframe"', ""
        )
        return "".join(line.strip() for line in table.splitlines())
    return "```text\n" + "".join(data["text/plain"]) + "\n```"


def _pictures(stem: str, cells: list[Mapping[str, Any]]) -> Iterator[tuple[str, bytes]]:
    for number, cell in enumerate(cells):
        for place, output in enumerate(cell.get("outputs", ())):
            if "image/png" in output.get("data", {}):
                encoded = "".join(output["data"]["image/png"])
                yield _name(stem, number, place), base64.b64decode(encoded)


def _name(stem: str, cell: int, output: int) -> str:
    return f"{stem}-{cell}-{output}.png"
