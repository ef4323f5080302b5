"""The result of an audit: for one pending workload, for one state, and in all."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import ValidationInfo, model_validator

from planner.commands.study.record import Answered, Failure, Rules
from planner.plan.base import Assume, Published, Record, Status, Told, Turn, Uncovered
from planner.plan.label import Label
from planner.plan.record import Shown

FindingCode = Literal["redundant", "disruption", "rules", "missed", "pointless"]
"""redundant: some victims alone would do. disruption: another set is better by an objective that
was asked for. rules: the answer breaks the scheduler's own rules. missed: it finds nothing although
a legal set exists. pointless: it evicts although nothing needs to go."""


class Ratio(Record):
    """What is evicted of one resource for what is requested of it, in the scheduler's units.

    ``flavor`` is empty for YuniKorn. ``optimum`` is that of the first objective, ``None`` if it
    has no plan.
    """

    flavor: str
    resource: str
    requested: int
    greedy: int
    optimum: int | None


class Judgement(Record):
    """The optimum under one objective, beside the scheduler's own answer.

    ``gaps`` say for every term how much more the scheduler's own answer has; they are given
    where both have a plan. ``best`` says whether its answer is as good in every level of the
    objective: ``None`` where it has none, breaks its rules, or nothing better was found but
    nothing proved either. ``shown`` says what the levels of the optimum rest on. ``lost``
    is the work that the victims of the optimum lose, restarts included, in accelerator-seconds by
    the queue they run in.
    """

    objective: Annotated[str, Label(role="key")]
    status: Annotated[Status, Label()]
    victims: Annotated[tuple[str, ...], Label(role="count")]
    terms: dict[str, int]
    gaps: dict[str, int]
    best: Annotated[bool | None, Label(absent="unknown")]
    shown: Shown = Shown()
    lost: dict[str, int] = {}

    @model_validator(mode="after")
    def _every_gap_is_of_a_term(self) -> Self:
        if not self.gaps.keys() <= self.terms.keys():
            raise ValueError("gaps of other terms than those of the optimum")
        return self


class Case(Record):
    """One pending workload or ask of one state, or one queue above its maximum, by its path.

    ``now`` is the clock of the state. ``status`` and ``victims`` are the scheduler's own answer,
    ``turn`` when it comes: if it is ``held`` or by ``chance``, it is judged as if it came all the
    same. ``terms`` are what it costs, ``lost`` the work that its victims lose, as in `Judgement`,
    and ``outside_rules`` the laws it breaks. ``irredundant`` says that no proper subset of its
    victims would do, whoever is being evicted already aside, and ``smallest`` that no fewer victims
    would, which by itself is no finding: ``None`` where there are none to judge, or time was up.
    ``needless`` are those that a smallest subset spares, ``fewest`` how many victims a proved
    smallest set has. ``proved`` says that the optimum under every objective is.
    ``coverage`` is what the state holds that is not modelled: then there are no findings, and no
    total counts the case, unless the user vouches for it by ``assume``. ``names`` are the pods of
    the ask and the victims, by their keys, where the state tells; ``resources`` what is asked for
    and what any victims hold.
    """

    state: Annotated[str, Label(role="key")]
    pending: Annotated[str, Label(role="key")]
    names: Annotated[dict[str, str], Label(plain="name")] = {}
    resources: tuple[str, ...] = ()
    now: datetime | None = None
    rules: Rules
    status: Annotated[Status, Label()]
    turn: Annotated[Turn, Label()] = "unknown"
    victims: Annotated[tuple[str, ...], Label(role="count")]
    terms: dict[str, int]
    lost: dict[str, int] = {}
    outside_rules: Annotated[tuple[str, ...], Label(role="text", plain="outside_rules")] = ()
    irredundant: Annotated[bool | None, Label(absent="unknown")] = None
    needless: Annotated[tuple[str, ...], Label(plain="needless")] = ()
    smallest: Annotated[bool | None, Label(absent="unknown")] = None
    fewest: Annotated[int | None, Label(absent="unknown")] = None
    judgements: Annotated[tuple[Judgement, ...], Label(plain="optimum")]
    ratios: tuple[Ratio, ...] = ()
    findings: Annotated[tuple[FindingCode, ...], Label(role="list", absent="none")] = ()
    proved: bool
    coverage: Annotated[tuple[Uncovered, ...], Label(plain="uncovered")] = ()
    assume: Assume | None = None

    @model_validator(mode="after")
    def _every_objective_is_judged(self, info: ValidationInfo) -> Self:
        """A row of a results file has a judgement for each objective that the run is asked for."""
        asked = (info.context or {}).get("objectives")
        if asked is not None and len(self.judgements) != len(asked):
            raise ValueError(f"{len(self.judgements)} judgements for {len(asked)} objectives")
        return self

    @property
    def is_conditional(self) -> bool:
        """Whether it is judged under a condition, and no total counts it."""
        return bool(self.coverage) and self.assume is None


StateAudit = Answered[Case]
"""Everything about one state."""


class Gap(Record):
    """How much more of one term the scheduler's own answers have than the optima, in all.

    ``compared`` counts the cases in which both have a plan and the scheduler's own evicts
    somebody within its rules, ``more`` and ``less`` those in which its own has more and less of
    the term. ``total`` is the sum of all differences, ``worst`` the largest, in the case
    ``worst_case``.
    """

    objective: Annotated[str, Label(role="key")]
    term: Annotated[str, Label(role="key")]
    title: str
    unit: Annotated[str, Label(role="text")]
    compared: Annotated[int, Label()]
    more: Annotated[int, Label()]
    less: Annotated[int, Label()]
    total: Annotated[int, Label()]
    greedy_total: int
    worst: Annotated[int, Label()]
    worst_case: str


class Verdicts(Record):
    """For one objective: how many of the scheduler's own answers are best, and how many not.

    ``shown`` counts the levels of all optima by what they rest on.
    """

    objective: Annotated[str, Label("Objective", "key")]
    proved: Annotated[int, Label("Proved")]
    judged: Annotated[int, Label("Judged")]
    best: Annotated[int, Label("Best")]
    not_best: Annotated[int, Label("Not best")]
    shown: Annotated[Shown, Label(plain="levels")] = Shown()


class Summary(Record):
    """Totals.

    ``cases`` counts pending workloads; ``conditional`` those of them whose states hold what is not
    modelled, and which nothing else counts; ``with_victims`` those for which the scheduler itself
    evicts anybody; ``fewer`` those of them in which fewer victims would do, which by itself is no
    finding; ``infeasible`` those for which no legal set exists; ``unproved`` those of
    which some optimum is not proved. ``findings`` counts cases by finding, ``clean`` those
    without any.
    """

    states: Annotated[int, Label()]
    cases: Annotated[int, Label()]
    conditional: Annotated[int, Label()] = 0
    with_victims: Annotated[int, Label()]
    fewer: Annotated[int, Label()] = 0
    infeasible: Annotated[int, Label()]
    clean: Annotated[int, Label()]
    unproved: Annotated[int, Label()]
    failures: Annotated[int, Label()]
    findings: Annotated[dict[FindingCode, int], Label(plain="finding")]
    verdicts: Annotated[tuple[Verdicts, ...], Label(plain="objective")]
    gaps: Annotated[tuple[Gap, ...], Label()]

    @property
    def covered(self) -> int:
        """How many cases the other totals are of."""
        return self.cases - self.conditional


class Audit(Published, Told):
    """An audit of one or many states."""

    objectives: tuple[str, ...]
    summary: Annotated[Summary, Label(plain="total", role="totals")]
    cases: Annotated[tuple[Case, ...], Label()]
    failures: Annotated[tuple[Failure, ...], Label()] = ()

    @property
    def _in_a_line(self) -> str:
        """How much was audited, and in how much of it nothing was found."""
        total = self.summary
        return f"states={total.states} cases={total.cases} clean={total.clean}"
