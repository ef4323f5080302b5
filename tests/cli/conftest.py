"""What the files of tests of the command line share."""

from pathlib import Path

import pytest

from tests.cli.running import cluster, write
from tests.cluster import dump_of, pending, queue, running


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Write a cluster in which Kueue evicts four, where one with a fresh checkpoint will do."""
    return write(tmp_path, cluster())


@pytest.fixture
def trade(tmp_path: Path) -> Path:
    """One workload of 4 gpus that ran 3000 s, or two of 2 that ran 1200 s; Kueue takes the two."""
    halves = [item for i in (1, 2) for item in running(f"half-{i}", "a", 2, minute=40)]
    big = running("big", "a", 4, minute=10)
    parts = (queue("a", 8, within="LowerPriority"), big, halves, pending("a", 4))
    return write(tmp_path, dump_of(*parts))
