"""The lines of a watch: decisions to come, preemptions that happened, notes on the watch itself.

Figures made of the lines are counted by queue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field, RootModel

from planner.plan import Record, Status

Outcome = Literal["equal", "different", "skipped"]


class Measured(Record):
    """What the scheduler's own victims cost, beside what is proved to be enough.

    ``needless`` are those that a smallest legal subset spares, and ``fewest`` how many victims a
    smallest legal set has; each is ``None`` where that was not settled in time. ``lost_s`` is the
    lost work of the scheduler's own victims, restarts included, in accelerator-seconds, and
    ``least_lost_s`` that of ``optimum``, the best victims under the objective: more than ``lost_s``
    where a level that comes before lost work, such as priority, makes the optimum lose more.
    ``status`` is that of the optimum. ``conditional`` names what the state holds that the planner
    does not model: then nothing of this is claimed without it. ``seconds`` is the processor time
    that it took.
    """

    victims: tuple[str, ...]
    needless: tuple[str, ...] | None = None
    fewest: int | None = None
    status: Status
    optimum: tuple[str, ...] = ()
    lost_s: int
    least_lost_s: int | None = None
    conditional: tuple[str, ...] = ()
    seconds: float

    @property
    def excess_s(self) -> int | None:
        """The lost work that a proved optimum would have saved; ``None`` where that is open.

        It is 0 where the optimum loses more, since a level before lost work comes first.
        """
        if self.conditional or self.status != "optimal" or self.least_lost_s is None:
            return None
        return max(0, self.lost_s - self.least_lost_s)


class Decision(Record):
    """A pending workload that the scheduler will preempt for, as things stand."""

    kind: Literal["decision"] = "decision"
    at: datetime
    preemptor: str
    queue: str
    measured: Measured


class Preemption(Record):
    """What the scheduler did for a preemptor, held against the replay of the state before.

    ``detail`` names what differs, or why nothing is compared; ``measured`` is there where the
    scheduler took just the victims that are judged. ``recording`` is the folder with both states.
    """

    kind: Literal["preemption"] = "preemption"
    at: datetime
    preemptor: str
    queue: str
    outcome: Outcome
    evicted: tuple[str, ...]
    replayed: tuple[str, ...] = ()
    detail: str = ""
    conditional: tuple[str, ...] = ()
    measured: Measured | None = None
    recording: str = ""


class Note(Record):
    """How the watching goes: what cannot be reached, written or judged, and what can be again.

    ``connected`` says whether what is told is what the cluster is.
    """

    kind: Literal["note"] = "note"
    at: datetime
    text: str
    connected: bool = True


Line = Decision | Preemption | Note


class Watched(RootModel[Annotated[Line, Field(discriminator="kind")]]):
    """One line of ``planner watch --format jsonl``."""


HOUR_S: Final = 3600


class Metric(NamedTuple):
    """A figure: its name, its description, and the labels by which it is split."""

    name: str
    text: str
    labels: tuple[str, ...] = ("queue",)


METRICS: Final = (
    Metric(
        "preemption_planner_preemptions_total",
        "Preemptors that somebody was evicted for, by whether the replay names the same victims.",
        ("queue", "outcome"),
    ),
    *(
        Metric(f"preemption_planner_{name}_total", text)
        for name, text in {
            "evictions": "Workloads that were evicted for a preemptor.",
            "needless_victims": "Workloads that were evicted though some of the other victims "
            "would have done.",
            "lost_gpu_hours": "Work that evictions lost, restarts included, in accelerator-hours.",
            "excess_gpu_hours": "Lost work that the proved optimum would have saved, in "
            "accelerator-hours; nothing for a preemption whose optimum loses more.",
            "decisions": "Decisions that were judged before they were made.",
            "conditional_answers": "Answers that hold only if what the planner does not model "
            "decides nothing.",
            "judging_seconds": "Processor time that judging took.",
        }.items()
    ),
    Metric("preemption_planner_connected", "1 while what is told is what the cluster is.", ()),
)
PREEMPTIONS, EVICTIONS, NEEDLESS, LOST, EXCESS, DECISIONS, CONDITIONAL, SECONDS, CONNECTED = METRICS


class Figures:
    """The figures so far; there are at most a few for each queue."""

    metrics: tuple[Metric, ...] = METRICS

    def __init__(self) -> None:
        self.values = defaultdict[tuple[Metric, tuple[str, ...]], float](float)
        self.values[CONNECTED, ()] = 0

    def count(self, line: Line) -> None:
        """Add a line to the figures."""
        if isinstance(line, Note):
            self.values[CONNECTED, ()] = line.connected
            return
        of_queue = (line.queue,)
        if isinstance(line, Decision):
            self.values[DECISIONS, of_queue] += 1
            conditional = bool(line.measured.conditional)
        else:
            self.values[PREEMPTIONS, (line.queue, line.outcome)] += 1
            self.values[EVICTIONS, of_queue] += len(line.evicted)
            conditional = bool(line.conditional or (line.measured and line.measured.conditional))
            if line.measured is not None and not conditional:
                self.values[NEEDLESS, of_queue] += len(line.measured.needless or ())
                self.values[LOST, of_queue] += line.measured.lost_s / HOUR_S
                self.values[EXCESS, of_queue] += (line.measured.excess_s or 0) / HOUR_S
        if line.measured is not None:
            self.values[SECONDS, of_queue] += line.measured.seconds
        self.values[CONDITIONAL, of_queue] += conditional

    def collect(self) -> Iterator[Any]:
        """Yield the figures as prometheus-client wants them, each time that they are asked for."""
        # prometheus-client is an extra; `endpoint.py` has imported it by then.
        from prometheus_client import core  # noqa: PLC0415 # pyright: ignore[reportMissingImports]

        values = dict(self.values)  # another thread counts meanwhile
        for metric in self.metrics:
            name = metric.name.removesuffix("_total")
            grows = name != metric.name
            family = core.CounterMetricFamily if grows else core.GaugeMetricFamily
            found = family(name, metric.text, labels=metric.labels)
            for (one, labels), value in values.items():
                if one is metric:
                    found.add_metric(labels, value)
            yield found
