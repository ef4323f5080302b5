"""What all tests share: the folder of recorded answers, how many to try, hypothesis's profiles."""

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests import told

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
QUICKSTART = ROOT / "instances" / "quickstart" / "cluster.json"
YUNIKORN = ROOT / "instances" / "yunikorn" / "quickstart"
WINGS = ("research", "operations")
OF_WINGS = (
    *(*WINGS, "benchmarks", "fuzz", "docs/test_claims.py", "docs/test_site.py"),
    *("test_distribution.py", "test_published.py", "test_ratchets.py", "test_readme.py"),
)
"""What needs both wings: their own tests, and those of what is of all together.

That is the wheel, its schemas and what it weighs, the site, what people read first, hostile input
and benchmarks. Without the wings the rest passes.
"""
collect_ignore = [] if all((ROOT / "planner" / wing).is_dir() for wing in WINGS) else list(OF_WINGS)
ABSENT = "no recorded answers"
"""How the reason begins for which a test is skipped where they are not."""
LONG = (
    *("operations/steer/test_live.py", "operations/cli/test_mcp.py", "docs/test_site.py"),
    *("operations/serve/test_service.py", "operations/batch/test_kills.py"),
    *("operations/batch/test_cluster.py", "operations/steer/test_stories.py"),
    *("solver/test_determinism.py", "cli/test_kills.py", "batch/test_stopping.py"),
    *("fuzz/test_fuzz.py", "fuzz/test_nasty.py", "test_distribution.py", "test_mutants.py"),
    *("commands/boost/test_brute_force.py", "commands/check/test_every_field.py"),
    *("solver/test_oracle_kueue.py", "proof/test_yunikorn_trees.py", "proof/test_mutants.py"),
    *("test_recorded_absent.py", "operations/lint/test_turn.py", "research/test_hard_states.py"),
    *("operations/kubectl/test_real.py", "solver/test_oracle_budgets.py"),
    *("commands/explain/kueue/test_weights.py", "proof/test_earlier_trees.py"),
    *("proof/test_narrowing.py", "proof/test_touched.py"),
)
"""Files of few tests that take long, by waiting or by work: begun last, they would end alone."""
TEST_ALL = bool(os.environ.get("PLANNER_TEST_ALL"))
"""Whether all recorded answers and random cases are tried, and not only a good sample."""

FOR_EVER_S = 900
"""Seconds that nothing takes, however busy the machine is: who waits longer waits in vain."""

# As in the program itself (planner/cli/main.py).
gc.set_threshold(100_000)

# Compiled modules are kept, whatever the shell says: hundreds of processes load the planner.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell without job control ignores Ctrl-C for what it starts in the background, and what that
# starts inherits it: tests that press it would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Time per example, and to make one, would measure how busy the machine is, not the code.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", UNHURRIED, derandomize=True)
settings.register_profile("nightly", UNHURRIED, max_examples=2000)
settings.load_profile("repeatable")


def some(cases: Iterable[T], one_in: int) -> list[T]:
    """Return every so-manieth case, and with PLANNER_TEST_ALL all of them.

    Of products a step that has no factor in common with any side leaves each side whole.
    """
    return list(islice(cases, 0, None, 1 if TEST_ALL else one_in))


def examples(usual: int) -> settings:
    """Return settings with a number of examples: more in the nightly profile, as of other tests."""
    times = settings().max_examples // settings.get_profile("repeatable").max_examples
    return settings(max_examples=usual * times)


def outside(variable: str, name: str) -> Path | None:
    """Return a folder that lies outside the project: the one a variable names, or beside it.

    It is None if there is none. Raises ``NotADirectoryError`` if the variable names something else:
    that must not skip tests in silence.
    """
    named = os.environ.get(variable)
    folder = Path(named) if named else ROOT.parent / "shared" / name
    if folder.is_dir():
        return folder
    if named:
        message = f"{variable} is not a folder: {named}"
        raise NotADirectoryError(message)
    return None


def recorded_root() -> Path | None:
    """Return the folder of answers recorded from the real schedulers, or None if there is none."""
    return outside("PLANNER_CONFORMANCE", "conformance")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that stores texts anew."""
    parser.addoption(told.UPDATE, action="store_true", help="store golden texts anew")


def pytest_configure(config: pytest.Config) -> None:
    """Read the flag."""
    told.updating = config.getoption(told.UPDATE)
    config.option.loadscopereorder = False  # of pytest-xdist, which has no eye for how long


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let several processes begin with the long files, and of the others with the most tests."""
    if not hasattr(config, "workerinput"):
        return
    many = Counter(item.path for item in items)
    long = {ROOT / "tests" / name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: (long.get(item.path, len(LONG)), -many[item.path]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Run two processes more than there are cores: many tests wait for others that they start.

    Whoever names a number by xdist's own variable gets it.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return 2 + (len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1)


@pytest.fixture(autouse=True, scope="module")
def _little_to_collect() -> None:
    """Spare the collector what tests of other files keep, such as recorded states.

    Some code under test collects again and again, and one look through it all takes half a second.
    """
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the very last line that the strongest tests did not run, if they did not."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput") or config.option.collectonly:
        return
    if recorded_root() is None:
        skipped = [one for one in reporter.stats.get("skipped", ()) if ABSENT in str(one.longrepr)]
        reporter.write_line(
            f"NOT TESTED against the real schedulers: {ABSENT} (skipped tests: {len(skipped)}; "
            "others saw only a sample); set PLANNER_CONFORMANCE to their folder",
            red=True,
        )


@pytest.fixture(scope="session")
def conformance() -> Path:
    """Give the folder of recorded answers; without it the test is skipped."""
    folder = recorded_root()
    if folder is None:
        pytest.skip("no recorded answers: set PLANNER_CONFORMANCE to their folder")
    return folder
