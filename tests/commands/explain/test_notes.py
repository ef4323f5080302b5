"""What ``solve`` warns of, ``explain`` and all others who show plans warn of, too."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import planner
from planner.report.words import remarks
from tests import recorded
from tests.cli.running import answer, call, write
from tests.cluster import Object, configuration, dump_of, pending, queue, running
from tests.conftest import ROOT, TEST_ALL
from tests.told import told

WORKLOAD = "ns/pending"
Parts = list[list[Object]]


def warnings(*args: str | Path) -> list[str]:
    """Return the warnings of a command that comes to an answer."""
    result = call(*args)
    assert result.exit_code in {0, 3, 4, 6}, result.stderr
    return [line for line in result.stderr.splitlines() if line.startswith("warning: ")]


def scene(*more: list[Object]) -> Parts:
    """Return a queue of 4, where two of 2 run and one of 2 with priority waits."""
    parts = [queue("a", 4, within="LowerPriority")]
    return [*parts, running("one", "a", 2), running("two", "a", 2), pending("a", 2), *more]


def without_configuration() -> Parts:
    parts = scene()
    active = {"type": "Active", "status": "True", "reason": "Ready", "message": ""}
    parts[0][0]["status"] = {"conditions": [active]}
    return parts


def being_preempted() -> Parts:
    parts = scene(configuration())
    evicted = {"type": "Evicted", "status": "True", "reason": "Preempted", "message": ""}
    evicted["lastTransitionTime"] = "2026-05-01T12:50:00Z"
    parts[1][0]["status"]["conditions"].append(evicted)
    return parts


def overtaken() -> Parts:
    parts = scene(configuration())
    text = "Workload no longer fits after processing another workload"
    said = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": text}
    parts[3][0]["status"] = {"conditions": [said]}
    return parts


def not_the_head() -> Parts:
    first = pending("a", 2, priority=30)
    first[0]["metadata"] |= {"name": "first", "uid": "first"}
    return scene(first)


def quota_taken_out() -> Parts:
    parts = scene(configuration())
    del parts[0][0]["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    parts[0][0]["spec"]["resourceGroups"][0]["coveredResources"] = ["cpu"]
    row = {"name": "cpu", "nominalQuota": 1}
    parts[0][0]["spec"]["resourceGroups"][0]["flavors"][0]["resources"] = [row]
    return parts


def more_lost() -> Parts:
    """Return a queue where the fewest victims are not those that lose the least."""
    old, new = running("old", "a", 4, minute=0), running("new", "a", 2, minute=58)
    newer = running("newer", "a", 2, minute=59)
    return [queue("a", 8, within="LowerPriority"), old, new, newer, pending("a", 4)]


SCENES: dict[Callable[[], Parts], str] = {
    without_configuration: "the state has no Configuration",
    being_preempted: "ns/one is being preempted already and holds quota",
    overtaken: "Kueue said last that ns/pending no longer fits",
    not_the_head: "it is not the head of ClusterQueue a",
    quota_taken_out: "for which ClusterQueue a has no quota any more",
}


@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_explain_warns_of_what_solve_warns_of(make: Callable[[], Parts], tmp_path: Path) -> None:
    """On standard error and in JSON."""
    dump = write(tmp_path, dump_of(*make()))
    asked = (dump, "--pending", WORKLOAD)
    said = warnings("solve", *asked)
    assert any(SCENES[make] in line for line in said)
    assert warnings("explain", *asked) == said
    code = call("explain", *asked).exit_code
    notes = answer("explanation", "explain", *asked, code=code)["notes"]
    assert [f"warning: {note}" for note in dict.fromkeys(notes)] == said


def test_a_quota_that_the_release_cannot_count(tmp_path: Path) -> None:
    """The one fact that explains why a workload of 1 does not fit into a quota of 1E."""
    huge = queue("a", {"cpu": 1}, borrowing=None)
    flavor = huge[0]["spec"]["resourceGroups"][0]["flavors"][0]
    flavor["resources"][0]["nominalQuota"] = "1E"
    dump = write(tmp_path, dump_of(huge, pending("a", {"cpu": 1})))
    asked = (dump, "--kueue-release", "0.15.8")
    said = warnings("solve", *asked)
    told(said)
    assert warnings("explain", *asked) == said


@pytest.mark.parametrize("command", ["solve", "explain", "whatif", "boost"])
def test_a_plan_that_loses_more_than_the_scheduler_says_so_everywhere(
    command: str, tmp_path: Path
) -> None:
    """One of 4 that ran for an hour goes, in the place of two of 2 that ran for minutes."""
    dump = write(tmp_path, dump_of(*more_lost()))
    more = ["--set", "clusterqueue/a.quota.default/gpu.nominal=8"] if command == "whatif" else []
    said = warnings(command, dump, "--objective", "min-count", *more)
    assert [line for line in said if "the objective min-lost-work plans for the least" in line]


@pytest.mark.parametrize(
    "command",
    [
        ("solve",),
        ("solve", "--objective", "pareto:workloads,lost_work"),
        ("solve", "--joint", "--all"),
        ("explain",),
        ("whatif", "--set", "clusterqueue/a.quota.default/gpu.nominal=5"),
        ("boost",),
    ],
    ids=" ".join,
)
def test_pages_and_screens_have_the_notes(command: tuple[str, ...], tmp_path: Path) -> None:
    """A page has them in it; what is printed has them on standard error."""
    dump = write(tmp_path, dump_of(*without_configuration()))
    note = "the state has no Configuration of Kueue"
    verb, *options = command
    assert any(note in line for line in warnings(verb, dump, *options))
    page = tmp_path / "page.html"
    assert call(verb, dump, *options, "-o", page).exit_code in {0, 3, 4, 6}
    assert note in page.read_text("utf-8")


def same(state: planner.AnyState, keys: Iterable[str]) -> None:
    """Hold what is explained of each workload against its plan."""
    for key in keys:
        plan, found = planner.solve(state, key), planner.explain(state, key)
        assert found.notes == tuple(remarks(plan))
        assert (found.status, found.coverage) == (plan.status, plan.coverage)


FILES = [
    path
    for name in ("fair-sharing", "regressions", "topology", "yunikorn")
    for path in sorted((ROOT / "instances" / name).iterdir())
    if (path.is_dir() and any(path.glob("*.[jy]*")))
    or (path.suffix == ".yaml" and path.stem != "configmap")
]


@pytest.mark.parametrize("path", FILES[:: 1 if TEST_ALL else 4], ids=lambda path: path.stem)
def test_notes_are_those_of_the_plan_in_every_instance(path: Path) -> None:
    state = planner.read(path)
    same(state, state.pending)


@pytest.mark.parametrize(
    "name", ["small-classical-hier", "small-fair-hier", "small-edge", "small-flavors"]
)
def test_notes_are_those_of_the_plan_in_recorded_states(name: str) -> None:
    """As dumps, whose clusters are not known to be whole, and of a release that is not known."""
    for line in recorded.lines(name, 400):
        state = recorded.state_of(line).model_copy(update={"whole": False})
        same(state, [line["pending"]])
