"""What a watch tells: decisions to come, preemptions that happened, and how the watching goes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, RootModel

from planner.plan import Record, Status

Outcome = Literal["equal", "different", "skipped"]


class Measured(Record):
    """What the scheduler's own victims cost, beside what is proved to be enough.

    ``needless`` are those that a smallest legal subset spares, and ``fewest`` how many victims a
    smallest legal set has; each is ``None`` where that was not settled in time. ``lost_s`` is the
    lost work of the scheduler's own victims, restarts included, in accelerator-seconds, and
    ``least_lost_s`` that of ``optimum``, the best victims under the objective; ``status`` is that
    of the optimum. ``conditional`` names what the state holds that the planner does not model:
    then nothing of this is claimed without it. ``seconds`` is the processor time that it took.
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
        """The lost work that a proved optimum would have saved; ``None`` where that is open."""
        if self.conditional or self.status != "optimal" or self.least_lost_s is None:
            return None
        return self.lost_s - self.least_lost_s


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
    """How the watching goes: a connection that is lost and found again, an answer that is not.

    ``connected`` says whether what is told is what the cluster is.
    """

    kind: Literal["note"] = "note"
    at: datetime
    text: str
    connected: bool = True


Line = Decision | Preemption | Note


class Watched(RootModel[Annotated[Line, Field(discriminator="kind")]]):
    """One line of ``planner watch --format jsonl``."""
