"""The records of a benchmark: cases with their optima, a row for each answer, totals."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from planner.commands.study.record import Answered, Failure
from planner.plan.base import Published, Record
from planner.plan.label import Label
from planner.plan.record import SchedulerId

COUNT: Final = "min-count"
"""The objective under which the number of victims is compared with the fewest possible."""
Size = Literal["small", "medium", "large"]
"""By the number of workloads or allocations that run: fewer than 50, fewer than 500, or more."""
Group = Literal["small", "medium", "large", "all"]


class Source(Record):
    """Where a state comes from: a preset with a seed and knobs, a family, or a line of a file.

    ``numbers`` are those of a family, ``line`` counts from 1, and ``file`` stands beside the suite.
    """

    preset: str | None = None
    seed: int | None = None
    knobs: dict[str, bool | int | str] = {}
    family: str | None = None
    numbers: dict[str, int] = {}
    file: str | None = None
    line: int | None = None


class Optimum(Record):
    """The proven optimum of a case under an objective.

    ``values`` are the levels of the objective in their order, by name; none where no legal set
    exists. ``victims`` counts those of the canonical optimum, and ``digest`` is the SHA-256 of
    their sorted keys, one a line. ``certified`` says that `planner check` accepts the plan.
    """

    objective: str
    status: Literal["optimal", "infeasible"]
    values: dict[str, int] = {}
    victims: int = 0
    digest: str
    certified: bool


class Case(Record):
    """One state, who wants in, and what is proved.

    ``kind`` says by what rules somebody goes; a table counts cases of a kind together. ``digest``
    is the SHA-256 of the state as a line of JSON. ``hard`` says that a theorem or the
    generator makes it hard for the scheduler's own algorithm, ``quick`` that it belongs to the
    quick run. ``rules`` are other rules than those of the state. ``running`` counts what holds
    quota in the preemptor's tree, or the allocations of the partition; ``candidates`` those whom
    the rules permit.
    """

    name: str
    kind: str
    size: Size
    hard: bool = False
    quick: bool = False
    source: Source
    rules: str | None = None
    pending: str = ""
    digest: str = ""
    running: int = 0
    candidates: int = 0
    optima: tuple[Optimum, ...] = ()


class Suite(Published):
    """A fixed list of cases. Another list, or another optimum, is another version."""

    name: str
    version: str
    objectives: tuple[str, ...]
    cases: tuple[Case, ...]


class Row(Record):
    """The answer of one rival for one case under one objective.

    ``seed`` names what it drew, if it draws. ``status`` is ``plan`` for victims and ``none`` for
    none. ``broken`` are the laws that the verifier finds broken, by their ids; ``legal`` says that
    there are none. ``values`` are the levels of the objective, and ``digest`` is that of the
    victims' sorted keys. ``optimal`` says that the answer is legal and agrees with the recorded
    optimum on every level, or that it is proved that there is none, and there is none. Otherwise
    ``worse_at`` is the first level on which a legal answer is worse, and ``gap`` by how much there,
    relative to the optimum (to 1, where that is 0). ``fewest`` are the fewest victims there can be.
    ``proved`` is the rival's own claim; ``refuted`` says that the recorded optimum, or the
    verifier, refutes it. ``refutes`` says that the answer refutes the record: it is legal, and
    better than the recorded optimum, so that its gap is below 0, or a plan where there should be
    none. ``judgements`` counts how often it asked the verifier; ``late`` says that
    it may have met the limit of the clock: such a row may be another one on another machine.

    ``cpu_seconds`` is the processor time from the prepared problem to the answer, and
    ``prepare_seconds`` that from the read state to the problem, which all rivals share. In these
    two alone two runs differ.
    """

    case: Annotated[str, Label(role="key")]
    kind: str
    scheduler: SchedulerId
    size: Size
    hard: bool
    running: int
    candidates: int
    objective: Annotated[str, Label(role="key")]
    rival: Annotated[str, Label(role="key")]
    family: str
    seed: str = ""
    status: Annotated[Literal["plan", "none"], Label()]
    legal: Annotated[bool | None, Label()] = None
    broken: Annotated[tuple[str, ...], Label(role="list")] = ()
    victims: Annotated[int, Label()] = 0
    fewest: int | None = None
    values: dict[str, int] = {}
    digest: str
    optimal: Annotated[bool, Label()]
    worse_at: Annotated[str | None, Label()] = None
    gap: Annotated[float | None, Label()] = None
    proved: Annotated[bool, Label()]
    refuted: Annotated[bool, Label()]
    refutes: Annotated[bool, Label()] = False
    judgements: int
    late: Annotated[bool, Label()]
    cpu_seconds: Annotated[float, Label()]
    prepare_seconds: float


class Answers(Answered[Row]):
    """The answers of one rival for one case."""

    state: str = ""


class Standing(Record):
    """What a rival reached on the cases of a size, or on ``all``.

    ``answers`` counts cases under objectives; of these ``plans`` have victims, and ``legal`` break
    no law. ``optimal``, ``proved``, ``refuted``, ``refutes`` and ``late`` count as in a row.
    ``ratio`` is the mean of victims by fewest victims under ``min-count``, over the legal plans
    there, ``worst`` the largest. ``cpu_median``, ``cpu_p90`` and ``cpu_total`` are seconds.
    """

    size: Annotated[Group, Label(role="key")]
    rival: Annotated[str, Label("Rival", "key")]
    family: str
    answers: Annotated[int, Label("Answers")]
    plans: Annotated[int, Label("Plans")]
    legal: Annotated[int, Label("Legal")]
    optimal: Annotated[int, Label("Optimal")]
    proved: Annotated[int, Label("Proved")]
    refuted: Annotated[int, Label("Refuted")]
    refutes: Annotated[int, Label("Refutes", unit="times")] = 0
    late: Annotated[int, Label("Late", unit="times")]
    ratio: Annotated[float | None, Label("Victims", unit="ratio")] = None
    worst: Annotated[float | None, Label("Worst", unit="ratio", rank=1)] = None
    cpu_median: Annotated[float, Label("CPU s, median", unit="seconds")]
    cpu_p90: Annotated[float, Label()]
    cpu_total: Annotated[float, Label("CPU s, total", unit="seconds", rank=2)]


class Profile(Record):
    """A performance profile: of the answers, the share that a rival got optimal in time.

    In time is within ``factors`` times the least processor time of any rival whose answer there is
    optimal, each from 1 ms on. Source: Dolan and Moré, Mathematical Programming 91 (2002).
    """

    rival: str
    factors: tuple[int, ...]
    shares: tuple[float, ...]


class Machine(Record):
    """Where a run was made, and with what."""

    system: str
    processor: str
    cores: int
    python: str
    versions: dict[str, str]


class Manifest(Record):
    """All that a run depends on; ``digest`` is the SHA-256 of the cases that take part."""

    suite: str
    version: str
    digest: str
    quick: bool
    judgements: int
    work: float
    nodes: int
    seconds: float
    objectives: tuple[str, ...]
    rivals: tuple[str, ...]
    machine: Machine


class Bench(Published):
    """A run of a benchmark."""

    manifest: Manifest
    standings: Annotated[tuple[Standing, ...], Label(role="totals")]
    profiles: tuple[Profile, ...]
    rows: Annotated[tuple[Row, ...], Label()]
    failures: Annotated[tuple[Failure, ...], Label()] = ()
