"""Take an even sample of recorded answers: 40 lines of each file, every n-th.

    python instances/recorded/sample.py FOLDER

FOLDER holds the recordings of one scheduler, such as classical-flat.jsonl.gz. The samples are
written next to this script under the same names; the same recordings give the same lines. Of
large-units/ the short files are taken whole, and every tenth line of public.jsonl.gz; of
kueue-features/ the examples of what decides who is nominated, and 40 lines of each other file; of
kueue-releases/ ten lines of all files of a release together; of kueue-tas/ 30 lines of each file
that was made up for this project; of yunikorn-features/ ten lines of each file, and of all files of
a release together.
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
RELEASES: Final = "kueue-releases"
OF_RELEASE: Final = 10
TOPOLOGY: Final = "kueue-tas"
PLACED: Final = 30
YUNIKORN: Final = "yunikorn-features"
OF_INT64: Final = "v0.17.8"
WRAPPED: Final = {
    "edge-0000045",
    "edge-0000502",
    "edge-0000578",
    "edge-0001597",
    "small-edge-0000036",
    "small-edge-0001597",
    "wide-9000310",
    "wide-edge-9000167",
    "wide-edge-9000177",
    "wide-edge-9000511",
}
"""Decided with amounts that wrap around in this release: newer ones decide otherwise."""


def main(folder: Path, target: Path = HERE) -> None:
    """Sample every file of a folder that one of the patterns names."""
    if folder.name == FEATURES:
        sample_features(folder, target / "features")
        return
    if folder.name == LARGE:
        sample_large(folder, target / LARGE)
        return
    if folder.name == RELEASES:
        sample_releases(folder, target / RELEASES)
        return
    if folder.name == TOPOLOGY:
        sample_topology(folder, target / "topology")
        return
    if folder.name == YUNIKORN:
        sample_yunikorn(folder, target / YUNIKORN)
        return
    for pattern in PATTERNS:
        for path in sorted(folder.glob(f"{pattern}.jsonl.gz")):
            write(target / path.name, sample(path))


def sample_large(folder: Path, target: Path) -> None:
    """Take what is short whole, and a tenth of the rest."""
    target.mkdir(exist_ok=True)
    for path in sorted(folder.iterdir()):
        if path.name == TENTH:
            write(target / path.name, read(path)[::10])
        else:
            shutil.copyfile(path, target / path.name)


def sample_features(folder: Path, target: Path) -> None:
    """Take the examples of nomination, and an even sample of other files."""
    target.mkdir(exist_ok=True)
    lines = read(folder / "features.jsonl.gz")
    write(
        target / "examples.jsonl.gz",
        [line for line in lines if json.loads(line)["id"].startswith(EXAMPLES)],
    )
    for name in ("queues-and-checks", "pods-quota", "elastic", "afs", "dra"):
        write(target / f"{name}.jsonl.gz", evenly(read(folder / f"{name}.jsonl.gz"), LINES))


def sample_releases(folder: Path, target: Path) -> None:
    """Take lines at even distances from all files of each release, in the order of their names."""
    target.mkdir(exist_ok=True)
    for release in sorted(folder.iterdir()):
        lines = [line for path in sorted(release.glob("*.gz")) for line in read(path)]
        write(target / f"{release.name}.jsonl.gz", evenly(lines, OF_RELEASE))
        if release.name == OF_INT64:
            wrapped = [line for line in lines if json.loads(line)["id"] in WRAPPED]
            write(target / "wrapped.jsonl.gz", wrapped)


def sample_topology(folder: Path, target: Path) -> None:
    """Take an even sample of each file; scenarios of upstream, and large states, stay there."""
    target.mkdir(exist_ok=True)
    for path in sorted([*folder.glob("tas-*.gz"), *(folder / "quirks").glob("tas-*.gz")]):
        lines = read(path)
        write(target / path.name, evenly(lines, min(PLACED, len(lines))))


def sample_yunikorn(folder: Path, target: Path) -> None:
    """Take ten lines of each file, and of each release; what crashes the core is taken whole."""
    target.mkdir(exist_ok=True)
    for path in sorted([*folder.glob("*.gz"), *(folder / "quirks").glob("*.gz")]):
        lines = read(path)
        write(target / path.name, evenly(lines, min(OF_RELEASE, len(lines))))
    sample_releases(folder / "releases", target)


def sample(path: Path) -> list[str]:
    """Return the lines of a file at even distances, the first one included."""
    return evenly(read(path), LINES)


def read(path: Path) -> list[str]:
    """Return the lines of a packed file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.readlines()


def evenly(lines: list[str], count: int) -> list[str]:
    """Return some lines at even distances, the first one included."""
    return [lines[position * len(lines) // count] for position in range(count)]


def write(path: Path, lines: list[str]) -> None:
    """Write lines so that the same lines give the same file, whenever and wherever."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file,
    ):
        file.write("".join(lines).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
