"""What a row becomes: the mapping of the traces' description, worked out by hand."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from planner.commands.import_ import Openb, Philly, read_outline, read_shapes
from planner.commands.import_.sample import read_jobs
from planner.commands.import_.traces import GPU, Job, Model
from planner.errors import InputError
from tests.commands.import_.files import PHILLY_HEADER, PODS_HEADER, SMALL, openb, write

NODES = ("sn,cpu_milli,memory_mib,gpu,model", "a,64000,262144,2,P100", "b,96000,393216,8,G2")


def jobs(trace: Philly | Openb, path: str) -> list[Job]:
    """Return the jobs of a file."""
    return list(read_jobs(trace, path, None))


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
    with pytest.raises(InputError, match="no pod has a whole GPU"):
        read_shapes(path)


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
    [
        ("Guaranteed", 1000, False),
        ("LS", 200, False),
        ("Burstable", 100, True),
        ("BE", 0, True),
    ],
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
