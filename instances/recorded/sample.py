"""Take an even sample of recorded answers: 40 lines of each file, every n-th.

    python instances/recorded/sample.py FOLDER

FOLDER holds the recordings of one scheduler, such as classical-flat.jsonl.gz. The samples are
written next to this script under the same names; the same recordings give the same lines.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
LINES: Final = 40
PATTERNS: Final = ("classical-*", "cycle-*", "edge", "fair-*", "flavors", "small-*")


def main(folder: Path, target: Path = HERE) -> None:
    """Sample every file of a folder that one of the patterns names."""
    for pattern in PATTERNS:
        for path in sorted(folder.glob(f"{pattern}.jsonl.gz")):
            write(target / path.name, sample(path))


def sample(path: Path) -> list[str]:
    """Return the lines of a file at even distances, the first one included."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = file.readlines()
    return [lines[position * len(lines) // LINES] for position in range(LINES)]


def write(path: Path, lines: list[str]) -> None:
    """Write lines so that the same lines give the same file, whenever and wherever."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file,
    ):
        file.write("".join(lines).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
