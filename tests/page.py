"""Pages that people read: their fenced blocks, and what a shell prints for their commands."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from click.testing import CliRunner

from planner.cli.main import main
from tests.cli.running import UNHURRIED

UPDATE: Final = bool(os.environ.get("PLANNER_UPDATE_PAGES"))
"""Whether what the commands print is written into the pages, to be looked at and committed."""

COLUMNS: Final = "108"
"""How wide the tables on the pages are."""

# A fenced block, at the margin or inside a list: what stands before each line, language and title.
FENCE = re.compile(r'^( *)```(\w+)(?: title="([^"\n]+)")?\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)

# What differs from run to run, and from one patch release of the solver to the next.
VOLATILE = ((r"\b\d+\.\d\d s$", "0.00 s"), (r"CP-SAT 9\.15\.\d+", "CP-SAT 9.15"))


class Block(NamedTuple):
    """A fenced block; ``content`` is without the indentation of a list around it."""

    page: Path
    text: str
    indent: str
    language: str
    title: str
    content: str

    def __str__(self) -> str:
        """Name it by its page and its first line."""
        return f"{self.page.stem}: {self.content.partition(chr(10))[0]}"

    @property
    def command(self) -> str:
        """The command of a console block."""
        return self.content.partition("\n")[0].removeprefix("$ ")

    @property
    def shown(self) -> str:
        """What a console block shows as printed by its command."""
        return self.content.partition("\n")[2]

    def renew(self, printed: str) -> None:
        """Write what the command prints into the page."""
        lines = (f"{self.indent}{line}".rstrip() for line in printed.splitlines())
        renewed = "".join(f"{line}\n" for line in (f"{self.indent}$ {self.command}", *lines))
        new = f"{self.indent}```console\n{renewed}{self.indent}```"
        page = self.page.read_text(encoding="utf-8")
        self.page.write_text(page.replace(self.text, new), encoding="utf-8")


def blocks(page: Path, *languages: str) -> list[Block]:
    """Find the fenced blocks of a page, of any language unless some are named."""
    found = []
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        indent, language, title, text = match.groups()
        if not languages or language in languages:
            content = re.sub(f"^{indent}", "", text, flags=re.MULTILINE)
            found.append(Block(page, match[0], indent, language, title or "", content))
    return found


def run(commands: str, folder: Path) -> str:
    """Return what bash prints for commands in a folder; they must not fail."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # the commands are those of our own pages
        ["bash", "-c", f"set -e -o pipefail; {commands}"],  # noqa: S607
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": COLUMNS, **UNHURRIED},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{commands}\n{done.stderr}"
    return done.stdout


def printed_by(line: str, folder: Path, scratch: Path) -> str:
    """Return what a line prints; a plan it begins with is made here, as starting takes longer.

    Here is in the folder, with the variables that ``run`` sets. Whatever the shell would have to
    expand, or run in the background, is left to it. ``scratch`` is a folder for what is printed.
    """
    command, operator, rest = re.match(r"(.*?)(?:( \|\|? | > )(.*))?$", line).groups("")  # type: ignore[union-attr]
    if not command.startswith("planner ") or set("$*?") & set(command):
        return run(line, folder)
    result = CliRunner().invoke(main, shlex.split(command)[1:])
    output, errors = scratch / "output", scratch / "errors"
    output.write_text(result.stdout, encoding="utf-8")
    errors.write_text(result.stderr, encoding="utf-8")
    again = f"(cat {output}; cat {errors} >&2; exit {result.exit_code})"
    return run(f"{again}{operator}{rest}", folder)


def check_printed(block: Block, printed: str) -> None:
    """Compare what a console block shows with what its command prints, or renew it."""
    same = steady(printed) == steady(block.shown)
    if UPDATE and not same:
        block.renew(printed)
    else:
        assert steady(printed) == steady(block.shown)


def steady(text: str) -> str:
    """Return the text with everything equal that may differ from run to run."""
    for pattern, same in VOLATILE:
        text = re.sub(pattern, same, text, flags=re.MULTILINE)
    return text


def statements(page: Path) -> str:
    """Return the Python session of a page as a program, in which each answer is printed."""
    parser = doctest.DocTestParser()
    sessions = [parser.get_examples(block.content) for block in blocks(page, "pycon")]
    lines = []
    for one in chain.from_iterable(sessions):
        is_value = one.want and not one.source.startswith(("try", "print("))
        lines.append(f"print({one.source.strip()})" if is_value else one.source.strip("\n"))
    return "\n".join(lines)
