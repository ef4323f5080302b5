"""The table of figures about traces, against cases that are written by hand."""

from collections import Counter
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.commands.audit import Case
from planner.commands.audit.record import Audit, FindingCode, Judgement, Summary
from planner.commands.compare.confidence import mean, share
from planner.research.import_ import Philly, read_outline
from planner.research.import_.kueue import import_states
from planner.research.import_.kueue_knobs import Knobs
from planner.research.import_.sample import sampled
from planner.research.import_.traces import Job, usable
from tests.conftest import TEST_ALL
from tests.research.import_.files import SMALL, held, openb, pending_of, real
from tests.told import told


@pytest.fixture(scope="module")
def script() -> Any:
    """Give the script as a module."""
    return SimpleNamespace(**run_path(str(SMALL / "figures.py")))


def case(
    victims: int, fewest: int, regret: int, lost_s: int, *findings: FindingCode, state: str = "s"
) -> Case:
    """Return a case with so many victims, of the optima too, and seconds lost without need."""
    gaps = {"workloads": victims - regret, "lost_work": lost_s}
    return Case(
        state=state,
        pending="p",
        rules="kueue-classical",
        status="feasible" if victims else "infeasible",
        victims=tuple(map(str, range(victims))),
        terms={"lost_work": 2 * lost_s, "run_time": 7200 * victims} if victims else {},
        smallest=fewest == victims,
        fewest=fewest,
        judgements=(
            Judgement(
                objective="no-regret",
                status="optimal",
                victims=(),
                terms=dict.fromkeys(gaps, 0),
                gaps=gaps,
                best=None,
            ),
        ),
        findings=findings,
        proved=True,
    )


def audit_of(*cases: Case) -> Audit:
    """Return an audit of some cases."""
    counts: dict[str, Any] = {"states": 4, "cases": 4, "with_victims": 3}
    counts |= {"infeasible": 1, "clean": 2}
    summary = Summary(**counts, unproved=0, failures=0, findings={}, verdicts=(), gaps=())
    return Audit(objectives=("no-regret",), summary=summary, cases=cases)


def test_figures(script: Any) -> None:
    audit = audit_of(
        case(5, 1, 5, 3600, "disruption"), case(3, 2, 2, 0), case(1, 1, 1, 0), case(0, 0, 0, 0)
    )
    header, _, *lines = script.figures({"small": audit}).splitlines()
    assert header == "|  | small |"
    found = dict(line.strip("| ").split(" | ") for line in lines)
    low, high = (f"{100 * bound:.1f}" for bound in share(2, 3)[1:])
    counted = [found[name] for name in list(found)[:4]]
    assert counted == ["4", "3", "1", "0"]
    assert found["fewer would do"] == f"66.7% ({low} to {high})"
    assert found["fewer, and no regret"].startswith("33.3% (")
    assert found["less disruptive possible"].startswith("33.3% (")
    assert found["victims, mean"] == "3.00 ({:.2f} to {:.2f})".format(*mean([5, 3, 1])[1:])
    assert found["victims, median"] == "3.00 (1.00 to 5.00)"
    assert found["too many, mean"].startswith("1.67 (")  # 4, 1 and none
    assert found["too many, median"].startswith("1.00 (")
    assert found["accelerator-hours lost, mean"].startswith("0.67 (")  # 2 h, none and none
    assert found["accelerator-hours lost, median"].startswith("0.00 (")
    assert found["hours that a victim ran, mean"] == "2.00 (2.00 to 2.00)"
    assert found["of these avoidable, mean"].startswith("0.33 (")


def test_shares_alone_and_where_nobody_is_evicted(script: Any) -> None:
    some, nobody = audit_of(case(3, 2, 2, 0)), audit_of(case(0, 0, 0, 0))
    header, _, first, second = script.shares({"some": some, "nobody": nobody}).splitlines()
    titles = header.strip("| ").split(" | ")
    told(titles[-3:])
    assert first.startswith("| some | 4 | 1 | 1 | 0 | 100.0% (")
    assert second == "| nobody | 4 | 0 | 1 | 0 | - | - | - |"


def test_differences_are_of_the_same_state(script: Any) -> None:
    """Two cases are in both: 3 - 1 and 2 - 2 victims more, 2 h and none lost more."""
    first = audit_of(
        case(1, 1, 1, 0, state="a/x.jsonl: line 1"),
        case(2, 1, 1, 900, state="a/x.jsonl: line 2"),
        case(9, 1, 1, 900, state="a/x.jsonl: line 3"),
    )
    second = audit_of(
        case(2, 1, 1, 900, state="b/y.jsonl: line 2"),
        case(3, 1, 1, 3600, state="b/y.jsonl: line 1"),
        case(0, 0, 0, 0, state="b/y.jsonl: line 3"),
    )
    pairs, victims, lost = script.differences(first, second).splitlines()
    assert pairs.split() == ["both", "evict", "2"]
    assert victims.startswith("victims                1.00 (")
    told(lost)


PEAK = (865, 1243)
"""Jobs and GPUs at once at most, if jobs start when they are submitted."""


def busiest(jobs: list[Job]) -> tuple[int, int, int]:
    """Return the most jobs at once, the most GPUs at once, and the second with the most jobs."""
    changes = sorted(
        change
        for job in jobs
        for change in ((job.start, 1, job.gpus), (job.start + job.duration, -1, -job.gpus))
    )
    running = gpus = most = most_gpus = second = 0
    for moment, change, amount in changes:
        running, gpus = running + change, gpus + amount
        most_gpus = max(most_gpus, gpus)
        if running > most:
            most, second = running, int(moment)
    return most, most_gpus, second


@pytest.mark.skipif(not TEST_ALL, reason="takes seconds; test_openb has a real trace by day")
def test_philly() -> None:
    """82 247 jobs of 15 virtual clusters; 76 627 of one GPU, 199 of 16, 67 of 32."""
    path = real("philly.csv")
    trace = Philly()
    jobs = [job for job in usable(path, trace.columns, trace.job) if job is not None]
    assert len(jobs) == 82_247
    assert len({job.queue for job in jobs}) == 15
    sizes = Counter(job.gpus for job in jobs)
    assert [sizes[gpus] for gpus in (1, 4, 2, 8, 16, 32)] == [76627, 1870, 1818, 1643, 199, 67]
    most, most_gpus, second = busiest(jobs)
    assert (most, most_gpus) == PEAK
    (there,) = sampled(trace, path, [second + 1], Knobs(sampling="running"))
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
