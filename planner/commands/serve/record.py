"""What may be asked of the service, with which options, and within which bounds."""

from __future__ import annotations

from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

FOR_THE_PLAN: Final = 0.8
"""The share of the seconds that the plan itself may take: reading and writing take some, too."""
_NAME: Final = Field(default=None, pattern=r"^[^\x00-\x1f]+$", max_length=600)


class Bounds(NamedTuple):
    """What one request may take, and how many are answered at once.

    Attributes
    ----------
    max_bytes
        Bytes of a dump, as it is sent and also unpacked.
    seconds
        From the first byte of the request to its answer.
    memory
        Bytes of address space of the process that answers, where the system can limit it.
    at_once
        How many are answered at once; to more it is said that they should come again.
    """

    max_bytes: int
    seconds: float
    memory: int
    at_once: int


class Asked(BaseModel):
    """What stands in the query of a request. No name of a file can: nothing is read from any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pending: str | None = _NAME
    objective: str = Field(default="no-regret", pattern="^[a-z-]+$", max_length=60)
    now: str | None = Field(default=None, pattern="^[0-9TZtz.:+-]+$", max_length=40)

    def words(self) -> list[str]:
        """Return them as options, each one word, so that no value is taken for an option."""
        given = self.model_dump(exclude_none=True)
        return [f"--{name}={value}" for name, value in given.items()]


class AskedWhy(Asked):
    """The same, and who is asked about."""

    victim: str | None = _NAME


class Endpoint(NamedTuple):
    """One thing that is answered.

    Attributes
    ----------
    summary
        What it is.
    words
        The words of the command line that answer it, without options of a request.
    kind
        The type of the content.
    asked
        What may stand in the query.
    schema
        The published schema of the answer; empty if it is no JSON.
    """

    summary: str
    words: tuple[str, ...]
    kind: str
    asked: type[Asked] = Asked
    schema: str = ""


JSON: Final = "application/json"
ENDPOINTS: Final = {
    "/v1/plan": Endpoint(
        "Whom to evict so that a pending workload can start, with the proof.",
        ("solve", "-", "--format=json"),
        JSON,
        schema="plan",
    ),
    "/v1/explanation": Endpoint(
        "Why these victims, why not another one, or why none.",
        ("explain", "-", "--format=json"),
        JSON,
        AskedWhy,
        "explanation",
    ),
    "/v1/page": Endpoint(
        "The plan as one page that needs nothing from elsewhere.",
        ("solve", "-", "--format=html"),
        "text/html; charset=utf-8",
    ),
}
"""What is answered to POST, by path."""
