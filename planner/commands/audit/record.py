"""The result of an audit: for one pending workload, for one state, and in all."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import ValidationInfo, model_validator

from planner.commands.study.record import Answered, Failure, Rules
from planner.plan.base import Assume, Published, Record, Status, Told, Turn, Uncovered
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

    objective: str
    status: Status
    victims: tuple[str, ...]
    terms: dict[str, int]
    gaps: dict[str, int]
    best: bool | None
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

    state: str
    pending: str
    names: dict[str, str] = {}
    resources: tuple[str, ...] = ()
    now: datetime | None = None
    rules: Rules
    status: Status
    turn: Turn = "unknown"
    victims: tuple[str, ...]
    terms: dict[str, int]
    lost: dict[str, int] = {}
    outside_rules: tuple[str, ...] = ()
    irredundant: bool | None = None
    needless: tuple[str, ...] = ()
    smallest: bool | None = None
    fewest: int | None = None
    judgements: tuple[Judgement, ...]
    ratios: tuple[Ratio, ...] = ()
    findings: tuple[FindingCode, ...] = ()
    proved: bool
    coverage: tuple[Uncovered, ...] = ()
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

    objective: str
    term: str
    title: str
    unit: str
    compared: int
    more: int
    less: int
    total: int
    greedy_total: int
    worst: int
    worst_case: str


class Verdicts(Record):
    """For one objective: how many of the scheduler's own answers are best, and how many not.

    ``shown`` counts the levels of all optima by what they rest on.
    """

    objective: str
    proved: int
    judged: int
    best: int
    not_best: int
    shown: Shown = Shown()


class Summary(Record):
    """Totals.

    ``cases`` counts pending workloads; ``conditional`` those of them whose states hold what is not
    modelled, and which nothing else counts; ``with_victims`` those for which the scheduler itself
    evicts anybody; ``fewer`` those of them in which fewer victims would do, which by itself is no
    finding; ``infeasible`` those for which no legal set exists; ``unproved`` those of
    which some optimum is not proved. ``findings`` counts cases by finding, ``clean`` those
    without any.
    """

    states: int
    cases: int
    conditional: int = 0
    with_victims: int
    fewer: int = 0
    infeasible: int
    clean: int
    unproved: int
    failures: int
    findings: dict[FindingCode, int]
    verdicts: tuple[Verdicts, ...]
    gaps: tuple[Gap, ...]

    @property
    def covered(self) -> int:
        """How many cases the other totals are of."""
        return self.cases - self.conditional


class Audit(Published, Told):
    """An audit of one or many states."""

    objectives: tuple[str, ...]
    summary: Summary
    cases: tuple[Case, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def _in_a_line(self) -> str:
        """How much was audited, and in how much of it nothing was found."""
        total = self.summary
        return f"states={total.states} cases={total.cases} clean={total.clean}"
