"""What a row becomes, who holds quota at an instant, and who comes after it; worked out by hand."""

import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.research.import_ import Openb, Philly, read_outline, read_shapes, sample
from planner.research.import_.kueue_knobs import Knobs
from planner.research.import_.sample import Running, sampled
from planner.research.import_.traces import (
    GPU,
    Job,
    Model,
    apportion,
    between,
    choose,
    draw,
    usable,
    weighted,
)
from planner.research.simulate import Question, simulate
from planner.state import parse_time
from planner.state.kueue import State
from tests import kueue_state
from tests.cli.running import call
from tests.research.import_.files import (
    PHILLY,
    PHILLY_HEADER,
    PODS,
    PODS_HEADER,
    SMALL,
    Object,
    held,
    openb,
    pending_of,
    states,
    write,
)
from tests.told import told

NODES = ("sn,cpu_milli,memory_mib,gpu,model", "a,64000,262144,2,P100", "b,96000,393216,8,G2")


def jobs(trace: Philly | Openb, path: str) -> list[Job]:
    """Return the jobs of a file."""
    return [job for job in usable(path, trace.columns, trace.job) if job is not None]


def test_philly_row(tmp_path: Path) -> None:
    path = write(tmp_path, PHILLY_HEADER, "2017-10-09 07:01:55,66.5,16,11cb48")
    (job,) = jobs(Philly(priorities={50: 1.0}), path)
    assert (job.name, job.queue, job.flavor, job.priority) == ("job-2", "11cb48", "default", 50)
    assert job.requests == {GPU: 16}
    assert job.start == 1507532515  # date -u -d '2017-10-09 07:01:55' +%s
    assert job.duration == 66.5
    assert job.is_gang
    assert job.is_training


def test_philly_priorities_are_as_likely_as_their_weights(tmp_path: Path) -> None:
    rows = (f"2017-10-09 07:01:55,66,1,vc-{n % 5}" for n in range(5000))
    drawn = Counter(job.priority for job in jobs(Philly(), write(tmp_path, PHILLY_HEADER, *rows)))
    # Of 5000 draws, four standard deviations of the largest share are 141.
    assert drawn.keys() == {0, 50, 100}
    assert abs(drawn[0] - 2500) < 141
    assert abs(drawn[50] - 1500) < 130
    assert abs(drawn[100] - 1000) < 113


def test_philly_job_with_the_shape_of_a_pod(tmp_path: Path) -> None:
    pods = write(
        tmp_path,
        "cpu_milli,memory_mib,num_gpu,gpu_milli",
        "96000,393216,8,1000",
        "4000,8192,1,470",
        "4000,8192,0,0",
        name="pods.csv",
    )
    shapes = read_shapes(pods)
    assert shapes == ((12000, 48 * 2**30),)  # only the first pod has whole GPUs, of which it has 8
    path = write(tmp_path, PHILLY_HEADER, "2017-10-09 07:01:55,66,2,a")
    (job,) = jobs(Philly(shapes=shapes), path)
    assert job.requests == {"cpu": 24000, "memory": 96 * 2**30, GPU: 2}


def test_shapes_of_more_than_a_thousand_pods_are_a_sample(tmp_path: Path) -> None:
    rows = [f"{n},1,1,1000" for n in range(1, 4001)]
    path = write(tmp_path, "cpu_milli,memory_mib,num_gpu,gpu_milli", *rows)
    shapes = read_shapes(path)
    assert len(shapes) == len(set(shapes)) == 1000
    # The mean of a uniform sample, and six of its standard deviations.
    assert abs(sum(cpu for cpu, _ in shapes) / 1000 - 2000) < 220
    assert shapes != read_shapes(path, seed=1)


def test_shapes_of_no_pod(tmp_path: Path) -> None:
    path = write(tmp_path, "cpu_milli,memory_mib,num_gpu,gpu_milli", "1,1,1,500")
    with pytest.raises(InputError) as caught:
        read_shapes(path)
    told(caught.value)


def test_openb_row(tmp_path: Path) -> None:
    nodes = write(tmp_path, *NODES, name="nodes.csv")
    path = write(
        tmp_path,
        PODS_HEADER,
        "pod-a,6000,12288,1,P100,LS,100,40",
        "pod-b,1000,1024,0,,BE,100,40",
        "pod-c,1000,1024,1,,BE,100,",
    )
    serving, training = jobs(openb(nodes, queue_by="class"), path)  # the third never ran
    assert (serving.name, serving.queue, serving.priority) == ("pod-a", "ls-p100", 200)
    assert serving.requests == {"cpu": 6000, "memory": 12 * 2**30, GPU: 1}
    assert serving.start == 1672531240  # date -u -d '2023-01-01 00:00:40' +%s
    assert serving.duration == 60
    assert not serving.is_gang
    assert not serving.is_training
    assert training.priority == 0
    assert training.requests == {"cpu": 1000, "memory": 2**30}
    assert training.is_training


@pytest.mark.parametrize(
    ("qos", "priority", "training"),
    [("Guaranteed", 1000, False), ("LS", 200, False), ("Burstable", 100, True), ("BE", 0, True)],
)
def test_openb_classes(tmp_path: Path, qos: str, priority: int, training: bool) -> None:  # noqa: FBT001
    path = write(tmp_path, PODS_HEADER, f"pod,1,1,1,,{qos},1,0")
    (job,) = jobs(openb(), path)
    assert (job.priority, job.is_training) == (priority, training)


def test_openb_models_are_as_likely_as_their_gpus(tmp_path: Path) -> None:
    """P100 has 2 of 10 GPUs; four standard deviations of 2000 draws are 72."""
    nodes = write(tmp_path, *NODES, name="nodes.csv")
    path = write(tmp_path, PODS_HEADER, *(f"pod-{n},1,1,1,,LS,1,0" for n in range(2000)))
    drawn = Counter(job.flavor for job in jobs(openb(nodes), path))
    assert abs(drawn["p100"] - 400) < 72
    assert drawn["p100"] + drawn["g2"] == 2000


def test_openb_queues_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, PODS_HEADER, *(f"pod-{n},1,1,1,,LS,1,0" for n in range(500)))
    names = {job.queue for job in jobs(openb(queues=4), path)}
    assert names == {"queue-01", "queue-02", "queue-03", "queue-04"}


def test_openb_nodes_have_cores_and_memory_beside_their_gpus(tmp_path: Path) -> None:
    trace = openb(write(tmp_path, *NODES, name="nodes.csv"))
    assert list(trace.models) == ["g2", "p100"]  # the most GPUs first
    assert trace.models["p100"] == Model(2, 64_000, 256 * 2**30)
    assert trace.capacity("g2", 2) == {"cpu": 24_000, "memory": 96 * 2**30}


def test_outline_adds_up_gpu_seconds(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        PHILLY_HEADER,
        "2017-10-09 07:01:55,60,8,a",
        "2017-10-09 07:01:55,10,1,a",
        "2017-10-09 07:01:55,5,2,b",
    )
    outline = read_outline(Philly(), path, arrivals=2, seed=0)
    assert outline.work == {("a", "default"): 490, ("b", "default"): 10}
    assert outline.arrivals == (1507532515.0, 1507532515.0)


@pytest.mark.parametrize("name", ["philly", "openb-pods", "openb-nodes"])
def test_small_traces_are_what_their_script_makes(name: str) -> None:
    script = [sys.executable, str(SMALL / "make.py"), name]
    made = subprocess.run(script, capture_output=True, check=True).stdout
    assert made.decode() == (SMALL / f"{name}.csv").read_text(encoding="utf-8")


START = 1507532515
"""2017-10-09 07:01:55 UTC."""


def at(path: str, *seconds: int, **more: Any) -> list[list[Running]]:
    """Return who holds quota so many seconds after START."""
    knobs = Knobs(**{"sampling": "running", **more})
    return list(sampled(Philly(), path, [START + second for second in seconds], knobs))


def test_running_is_who_started_before_and_ends_after(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        PHILLY_HEADER,
        "2017-10-09 07:01:55,60,1,a",
        "2017-10-09 07:02:15,20,1,a",
        "2017-10-09 07:01:55,0,1,a",
    )
    lines = [{one.job.line: one.elapsed for one in some} for some in at(path, 60, 0, 1, 20, 21, 40)]
    assert lines == [{}, {}, {2: 1}, {2: 20}, {2: 21, 3: 1}, {2: 40}]


def test_running_beyond_the_bound_is_a_uniform_sample(tmp_path: Path) -> None:
    """Each of 10 jobs is among 3 of 10 in 3/10 of 2000 instants; four deviations are 82."""
    path = write(tmp_path, PHILLY_HEADER, *["2017-10-09 07:01:55,9000,1,a"] * 10)
    states = at(path, *range(1, 2001), workloads=3)
    assert all(len(some) == 3 for some in states)
    counts = Counter(one.job.line for some in states for one in some)
    assert counts.keys() == set(range(2, 12))
    assert all(abs(count - 600) < 82 for count in counts.values())


def test_drawn_is_by_duration(tmp_path: Path) -> None:
    """Of one job of 300 s and one of 100 s the first is drawn in 3 of 4 cases."""
    path = write(
        tmp_path,
        PHILLY_HEADER,
        "2017-10-09 07:01:55,300,1,a",
        "2017-11-09 07:01:55,100,1,a",
        "2017-11-09 07:01:55,0,1,a",
    )
    states = at(path, *range(2000), sampling="drawn", workloads=1)
    longer = [one.elapsed for (one,) in states if one.job.line == 2]
    assert abs(len(longer) - 1500) < 78  # four standard deviations
    # Somewhere in its run, anywhere alike: the mean of 1500 is within 4 deviations of the half.
    assert 0 <= min(longer) <= max(longer) < 300
    assert abs(sum(longer) / len(longer) - 150) < 10


def test_drawn_holds_no_job_twice(tmp_path: Path) -> None:
    path = write(tmp_path, PHILLY_HEADER, *["2017-10-09 07:01:55,9000,1,a"] * 10)
    (some,) = at(path, 5, sampling="drawn", workloads=50)
    assert [one.job.line for one in some] == list(range(2, 12))


def test_instants_do_not_depend_on_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither on their order, nor on how many are drawn in one pass over the file."""
    rows = [f"2017-10-09 07:{n:02}:00,{100 * n},1,a" for n in range(2, 60)]
    path = write(tmp_path, PHILLY_HEADER, *rows)
    for sampling in ("running", "drawn"):
        together = at(path, 1000, 500, 1000, sampling=sampling, workloads=5)
        alone = [at(path, second, sampling=sampling, workloads=5)[0] for second in (1000, 500)]
        assert together == [alone[0], alone[1], alone[0]]
        monkeypatch.setattr(sample, "MOST_AT_ONCE", 5)
        assert at(path, 1000, 500, 1000, sampling=sampling, workloads=5) == together


def test_draws_are_the_same_everywhere() -> None:
    """BLAKE2b of a text, as `printf 0/x | b2sum -l 64` prints it."""
    assert draw(0, "x") == ((0xAA31E94701C5D02F >> 12) + 0.5) / 2**52


def test_draws_are_uniform() -> None:
    drawn = [draw("uniform", n) for n in range(4000)]
    assert 0 < min(drawn) < max(drawn) < 1
    assert abs(sum(drawn) / 4000 - 0.5) < 0.02
    assert all(2 <= between(2, 5, n) <= 5 for n in range(100))
    assert {choose("abc", n) for n in range(100)} == set("abc")
    assert {weighted({"a": 1, "b": 0}, n) for n in range(100)} == {"a"}


def test_apportion() -> None:
    """Largest remainders: 10 by 1:1:1 is 3.33 each; by 1:2:3 it is 1.67, 3.33 and 5."""
    assert apportion(10, [1, 1, 1]) == [4, 3, 3]
    assert apportion(10, [1, 2, 3]) == [2, 3, 5]
    assert apportion(7, [0, 0]) == [4, 3]
    assert apportion(0, [5, 1]) == [0, 0]


RUN = "preemption-planner.io/run-seconds"
AT = "2017-10-09T10:00:00Z"
WINDOW_S = 3600
ROWS = (
    "2017-10-09 09:00:00,7200.5,8,vc1",  # line 2 runs for another hour
    "2017-10-09 10:00:00,100,1,vc1",  # starts at the instant: it runs
    "2017-10-09 10:10:00,60.2,2,vc2",
    "2017-10-09 11:00:00,50,1,vc2",  # at the very end of the window
    "2017-10-09 11:00:01,50,1,vc2",  # too late
)


def notes_of(workload: Object) -> dict[str, str]:
    """Return the annotations of a workload."""
    found: dict[str, str] = workload["metadata"].get("annotations", {})
    return found


def imported(tmp_path: Path, *words: str) -> State:
    """Return the state that the command makes of the rows."""
    target = tmp_path / "state.json"
    given = (write(tmp_path, PHILLY_HEADER, *ROWS), "--at", AT, "--gang", "8", *words)
    result = call("import", "philly", *given, "-o", target)
    assert result.exit_code == 0, result.stderr
    return kueue_state.read(target)


def test_jobs_of_the_trace_come_when_they_started(tmp_path: Path) -> None:
    state = imported(tmp_path, "--follow", str(WINDOW_S))
    assert state.now == parse_time(AT)
    coming = {
        one.metadata.name: (one.metadata.creation_timestamp, one.metadata.annotations[RUN])
        for one in state.workloads
        if RUN in one.metadata.annotations and one.status.admission is None
    }
    assert coming == {
        "job-4": (datetime(2017, 10, 9, 10, 10, tzinfo=UTC), "61"),
        "job-5": (datetime(2017, 10, 9, 11, 0, tzinfo=UTC), "50"),
    }


def test_a_simulation_follows_the_trace(tmp_path: Path) -> None:
    """The first job has run for an hour, and for one second more than another hour to go."""
    state = imported(tmp_path, "--follow", str(WINDOW_S), "--priority", "-5")
    answer = simulate(state, Question(until_s=2 * WINDOW_S))
    fates = {fate.workload: fate for fate in answer.workloads}
    assert fates["vc1/job-2"].finished_s == 7201 - 3600
    assert fates["vc2/job-4"].arrived_s == 600
    assert fates["vc2/job-5"].arrived_s == 3600
    assert "vc2/job-6" not in fates


def without_the_future(state: Object) -> list[Object]:
    """Return the objects without those that come later, and without run times."""
    kept = []
    for item in state["items"]:
        notes = dict(item["metadata"].get("annotations", {})) if "metadata" in item else {}
        run = notes.pop(RUN, None)
        if run is not None and "status" not in item:
            continue
        if run is None:
            kept.append(item)
            continue
        own = {key: value for key, value in item["metadata"].items() if key != "annotations"}
        kept.append({**item, "metadata": {**own, **({"annotations": notes} if notes else {})}})
    return kept


@pytest.mark.parametrize("trace", ["philly", "openb"])
def test_the_instant_is_the_same_whether_followed_or_not(trace: str) -> None:
    given: tuple[Any, Path] = (Philly(), PHILLY) if trace == "philly" else (openb(), PODS)
    plain = list(states(*given, 3, workloads=50))
    followed = list(states(*given, 3, workloads=50, follow_s=86_400))
    assert [without_the_future(state) for state in followed] == [one["items"] for one in plain]
    assert all(
        len(more["items"]) > len(one["items"]) for more, one in zip(followed, plain, strict=True)
    )


def test_drawn_jobs_come_as_fast_as_so_many_end() -> None:
    """By Little's law: as many run as come in the time that one runs on average."""
    follow_s, running = 40 * 86_400, 60
    (state,) = states(openb(), PODS, 1, workloads=running, follow_s=follow_s)
    now = min(parse_time(one["metadata"]["creationTimestamp"]) for one in pending_of(state))
    coming = [one for one in pending_of(state) if RUN in notes_of(one)]
    ages = [parse_time(one["metadata"]["creationTimestamp"]) - now for one in coming]
    assert all(0 < age.total_seconds() <= follow_s for age in ages)
    assert len({one["metadata"]["name"] for one in coming}) == len(coming)
    seconds = sum(int(notes_of(one)[RUN]) for one in coming)
    assert len([*held(state)]) == running
    assert seconds / follow_s == pytest.approx(running, rel=0.1)


@pytest.mark.parametrize("follow_s", [-1, 400 * 86_400])
def test_a_year_is_followed_at_most(follow_s: int) -> None:
    with pytest.raises(InputError) as caught:
        Knobs(follow_s=follow_s)
    told(caught.value)
