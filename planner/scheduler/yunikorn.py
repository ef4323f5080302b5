"""YuniKorn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner.scheduler.record import Scheduler, Words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from planner.cli.value import Option
    from planner.commands.check.plan import Checker
    from planner.commands.explain.yunikorn.inquiry import YuniKornInquiry
    from planner.commands.explain.yunikorn.record import YuniKornExplanation
    from planner.commands.replay.comparison import Comparison, Recorded
    from planner.commands.whatif.edit import Editing
    from planner.coverage.answer import Covering
    from planner.laws.law import Law
    from planner.plan import Verification
    from planner.plan.yunikorn import YuniKornPlan
    from planner.proof.yunikorn.rules import YuniKornRules
    from planner.reader.parse import Document
    from planner.reader.settings import Settings
    from planner.reader.source import Holds
    from planner.reader.unknown import Ignored
    from planner.report.explanation import Explained
    from planner.report.plan import Reporting
    from planner.solver.start import Planner
    from planner.solver.yunikorn.planning import YuniKornPlanning
    from planner.state import RequestsFrom
    from planner.state.yunikorn import YuniKornState


class YuniKorn(
    Scheduler[
        "YuniKornState", "YuniKornPlan", "YuniKornPlanning", "YuniKornRules", "YuniKornExplanation"
    ]
):
    """YuniKorn."""

    id = "yunikorn"
    words = Words(
        name="YuniKorn",
        verb="preempt",
        noun="allocation",
        queue="Queue",
        outside="YuniKorn's own answer breaks {law}",
        judge="YuniKorn's own arithmetic does",
        choice="YuniKorn's own choice",
        rules={
            "yunikorn-design": "laws as designed",
            "yunikorn-written": "laws as written",
            "yunikorn-code": "laws as coded",
            "yunikorn-required-node": "required node",
            "yunikorn-lowered-quota": "lowered quota",
        },
        terms={
            "last_resort": "last-resort victims",
            "workloads": "allocations preempted",
            "pods": "pods preempted",
            "victims": "victims, those already being preempted included",
            "victims@each": "victims of each adjusted priority, from the highest down",
            "victims@": "victims of adjusted priority {}",
        },
    )
    help = {
        "pending": "; an ask of YuniKorn by its allocation key or pod",
        "solve": "  planner solve instances/yunikorn/quickstart --laws code\n"
        "  planner solve dump.json --quota root.research\n",
        "explain": "  planner explain instances/yunikorn/quickstart --victim "
        "etl/sessions-hourly-exec-9\n"
        "  planner explain dump.json --quota root.research\n",
        "generate": "  planner generate yunikorn --count 100 -o states.jsonl.gz\n",
        "algorithms": "  yunikorn            the scheduler's own answer, of YuniKorn only\n",
    }

    @property
    def laws(self) -> tuple[Law, ...]:
        from planner.laws.yunikorn import LAWS

        return LAWS

    def read_documents(
        self, documents: Sequence[Document], settings: Settings, ignored: Ignored | None
    ) -> YuniKornState | None:
        from planner.reader.yunikorn_read import read

        return read(documents, settings, ignored)

    def holds_state(self, data: bytes) -> Holds:
        from planner.reader.yunikorn_files import holds

        return holds(data)

    @property
    def plan(self) -> type[YuniKornPlan]:
        from planner.plan.yunikorn import YuniKornPlan

        return YuniKornPlan

    @property
    def planning(self) -> Planner[YuniKornState, YuniKornPlan, YuniKornPlanning, YuniKornRules]:
        from planner.solver.yunikorn import start

        return start

    def verify_plan(self, state: YuniKornState, plan: YuniKornPlan) -> Verification:
        from planner.verifier.yunikorn import verify_yunikorn_plan

        return verify_yunikorn_plan(state, plan)

    @property
    def checker(self) -> Checker[YuniKornState, YuniKornPlan]:
        from planner.commands.check.yunikorn import check_yunikorn

        return check_yunikorn

    def coverage_of(self, state: YuniKornState) -> Covering[YuniKornPlan]:
        from planner.coverage.yunikorn import YuniKornCoverage

        return YuniKornCoverage(state)

    @property
    def explanation(self) -> type[YuniKornExplanation]:
        from planner.commands.explain.yunikorn.record import YuniKornExplanation

        return YuniKornExplanation

    @property
    def explainer(self) -> type[YuniKornInquiry]:
        from planner.commands.explain.yunikorn.inquiry import YuniKornInquiry

        return YuniKornInquiry

    @property
    def editing(self) -> Editing[YuniKornState]:
        from planner.commands.whatif import yunikorn_edit

        return yunikorn_edit

    def replay_line(self, line: Mapping[str, Any], where: str) -> Comparison | None:
        from planner.commands.replay.yunikorn import replay_yunikorn_line

        return replay_yunikorn_line(line, where)

    def recorded(
        self, line: Mapping[str, Any], where: str, release: str, requests: RequestsFrom
    ) -> Recorded | None:
        from planner.commands.replay.yunikorn import recorded_of_yunikorn

        return recorded_of_yunikorn(line, where)

    @property
    def reporting(self) -> Reporting[YuniKornPlan]:
        from planner.report.yunikorn import plan

        return plan

    def explained(self, answer: YuniKornExplanation) -> Explained:
        from planner.report.yunikorn.explanation import explained

        return explained(answer)

    @property
    def options(self) -> Mapping[str, Option[Any]]:
        from planner.cli.yunikorn_option import OPTIONS

        return OPTIONS


YUNIKORN: Final = YuniKorn()
