"""A scheduler as the rest of the planner sees it: its words, and what is asked of it.

Whoever does something for every scheduler asks `scheduler_of` for the one of a state or plan, and
never names one. Attributes import what they return when they are asked for it: a plan needs no
simulation, and a check no solver.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Protocol, TypeVar

from msgspec import Struct, field

from planner.errors import SchemaError, UnsupportedError

if TYPE_CHECKING:
    import click

    from planner.cli.published import Schema
    from planner.cli.value import Option
    from planner.commands.check.plan import Checker
    from planner.commands.compare.algorithm import Compared
    from planner.commands.explain.inquiry import Explainer
    from planner.commands.explain.kueue.record import PreemptionMessage
    from planner.commands.explain.record import CommonExplanation
    from planner.commands.replay.comparison import Comparison, Recorded
    from planner.commands.replay.kueue_live import LiveReplay
    from planner.commands.whatif.edit import Editing, Submit
    from planner.coverage.answer import Covering
    from planner.laws.law import Law
    from planner.plan import AnyPlan, Verification
    from planner.plan.base import Told
    from planner.plan.kueue import JointPlan
    from planner.reader.items import Kind
    from planner.reader.parse import Document
    from planner.reader.settings import Settings
    from planner.reader.source import Holds
    from planner.reader.unknown import Ignored
    from planner.report.explanation import Explained
    from planner.report.plan import Reporting
    from planner.report.style import Renderer
    from planner.solver.start import AnyPlanning, Planner
    from planner.state import AnyState, RequestsFrom

PartT = TypeVar("PartT")
StateT = TypeVar("StateT")
PlanT = TypeVar("PlanT", bound="AnyPlan")
PlanningT = TypeVar("PlanningT", bound="AnyPlanning")
RulesT = TypeVar("RulesT")
ExplanationT = TypeVar("ExplanationT")


class Words(Struct, frozen=True):
    """The words of a scheduler's project, for messages and reports.

    ``verb`` is taking a victim, ``noun`` a victim, ``queue`` the place where a victim runs.
    ``outside`` is the sentence about a plan of the scheduler's own that breaks the law ``{law}``;
    ``judge`` names, with its verb, the calculation that does not permit a set of victims that the
    model permits. ``choice`` is the scheduler's own way of choosing victims. ``rules`` are its rule
    sets in words. ``terms`` has the titles of the disruption terms for which the project has other
    words than `planner.term`; victims are counted in ``noun``.
    """

    name: str
    verb: str
    noun: str
    queue: str
    outside: str
    judge: str
    choice: str = "its own choice"
    rules: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)


class Named(Protocol):
    """A state, a plan, or another object that says of which scheduler it is."""

    @property
    def scheduler(self) -> str:
        """The id of the scheduler."""
        ...


class Scheduler(Generic[StateT, PlanT, PlanningT, RulesT, ExplanationT]):
    """A scheduler: a class with its id in states and plans, and its words; one object of it.

    ``likes`` are objectives with the aims of the scheduler's own order of victims: by name, a
    summary and the levels; ``help`` are texts in the help of commands, by what they are about. What
    a class does not override the scheduler does not have: either that
    adds nothing to an answer, or asking for it raises `UnsupportedError`.

    The parameters are the classes of its states and plans, of asks that are ready to be planned
    for, of the rules of its proof trees, and of its explanations.
    """

    id: ClassVar[str]
    words: ClassVar[Words]
    likes: ClassVar[Mapping[str, tuple[str, tuple[tuple[str, ...], ...]]]] = MappingProxyType({})
    help: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def lacks(self, attribute: str, what: str, hint: str = "") -> UnsupportedError:
        """Return the error about what this scheduler does not have, which names those that do."""
        base = getattr(Scheduler, attribute)
        having = {one.id for one in schedulers() if getattr(type(one), attribute) is not base}
        return self._without(what, having, hint)

    def found_in(self, table: Mapping[str, PartT], what: str) -> PartT:
        """Return what the table of a wing has for this scheduler; raise if it has nothing."""
        if self.id not in table:
            raise self._without(what, table)
        return table[self.id]

    def _without(self, what: str, having: Collection[str], hint: str = "") -> UnsupportedError:
        others = [one.words.name for one in schedulers() if one.id in having and one is not self]
        expected = f"a state of {' or '.join(others)}" if others else ""
        said = f"nothing is known about its {what}"
        return UnsupportedError(self.words.name, said, expected, hint)

    # Reading

    def read_documents(
        self, documents: Sequence[Document], settings: Settings, ignored: Ignored | None
    ) -> StateT | None:
        """Make one state of all documents; ``None`` if they are of another scheduler."""
        return None

    def holds_state(self, data: bytes) -> Holds:
        """Say whether a text is a state by itself."""
        return "part"

    @property
    def kinds(self) -> Mapping[tuple[str, str], Kind]:
        """The kinds of objects that states are read from, by API group and name."""
        return {}

    # Planning

    @property
    def laws(self) -> tuple[Law, ...]:
        """All laws, in the order in which they are reported."""
        return ()

    @property
    def plan(self) -> type[AnyPlan] | None:
        """The class of plans that are read and written."""
        return None

    @property
    def planning(self) -> Planner[StateT, PlanT, PlanningT, RulesT]:
        """How an ask is made ready and planned for."""
        raise self.lacks("planning", "planning")

    def coverage_of(self, state: StateT) -> Covering[PlanT]:
        """Return the coverage of a state, once for all workloads or asks that wait in it."""
        from planner.coverage.answer import Covering

        return Covering()

    def with_nodes(self, state: StateT, plan: PlanT) -> AnyPlan:
        """Return a plan with the nodes around it, where pods are placed on nodes."""
        return plan

    @property
    def with_commands(self) -> Callable[[StateT, PlanT, Sequence[str]], PlanT]:
        """Returns a plan for a state with the commands that carry it out, or why there are none.

        The given options of kubectl stand at the end of each command.
        """
        raise self.lacks("with_commands", "commands")

    @property
    def solve_joint(self) -> Callable[..., JointPlan]:
        """Plans for several pending workloads at once."""
        hint = "plan for each ask by itself: planner solve --all"
        raise self.lacks("solve_joint", "joint plans", hint)

    # Checking

    def verify_plan(self, state: StateT, plan: PlanT) -> Verification:
        """Judge a plan by every law of its rule set."""
        raise self.lacks("verify_plan", "verifier")

    @property
    def checker(self) -> Checker[StateT, PlanT]:
        """Checks a plan and all that it claims, by an objective, costs, and what a caller names."""
        raise self.lacks("checker", "checker")

    # Explaining

    @property
    def explanation(self) -> type[CommonExplanation] | None:
        """The class of explanations."""
        return None

    @property
    def explainer(self) -> type[Explainer[PlanningT, PlanT]]:
        """The class of what plans for an ask, to ask questions about the plan."""
        raise self.lacks("explainer", "explanation")

    def take_apart(self, text: str, state: StateT) -> tuple[PreemptionMessage, Sequence[str]]:
        """Parse what it writes itself about a preemption, with notes on what that leaves out.

        Names are looked up in a state.
        """
        raise self.lacks("take_apart", "texts about preemption")

    # Editing

    @property
    def editing(self) -> Editing[StateT]:
        """What can be set in a state, and how."""
        raise self.lacks("editing", "edits")

    @property
    def add_workloads(self) -> Submit[StateT]:
        """Returns a state with what it would make of objects, in a queue or theirs; the keys."""
        raise self.lacks("add_workloads", "hypothetical workloads")

    def without_workloads(self, state: StateT, keys: Collection[str]) -> StateT:
        """Return a state without some of its workloads, under a digest of its own."""
        raise self.lacks("without_workloads", "hypothetical workloads")

    # Comparing and replaying

    @property
    def comparing(self) -> Compared[PlanningT, PlanT]:
        """The algorithms that only it can be compared by."""
        from planner.commands.compare.algorithm import Compared

        return Compared()

    def replay_line(self, line: Mapping[str, Any], where: str) -> Comparison | None:
        """Decide a recorded line anew, and compare; ``None`` if it is of another scheduler."""
        return None

    def recorded(
        self, line: Mapping[str, Any], where: str, release: str, requests: RequestsFrom
    ) -> Recorded | None:
        """Read the state of a recorded line; ``None`` if it is of another scheduler."""
        return None

    def replay_live(self, before: AnyState, after: AnyState) -> LiveReplay:
        """Compare what a live cluster did after a dump, as a later dump shows, with the replay."""
        raise self.lacks("replay_live", "live replay")

    # Reporting

    @property
    def reporting(self) -> Reporting[PlanT]:
        """The parts of a plan's page, and the plain lines, that only its plans have."""
        raise self.lacks("reporting", "page")

    def explained(self, answer: ExplanationT) -> Explained:
        """Return the parts of an explanation that only its explanations have."""
        raise self.lacks("explained", "explained")

    @property
    def renderers(self) -> Mapping[type, Renderer[Any]]:
        """The renderers of answers that no other scheduler has, by their classes."""
        return {}

    # The command line

    @property
    def options(self) -> Mapping[str, Option[Any]]:
        """The options of commands that it alone has, by name."""
        return {}

    def own_command(self, name: str) -> click.Command | None:
        """Return a command that it alone has, by its name."""
        return None

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The schemas of what it alone reads or writes, by name."""
        return {}


AnyScheduler = Scheduler[Any, Any, Any, Any, Any]


def page(answer: Told) -> str:
    """Return the page of an answer for a notebook: that of ``--format html``, in a frame."""
    from planner.report.render import html

    return html(answer)


_REGISTERED: Final[dict[str, AnyScheduler]] = {}


def register(scheduler: AnyScheduler) -> None:
    """Make a scheduler known; it replaces another scheduler of the same id.

    Register before the first answer: output classes with plans of any scheduler are built once, for
    the schedulers that are known then.
    """
    _REGISTERED[scheduler.id] = scheduler


def schedulers() -> tuple[AnyScheduler, ...]:
    """Return all registered schedulers, in the order of registration."""
    return tuple(_REGISTERED.values())


def find_scheduler(name: str) -> AnyScheduler | None:
    """Return the scheduler of an id; ``None`` if it is not registered."""
    return _REGISTERED.get(name)


def scheduler_of(thing: Named) -> AnyScheduler:
    """Return the scheduler of a state or a plan.

    Raises
    ------
    UnsupportedError
        If it is not registered.
    SchemaError
        If the thing is neither a state nor an answer.
    """
    name = getattr(thing, "scheduler", None)
    if not isinstance(name, str):
        found_here = f"{type(thing).__name__} is neither a state nor an answer"
        raise SchemaError("", found_here, "what planner.read returned, or what was made of it")
    found = find_scheduler(name)
    if found is None:
        raise UnsupportedError("scheduler", f'"{name}" is not registered', ", ".join(_REGISTERED))
    return found
