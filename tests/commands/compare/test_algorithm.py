"""The names of algorithms, and what each makes of a state."""

import subprocess
import sys
from pathlib import Path

import pytest

from planner.commands.compare import find_algorithms
from planner.commands.compare.measure import algorithm_names, find_algorithm
from planner.errors import InputError, SchemaError
from planner.objective.profiles import PROFILES
from planner.state.kueue_configuration import BOTH_STRATEGIES
from tests.cli.running import environment
from tests.cluster import configuration, fair_sharing
from tests.commands.compare.clusters import two_borrowers
from tests.told import told


@pytest.mark.parametrize("name", algorithm_names())
def test_every_name_is_found(name: str) -> None:
    assert find_algorithm(name).name == name


def test_every_process_shows_algorithms_alike() -> None:
    """Results on file name them so, and are taken up again by another process."""
    names = algorithm_names()
    code = (
        "import sys\n"
        "from planner.commands.compare.measure import find_algorithm\n"
        "print(*(repr(find_algorithm(name)) for name in sys.argv[1:]), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *names],
        env=environment({"PYTHONHASHSEED": "7"}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [repr(find_algorithm(name)) for name in names]


def test_there_is_an_optimum_for_every_profile() -> None:
    assert {f"optimum:{name}" for name in PROFILES} <= set(algorithm_names())


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("kueue-fair:LessThanOrEqualToFinalShare+LessThanInitialShare", "kueue-fair"),
        ("kueue-fair:LessThanOrEqualToFinalShare", "kueue-fair:final"),
        ("kueue-fair:LessThanInitialShare", "kueue-fair:initial"),
    ],
)
def test_strategies_may_be_written_out(long: str, short: str) -> None:
    assert find_algorithm(long) == find_algorithm(short)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Kueue",
        "optimum",
        "optimum:",
        "optimum:none",
        "kueue-fair:x",
        "optimum:pareto:workloads,lost_work",
    ],
)
def test_unknown_names(name: str) -> None:
    with pytest.raises(SchemaError, match="there is no algorithm"):
        find_algorithm(name)


def test_an_objective_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "gentle.toml"
    path.write_text('levels = ["pods"]\n')
    assert find_algorithm(f"optimum:{path}").name == "optimum:gentle"
    again = tmp_path / "other.toml"
    again.write_text('name = "gentle"\nlevels = ["workloads"]\n')
    with pytest.raises(InputError) as caught:
        find_algorithms([f"optimum:{path}", f"optimum:{again}"])
    told(caught.value)


def test_each_once_in_order() -> None:
    found = find_algorithms(["kueue-fair:final", "greedy", "greedy"])
    assert [one.name for one in found] == ["kueue-fair:final", "greedy"]
    with pytest.raises(InputError) as caught:
        find_algorithms([])
    told(caught.value)


def test_only_the_fair_sharing_of_the_configuration_changes() -> None:
    gates = configuration(featureGates={"PartialAdmission": False})
    state = two_borrowers(gates)
    both = find_algorithm("kueue-fair").state(state)
    assert both.configuration.strategies == BOTH_STRATEGIES
    assert both.configuration.fair_sharing_on
    assert not both.configuration.gate("PartialAdmission")
    assert both.workloads is state.workloads
    fair = two_borrowers(fair_sharing("LessThanInitialShare"))
    assert not find_algorithm("kueue-classical").state(fair).configuration.fair_sharing_on
    assert find_algorithm("kueue").state(fair) is fair
    final = find_algorithm("kueue-fair:final").state(fair)
    assert final.configuration.strategies == ("LessThanOrEqualToFinalShare",)
