"""The records of a benchmark: cases with their optima, a row for each answer, totals."""

from __future__ import annotations

from typing import Final, Literal

from planner.commands.study.record import Answered, Failure
from planner.plan.base import Published, Record
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

    case: str
    kind: str
    scheduler: SchedulerId
    size: Size
    hard: bool
    running: int
    candidates: int
    objective: str
    rival: str
    family: str
    seed: str = ""
    status: Literal["plan", "none"]
    legal: bool | None = None
    broken: tuple[str, ...] = ()
    victims: int = 0
    fewest: int | None = None
    values: dict[str, int] = {}
    digest: str
    optimal: bool
    worse_at: str | None = None
    gap: float | None = None
    proved: bool
    refuted: bool
    refutes: bool = False
    judgements: int
    late: bool
    cpu_seconds: float
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

    size: Group
    rival: str
    family: str
    answers: int
    plans: int
    legal: int
    optimal: int
    proved: int
    refuted: int
    refutes: int = 0
    late: int
    ratio: float | None = None
    worst: float | None = None
    cpu_median: float
    cpu_p90: float
    cpu_total: float


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
    standings: tuple[Standing, ...]
    profiles: tuple[Profile, ...]
    rows: tuple[Row, ...]
    failures: tuple[Failure, ...] = ()
