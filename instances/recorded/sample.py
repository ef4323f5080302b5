"""Take an even sample of recorded answers: 40 lines of each file, every n-th.

    python instances/recorded/sample.py FOLDER

FOLDER holds the recordings of one scheduler, such as classical-flat.jsonl.gz. The samples are
written next to this script under the same names; the same recordings give the same lines. Of
large-units/ the short files are taken whole, and every tenth line of public.jsonl.gz; of
kueue-features/ the examples of what decides who is nominated, and 40 lines of each other file.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
LINES: Final = 40
PATTERNS: Final = ("classical-*", "cycle-*", "edge", "fair-*", "flavors", "small-*")
LARGE: Final = "large-units"
TENTH: Final = "public.jsonl.gz"
FEATURES: Final = "kueue-features"
EXAMPLES: Final = ("ac", "ca", "mk", "ok", "pr", "q", "rs", "ver02", "wf")
"""How the ids of the examples of nomination, quota for pods and requests begin."""


def main(folder: Path, target: Path = HERE) -> None:
    """Sample every file of a folder that one of the patterns names."""
    if folder.name == FEATURES:
        sample_features(folder, target / "features")
        return
    if folder.name == LARGE:
        sample_large(folder, target / LARGE)
        return
    for pattern in PATTERNS:
        for path in sorted(folder.glob(f"{pattern}.jsonl.gz")):
            write(target / path.name, sample(path))


def sample_large(folder: Path, target: Path) -> None:
    """Take what is short whole, and a tenth of the rest."""
    target.mkdir(exist_ok=True)
    for path in sorted(folder.iterdir()):
        if path.name == TENTH:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                write(target / path.name, file.readlines()[::10])
        else:
            shutil.copyfile(path, target / path.name)


def sample_features(folder: Path, target: Path) -> None:
    """Take the examples of nomination, and an even sample of other files."""
    target.mkdir(exist_ok=True)
    with gzip.open(folder / "features.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [line for line in file if json.loads(line)["id"].startswith(EXAMPLES)]
    write(target / "examples.jsonl.gz", lines)
    for name in ("queues-and-checks", "pods-quota", "elastic", "afs", "dra"):
        write(target / f"{name}.jsonl.gz", sample(folder / f"{name}.jsonl.gz"))


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
