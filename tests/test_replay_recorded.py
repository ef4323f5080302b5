"""Every recorded answer of Kueue comes out again; in ordinary runs some of each file."""

import json
from pathlib import Path

import pytest

from planner.commands.replay import replay_line
from tests.conftest import ROOT, TEST_ALL, recorded_root
from tests.recorded import texts

CONFORMANCE = recorded_root()
OWN = ROOT / "instances" / "recorded"
KUEUE = CONFORMANCE / "kueue" if CONFORMANCE else OWN
FEATURES = CONFORMANCE / "kueue-features" if CONFORMANCE else OWN / "features"
TOPOLOGY = CONFORMANCE / "kueue-tas" if CONFORMANCE else OWN / "topology"
FEW, EVERY = 40, {KUEUE: 8, FEATURES: 4, TOPOLOGY: 12}
"""Of files with more lines one in so many is replayed in ordinary runs."""

FILES = {
    **dict.fromkeys(sorted(KUEUE.rglob("*.jsonl.gz")), KUEUE),
    **dict.fromkeys(sorted(FEATURES.glob("*.gz")), FEATURES),
    **dict.fromkeys(sorted(TOPOLOGY.rglob("*.gz")), TOPOLOGY),
}
OTHERWISE = "large-units"
"""The folder of states of another kind, without answers."""

LARGE = ("5000n", "cohort-1000n-3000w-rack", "-fair-1000n-3000w-rack", "reclaim-1000n-2996w-rack")
"""Of clusters named so a smaller one, or one that is asked otherwise, is replayed."""

KINDS = (
    *("classical-flat", "classical-hier", "classical-nocohort"),
    *("edge", "fair-flat", "fair-hier", "flavors"),
)
RECORDINGS = (
    *(f"{size}{kind}" for kind in KINDS for size in ("", "small-")),
    *("cycle-classical", "cycle-fair"),
    *(f"upstream/{kind}" for kind in ("classical", "cycle", "fair", "flavor", "hierarchical")),
)
"""What README.md calls the whole recording."""


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in FILES
        if OTHERWISE not in path.parts
        and (TEST_ALL or not any(part in path.name for part in LARGE))
    ],
    ids=lambda path: path.relative_to(FILES[path]).as_posix(),
)
def test_every_recorded_answer_is_reproduced(path: Path) -> None:
    """Flavors, victims and placements, also where Kueue crashes or is not asked."""
    known = texts(path)
    some = 1 if TEST_ALL or CONFORMANCE is None or len(known) <= FEW else EVERY[FILES[path]]
    found = [replay_line(json.loads(text)) for text in known[::some]]
    assert found
    assert [(one.id, one.detail) for one in found if one.outcome != "equal"] == []


@pytest.mark.usefixtures("conformance")
def test_the_readme_counts_the_whole_recording() -> None:
    """All lines of all files, of single decisions and of whole cycles."""
    count = sum(len(texts(KUEUE / f"{name}.jsonl.gz")) for name in RECORDINGS)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{count:,} recorded decisions of Kueue" in " ".join(text.split())
