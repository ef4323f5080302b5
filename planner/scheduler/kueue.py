"""Kueue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from planner.scheduler.record import Scheduler, Words
from planner.wing import each

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    import click

    from planner.cli.published import Schema
    from planner.cli.value import Option
    from planner.commands.check.plan import Checker
    from planner.commands.compare.algorithm import Compared
    from planner.commands.explain.kueue.inquiry import KueueInquiry
    from planner.commands.explain.kueue.record import Explanation, PreemptionMessage
    from planner.commands.replay.comparison import Comparison, Recorded
    from planner.commands.replay.kueue_live import LiveReplay
    from planner.commands.whatif.edit import Editing, Submit
    from planner.coverage.answer import Covering
    from planner.laws.law import Law
    from planner.plan import Verification
    from planner.plan.kueue import JointPlan, Plan
    from planner.proof.kueue.rules import KueueRules
    from planner.reader.items import Kind
    from planner.reader.parse import Document
    from planner.reader.settings import Settings
    from planner.reader.source import Holds
    from planner.reader.unknown import Ignored
    from planner.report.explanation import Explained
    from planner.report.plan import Reporting
    from planner.report.style import Renderer
    from planner.solver.kueue.planning import Planning
    from planner.solver.start import Planner
    from planner.state import AnyState, RequestsFrom
    from planner.state.kueue import State

Placement = Literal["kueue"]
"""Who places pods on nodes, where a topology decides about them."""
Flavors = Literal["kueue", "optimal"]
"""Whose choice of flavors: the scheduler's own, or the best for the objective."""
OWN: Final = "kueue"
"""The value of both that leaves the choice to the scheduler itself."""


class Kueue(Scheduler["State", "Plan", "Planning", "KueueRules", "Explanation"]):
    """Kueue."""

    id = "kueue"
    words = Words(
        name="Kueue",
        verb="evict",
        noun="workload",
        queue="ClusterQueue",
        outside="Kueue's own answer is outside its own rules: {law}",
        judge="Kueue's own doubles, or its placement of pods, do",
        choice="Kueue's own greedy choice",
        rules={
            "kueue-classical": "classical preemption",
            "kueue-fair": "fair sharing",
        },
    )
    likes = {
        "kueue-like": (
            (
                "the best set by what Kueue's candidate order goes for: the fewest of the highest "
                "priority, then of the next, and so on; then those admitted last"
            ),
            (("victims@each",), ("run_time",), ("workloads",)),
        )
    }
    help = {
        "pending": "as NAMESPACE/NAME, or its job",
        "compare": "  planner compare dumps/ --algorithm kueue-classical --algorithm kueue-fair\n",
        "algorithms": """\
  kueue               the scheduler's own answer, of Kueue only, as the state configures it
  kueue-classical     Kueue as if the Configuration had no fairSharing
  kueue-fair          Kueue as if it had, with both strategies
  kueue-fair:final    with LessThanOrEqualToFinalShare only
  kueue-fair:initial  with LessThanInitialShare only
""",
    }

    @property
    def laws(self) -> tuple[Law, ...]:
        from planner.laws.kueue import LAWS

        return LAWS

    def read_documents(
        self, documents: Sequence[Document], settings: Settings, ignored: Ignored | None
    ) -> State:
        from planner.reader.kueue import assemble

        return assemble(documents, settings, ignored)

    def holds_state(self, data: bytes) -> Holds:
        from planner.reader.kueue_kinds import holds

        return holds(data)

    @property
    def kinds(self) -> Mapping[tuple[str, str], Kind]:
        from planner.reader.kueue_kinds import KINDS

        return KINDS

    @property
    def plan(self) -> type[Plan]:
        from planner.plan.kueue import Plan

        return Plan

    @property
    def planning(self) -> Planner[State, Plan, Planning, KueueRules]:
        from planner.solver.kueue import start

        return start

    def verify_plan(self, state: State, plan: Plan) -> Verification:
        from planner.verifier.kueue.plan import verify_plan

        return verify_plan(state, plan)

    @property
    def checker(self) -> Checker[State, Plan]:
        from planner.commands.check.kueue import check_kueue

        return check_kueue

    def coverage_of(self, state: State) -> Covering[Plan]:
        from planner.coverage.kueue import KueueCoverage

        return KueueCoverage(state)

    @property
    def with_commands(self) -> Callable[[State, Plan, Sequence[str]], Plan]:
        found = next(each("with_commands"), None)
        return super().with_commands if found is None else found

    @property
    def solve_joint(self) -> Callable[..., JointPlan]:
        from planner.kueue_verbs import solve_joint

        return solve_joint

    @property
    def explanation(self) -> type[Explanation]:
        from planner.commands.explain.kueue.record import Explanation

        return Explanation

    @property
    def explainer(self) -> type[KueueInquiry]:
        from planner.commands.explain.kueue.inquiry import KueueInquiry

        return KueueInquiry

    def take_apart(self, text: str, state: State) -> tuple[PreemptionMessage, Sequence[str]]:
        from planner.commands.explain.kueue.record import take_apart

        return take_apart(text, state)

    def with_nodes(self, state: State, plan: Plan) -> Plan:
        from planner.commands.explain.kueue.picture import with_nodes

        return with_nodes(state, plan)

    @property
    def editing(self) -> Editing[State]:
        from planner.commands.whatif import kueue_edit

        return kueue_edit

    @property
    def add_workloads(self) -> Submit[State]:
        from planner.commands.whatif.kueue_hypothetical import add_workloads

        return add_workloads

    def without_workloads(self, state: State, keys: Collection[str]) -> State:
        from planner.commands.whatif.kueue_hypothetical import without_workloads

        return without_workloads(state, keys)

    @property
    def comparing(self) -> Compared[Planning, Plan]:
        from planner.commands.compare.kueue import KueueCompared

        return KueueCompared()

    def replay_line(self, line: Mapping[str, Any], where: str) -> Comparison:
        from planner.commands.replay.kueue import replay_kueue_line

        return replay_kueue_line(line, where)

    def recorded(
        self, line: Mapping[str, Any], where: str, release: str, requests: RequestsFrom
    ) -> Recorded | None:
        from planner.commands.replay.kueue import recorded_of_kueue

        return recorded_of_kueue(line, where, release, requests)

    def replay_live(self, before: AnyState, after: AnyState) -> LiveReplay:
        from planner.commands.replay.kueue_live import replay_live

        return replay_live(before, after)

    @property
    def reporting(self) -> Reporting[Plan]:
        from planner.report.kueue import plan

        return plan

    def explained(self, answer: Explanation) -> Explained:
        from planner.report.kueue.explanation import explained

        return explained(answer)

    @property
    def renderers(self) -> Mapping[type, Renderer[Any]]:
        from planner.report.kueue.own import RENDERERS

        return RENDERERS

    @property
    def options(self) -> Mapping[str, Option[Any]]:
        from planner.cli.kueue_option import OPTIONS

        return OPTIONS

    def own_command(self, name: str) -> click.Command | None:
        if name != "boost":
            return None
        from planner.cli.kueue_boost import command

        return command

    @property
    def schemas(self) -> Mapping[str, Schema]:
        from planner.cli.kueue_schemas import SCHEMAS

        return SCHEMAS


KUEUE: Final = Kueue()
