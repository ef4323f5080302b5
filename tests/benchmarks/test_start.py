"""Start-up: how long it takes until ``planner --help`` has spoken, an interpreter included."""

import subprocess

from pytest_benchmark.fixture import BenchmarkFixture

from tests.cli.running import command, environment


def test_help(benchmark: BenchmarkFixture) -> None:
    words, ours = command("--help"), environment()
    done = benchmark(subprocess.run, words, env=ours, capture_output=True, check=True)
    assert b"planner solve" in done.stdout
