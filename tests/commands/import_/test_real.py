"""The public traces themselves, where they are: figures of their own descriptions."""

from collections import Counter

from planner.commands.import_ import Philly, read_outline
from planner.commands.import_.kueue import Knobs, import_states
from planner.commands.import_.sample import read_jobs, sampled
from planner.commands.import_.traces import Job
from tests.commands.import_.files import held, openb, pending_of, real

PEAK = (865, 1243)
"""Jobs and GPUs at once at most, if jobs start when they are submitted."""


def busiest(jobs: list[Job]) -> tuple[int, int, int]:
    """Return the most jobs at once, the most GPUs at once, and the second with the most jobs."""
    changes = sorted(
        change
        for job in jobs
        for change in (
            (job.start, 1, job.gpus),
            (job.start + job.duration, -1, -job.gpus),
        )
    )
    running = gpus = most = most_gpus = second = 0
    for moment, change, amount in changes:
        running, gpus = running + change, gpus + amount
        most_gpus = max(most_gpus, gpus)
        if running > most:
            most, second = running, int(moment)
    return most, most_gpus, second


def test_philly() -> None:
    """82 247 jobs of 15 virtual clusters; 76 627 of one GPU, 199 of 16, 67 of 32."""
    path = real("philly.csv")
    trace = Philly()
    jobs = list(read_jobs(trace, path, None))
    assert len(jobs) == 82_247
    assert len({job.queue for job in jobs}) == 15
    sizes = Counter(job.gpus for job in jobs)
    assert [sizes[gpus] for gpus in (1, 4, 2, 8, 16, 32)] == [76627, 1870, 1818, 1643, 199, 67]
    most, most_gpus, second = busiest(jobs)
    assert (most, most_gpus) == PEAK
    (there,) = sampled(trace, path, [second + 1], sampling="running", workloads=1000, seed=0)
    expected = {job.line for job in jobs if job.start < second + 1 < job.start + job.duration}
    assert {one.job.line for one in there} == expected
    assert len(expected) > 850


def test_openb() -> None:
    """8 152 pods, of which 897 never ran; 1 213 nodes with 6 212 GPUs of 7 models."""
    trace = openb(real("openb_node_list_gpu_node.csv"))
    path = real("openb_pod_list_default.csv")
    gpus = {name: model.gpus for name, model in trace.models.items()}
    assert gpus == {
        "g2": 4392,
        "t4": 842,
        "g3": 312,
        "p100": 265,
        "v100m32": 204,
        "v100m16": 195,
        "a10": 2,
    }
    outline = read_outline(trace, path, arrivals=1, seed=0)
    assert (outline.rows, outline.jobs) == (8152, 8152 - 897)
    (state,) = import_states(trace, path, outline, [1_680_000_000], Knobs(workloads=2000))
    value = {"items": state.objects}
    assert len(list(held(value))) == 2000
    assert len(pending_of(value)) == 1
