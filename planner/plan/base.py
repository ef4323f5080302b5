"""The base of all output: records, and answers that say what they leave out of a state.

What an answer leaves out can make its status conditional. Answers with victims have a DataFrame.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    Protocol,
    Self,
    TypeVar,
    Union,
    get_args,
)

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, model_validator

from planner.errors import UnsupportedError
from planner.plan.label import Label
from planner.scheduler import page, schedulers
from planner.state.base import with_bounded_errors

if TYPE_CHECKING:
    from pandas import DataFrame
    from pydantic_core import CoreSchema


SCHEMA_VERSION: Final = "planner/v1"


class Record(BaseModel):
    """A frozen piece of output."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        serialize_by_alias=True,
        defer_build=True,
        # Shares may be infinite, and would become null: pydantic follows the outermost record.
        ser_json_inf_nan="strings",
    )

    of_schedulers: ClassVar[str] = ""
    """The attribute of schedulers that has their own records of this kind."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Bound how many errors are collected where a plan is read.

        What each scheduler has a record of its own for is read and written as one of those.
        """
        if own := vars(cls).get("of_schedulers"):
            known = tuple(found for one in schedulers() if (found := getattr(one, own)))
            return handler.generate_schema(Union[known])  # noqa: UP007 - as many as there are
        return with_bounded_errors(handler(source), most_keys=None)


class Published(Record):
    """A piece of output that is written by itself: the version of its schema stands first."""

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")


def name_some(names: Collection[str], most: int) -> str:
    """Return the first ``most`` names in one text, and how many more there are."""
    more = len(names) - most
    return ", ".join(islice(names, most)) + (f" and {more} more" if more > 0 else "")


Status = Literal["optimal", "conditional", "feasible", "infeasible", "unknown"]
"""optimal: proved and verified. feasible: legal, not proved best. infeasible: proved that no
legal victim set exists. unknown: nothing found, nothing proved. conditional: proved of the state
as far as the planner models it, but something in the state is not modelled (``coverage``)."""
Proved = Literal["optimal", "infeasible"]
"""The status that a conditional answer would have if what it leaves out plays no part."""
Turn = Literal["next", "held", "chance", "unknown"]
"""When the scheduler does what it decides. next: in the cycles to come. held: not before others
act, or what holds the preemptor back ends. chance: perhaps, or else another thing that is like it.
unknown: nobody looked."""
Assume = Literal["quota"]
"""What a user may vouch for. quota: that quota, as the planner sees it, alone decides."""


class Uncovered(Record):
    """Something in a state that may decide who is preempted, and that an answer leaves out.

    ``feature`` is its id. ``kind`` says why it is listed. unmodelled: the planner does not know
    the rule. contradiction: the cluster says another thing than the planner works out. assumed:
    the state does not say what holds. ``objects`` are up to five that show it, of ``count``;
    ``effect`` is what it can change, ``evidence`` what was found.
    """

    feature: Annotated[str, Label(role="code")]
    kind: Annotated[Literal["unmodelled", "contradiction", "assumed"], Label(role="code")]
    title: str
    objects: tuple[str, ...] = ()
    count: Annotated[int, Label(plain="objects")] = 0
    effect: str
    evidence: Annotated[str, Label(role="text")]


class Told(Record):
    """An answer that is shown in a line where Python prints it, and as its page in a notebook."""

    @property
    def _in_a_line(self) -> str:
        """What the answer says, in a few words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Describe the answer in a line: a plan of thousands of fields would fill a screen."""
        return f"<{type(self).__name__} {self._in_a_line}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return the page of ``--format html`` for a notebook, in a frame."""
        return page(self)


class Covered(Told):
    """An answer with a status, and with what it leaves out.

    Subclasses declare its fields, so that each stands at its place in their JSON: ``status``;
    ``proved``, what the status would be without ``coverage``; and ``assume``, what the user
    vouches for, so that the status counts in spite of ``coverage``.
    """

    if TYPE_CHECKING:
        scheduler: str
        status: Status
        proved: Proved | None
        coverage: tuple[Uncovered, ...]
        assume: Assume | None

    @property
    def claim(self) -> Status:
        """The status that is claimed of the state as far as the planner models it."""
        return self.proved or self.status

    @property
    def _in_a_line(self) -> str:
        """The status, for whom it is, and the answer in words."""
        fields = type(self).model_fields.keys()
        parts = ["status", *sorted({"preemptor"} & fields), *sorted(_SAID & fields)]
        return ": ".join(str(getattr(self, one)) for one in parts)

    @model_validator(mode="after")
    def _says_what_it_leaves_out(self) -> Self:
        if (self.status == "conditional") != (self.proved is not None):
            raise ValueError("proved goes with the status conditional, and only with that")
        if self.status == "conditional" and not self.coverage:
            raise ValueError("a conditional answer says in coverage what it leaves out")
        if self.coverage and self.status in get_args(Proved) and self.assume is None:
            raise ValueError(f"{self.status} is not said of a state that is not covered")
        return self


_SAID: Final = frozenset({"explanation", "answer"})
"""Fields in which an answer is put in words."""
CoveredT = TypeVar("CoveredT", bound=Covered)


def condition_in_words(coverage: Sequence[Uncovered]) -> str:
    """Return the condition of a conditional answer, as the beginning of a sentence."""

    def titles(of_rules: bool) -> str:  # noqa: FBT001 - of which of the two lists
        chosen = (one.title for one in coverage if (one.kind == "unmodelled") == of_rules)
        *others, last = dict.fromkeys(chosen) or [""]
        return f"{', '.join(others)} or {last}" if others else last

    rules, facts = titles(of_rules=True), titles(of_rules=False)
    parts = [f"nothing depends on {rules}, which the planner does not model"] if rules else []
    parts += [f"the planner is right about {facts}"] if facts else []
    return f"Provided that {', and that '.join(parts)}: "


def qualified(
    answer: CoveredT, coverage: tuple[Uncovered, ...], assume: Assume | None = None
) -> CoveredT:
    """Return an answer with what it leaves out, and with the status that follows.

    A proved status becomes conditional, unless the user vouches for what is left out: ``assume``.
    What is legal, and no more, is so on the same condition.
    """
    if not coverage:
        return answer
    update: dict[str, object] = {"coverage": coverage, "assume": assume}
    if assume is None and answer.status in get_args(Proved):
        update |= {"status": "conditional", "proved": answer.status}
    if assume is None and answer.status in {*get_args(Proved), "feasible"}:
        said = _SAID & type(answer).model_fields.keys()
        condition = condition_in_words(coverage)
        update |= {name: f"{condition}{getattr(answer, name)}" for name in said}
    return answer.model_copy(update=update)


class _OfVictims(Protocol):
    @property
    def victims(self) -> Sequence[Any]: ...


class Evicting(Covered):
    """An answer with victims."""

    def to_frame(self: _OfVictims) -> DataFrame:
        """Return a row for each victim, in the order of the plan, indexed by its key.

        The columns are the fields of a victim (``age_s`` in seconds); then what it uses of each
        flavor-resource, such as ``h100/nvidia.com/gpu``, or resource type, 0 where it uses none
        (milli-cores of ``cpu`` and ``vcore``, whole units of the rest: bytes, devices, pods); then
        what it adds to each term of disruption, such as ``lost_work``, in the unit of the term.

        Raises
        ------
        UnsupportedError
            If pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an extra
        except ImportError:
            hint = "pip install pandas"
            raise UnsupportedError("to_frame", "pandas is not installed", hint=hint) from None
        fields = [victim.model_dump(exclude={"usage", "costs"}) for victim in self.victims]
        used = [{one.place: one.units for one in victim.usage} for victim in self.victims]
        places = dict.fromkeys(place for uses in used for place in uses)
        rows = [
            {**known, **dict.fromkeys(places, 0), **uses, **victim.costs}
            for known, uses, victim in zip(fields, used, self.victims, strict=True)
        ]
        keys = [victim.key for victim in self.victims]
        return pd.DataFrame(rows, index=pd.Index(keys, name="victim", dtype="object"))
