"""Every recorded answer comes out again."""

import gzip
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from planner.commands import replay as room
from planner.commands.replay import replay
from tests.conftest import ROOT, TEST_ALL, recorded_root

CONFORMANCE = recorded_root()
KUEUE = CONFORMANCE / "kueue" if CONFORMANCE else ROOT / "instances" / "recorded"
FEATURES = (
    CONFORMANCE / "kueue-features" if CONFORMANCE else ROOT / "instances" / "recorded" / "features"
)
TOPOLOGY = CONFORMANCE / "kueue-tas" if CONFORMANCE else ROOT / "instances/recorded/topology"
RECORDED = sorted(
    path.relative_to(KUEUE).as_posix()
    for path in KUEUE.rglob("*.jsonl.gz")
    if path.parent.name != "large-units"  # states of another kind, without answers
)
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


TWINS = (
    "tas-scale-cohort-5000n-10000w-rack.jsonl.gz",
    "tas-scale-reclaim-5000n-10000w-preferred.jsonl.gz",
)
"""Of these largest clusters the same one, asked the other way, is replayed in ordinary runs."""

EVERY = 3
"""One placement in so many is replayed in ordinary runs."""


@cache
def replayed(name: str) -> room.FileComparison:
    """Replay a recorded file, once."""
    return replay(str(KUEUE / name))


@pytest.mark.parametrize("path", sorted(FEATURES.glob("*.gz")), ids=lambda path: path.name)
def test_recorded_features_are_reproduced(path: Path) -> None:
    found = replay(str(path))
    assert [(one.id, one.detail) for one in (*found.different, *found.uncovered)] == []
    assert found.equal == found.instances > 0


@pytest.mark.parametrize(
    "path",
    sorted(path for path in TOPOLOGY.rglob("*.gz") if TEST_ALL or path.name not in TWINS),
    ids=lambda path: path.relative_to(TOPOLOGY).as_posix(),
)
def test_recorded_placements_are_reproduced(path: Path, tmp_path: Path) -> None:
    """Flavors, victims and the placement itself, also where Kueue crashes or is not asked."""
    if CONFORMANCE and not TEST_ALL:
        with gzip.open(path) as whole, gzip.open(tmp_path / path.name, "wb", 1) as some:
            some.writelines(islice(whole, 0, None, EVERY))
        path = tmp_path / path.name
    found = replay(str(path))
    assert [(one.id, one.detail) for one in (*found.different, *found.uncovered)] == []
    assert found.equal == found.instances > 0


@pytest.mark.skipif(not RECORDED, reason="no recorded answers")
@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_answer_is_reproduced(name: str) -> None:
    found = replayed(name)
    assert [(one.id, one.detail) for one in found.different] == []
    assert found.equal == found.instances > 0


@pytest.mark.usefixtures("conformance")
def test_the_readme_counts_the_whole_recording() -> None:
    """All files, of single decisions and of whole cycles."""
    compared = [replayed(f"{name}.jsonl.gz") for name in RECORDINGS]
    assert not any(file.different or file.skipped for file in compared)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    count = sum(file.equal for file in compared)
    assert f"{count:,} recorded decisions of Kueue" in " ".join(text.split())
