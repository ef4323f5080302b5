"""Ten thousand workloads are read in about half a second; measured with --benchmark-only."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from planner.reader import read

SCALE = "kueue/scale/classical-flat-{}-s3-{}.json.gz"


@pytest.mark.parametrize(
    ("count", "share", "bound_s"), [(1_000, "0.005", 0.2), (10_000, "0.001", 2.0)]
)
def test_reading_a_large_dump(
    benchmark: Any, conformance: Path, count: int, share: str, bound_s: float
) -> None:
    state = benchmark(read, conformance / SCALE.format(count, share))
    assert len(state.workloads) == count + 1
    assert benchmark.stats.stats.min < bound_s


def test_reading_yaml(benchmark: Any, conformance: Path, tmp_path: Path) -> None:
    with gzip.open(conformance / SCALE.format(1_000, "0.005")) as file:
        value = json.load(file)
    path = tmp_path / "dump.yaml"
    path.write_text("# JSON is YAML, if it does not start with a bracket\n" + json.dumps(value))
    state = benchmark(read, path)
    assert len(state.workloads) == 1_001
    assert benchmark.stats.stats.min < 2.0
