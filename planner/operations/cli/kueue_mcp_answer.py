"""One call of a tool of ``planner mcp``: what may be asked, and the process that answers.

``python -m planner.operations.cli.kueue_mcp_answer`` reads a call from standard input and writes
its answer, both as JSON, within bounds that are set before (`planner.operations.serve.child`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import Field

import planner
from planner.errors import InputError, PlannerError, SchemaError, closest
from planner.operations.lint import lint
from planner.operations.serve.asked import (
    FOR_THE_PLAN,
    MOST_EDITS,
    TEXT,
    Bounded,
    Edit,
    Who,
    Why,
)
from planner.reader.complaint import checked

if TYPE_CHECKING:
    from pydantic import BaseModel as Answer

    from planner.state import AnyState

WIDTH: Final = 100
Code = Annotated[str, Field(max_length=20)]


class Tool(Bounded):
    """The arguments of a tool, which name no file but the state, and how it answers.

    ``published`` is the schema of its answers.
    """

    summary: ClassVar[str]
    published: ClassVar[str]
    state: str | None = Field(default=None, pattern=TEXT, max_length=4096)

    def answer(self, state: AnyState, seconds: float) -> Answer:
        """Answer from a state, within some seconds."""
        raise NotImplementedError


class PendingWorkloads(Tool):
    """The arguments of ``pending_workloads``."""

    summary = (
        "Who waits, by the keys that other tools take, which objectives there are, and what can be "
        "set in a what-if."
    )
    published = "settings"

    def answer(self, state: AnyState, seconds: float) -> Answer:  # noqa: ARG002 - it plans nothing
        """Say who waits, and what can be set."""
        from planner.commands.whatif.edit import settings
        from planner.objective.profiles import PROFILES

        summaries = {profile.name: profile.summary for profile in PROFILES.values()}
        return settings(state, state.pending, summaries)


class Plan(Tool, Who):
    """The arguments of ``plan``."""

    summary = (
        "Whom Kueue or YuniKorn would preempt for a pending workload, and the least disruptive "
        "set of victims that its rules permit, proved."
    )
    published = "plan"

    def answer(self, state: AnyState, seconds: float) -> Answer:
        """Plan for a workload."""
        from planner.cli.solve import within

        who = (self.pending, self.objective)
        return within(planner.solve(state, *who, time_limit=seconds, stability=None))


class Explain(Tool, Why):
    """The arguments of ``explain``."""

    summary = (
        "Why a pending workload waits or these victims must go, why another one need not, or why "
        "no preemption helps."
    )
    published = "explanation"

    def answer(self, state: AnyState, seconds: float) -> Answer:
        """Explain the plan for a workload."""
        who = (self.pending, self.victim, self.objective)
        return planner.explain(state, *who, time_limit=seconds)


class WhatIf(Tool, Who):
    """The arguments of ``whatif``."""

    summary = "What edits of quota, policies or priorities change for a pending workload."
    published = "whatif"
    edits: tuple[Edit, ...] = Field(
        max_length=MOST_EDITS,
        description="Edits such as clusterqueue/team-a.preemption.reclaimWithinCohort=Any; "
        "pending_workloads lists what can be set.",
    )

    def answer(self, state: AnyState, seconds: float) -> Answer:
        """Compare two plans."""
        half = seconds / 2
        return planner.whatif(state, self.edits, self.pending, self.objective, time_limit=half)


class Lint(Tool):
    """The arguments of ``lint``."""

    summary = "What the configuration makes possible, impossible or pointless in preemption."
    published = "lint"
    ignore: tuple[Code, ...] = Field(
        default=(), max_length=100, description="Codes of findings to ignore, such as KL-02."
    )

    def answer(self, state: AnyState, seconds: float) -> Answer:  # noqa: ARG002 - it plans nothing
        """Look at the configuration."""
        return lint(state, self.ignore)


TOOLS: Final[Mapping[str, type[Tool]]] = {
    "pending_workloads": PendingWorkloads,
    "plan": Plan,
    "explain": Explain,
    "whatif": WhatIf,
    "lint": Lint,
}
"""The tools by name."""


def asked(name: str, arguments: Mapping[str, Any]) -> Tool:
    """Return the arguments of a call, checked.

    Raises an InputError if there is no such tool, or an argument cannot be used.
    """
    if name not in TOOLS:
        close = closest(name, list(TOOLS))
        hint = f'did you mean "{close}"?' if close else ""
        raise SchemaError("tool", f"there is no tool {name!r}", ", ".join(TOOLS), hint)
    return checked(TOOLS[name], arguments, name, (), "the arguments")


def answered(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text and the structured content of an answer.

    Raises an InputError if the state or an argument cannot be used.
    """
    from planner.report.render import render
    from planner.report.style import dump
    from planner.report.whatif import render_settings

    tool = asked(call["tool"], call["arguments"])
    state, notes = _read(call)
    answer = tool.answer(state, call["seconds"] * FOR_THE_PLAN)
    is_list = isinstance(tool, PendingWorkloads)
    write: Callable[..., str] = render_settings if is_list else render
    text = write(answer, "table", width=WIDTH, color=False)
    said = "".join(f"note: {note}\n" for note in notes)
    return {"text": said + text, "structured": json.loads(dump(answer))}


def _read(call: Mapping[str, Any]) -> tuple[AnyState, tuple[str, ...]]:
    """Return the state of a file, or of the cluster with notes on what it lacks."""
    if call["state"] is not None:
        return planner.read(call["state"], max_bytes=call["max_bytes"]), ()
    from planner.operations.kubectl.call import Kubectl
    from planner.operations.kubectl.kueue_dump import take_dump

    how = dict(call["cluster"])
    what = {name: how.pop(name) for name in ("namespace", "configuration", "without")}
    how["as"] = how.pop("impersonated")
    taken = take_dump(Kubectl(**how, max_bytes=call["max_bytes"]), **what)
    return planner.read(taken.text().encode()), taken.notes


def main() -> None:
    """Answer the call on standard input."""
    call = json.load(sys.stdin)
    try:
        answer = answered(call)
    except InputError as error:
        answer = {"error": str(error)}
    except PlannerError as error:
        answer = {"error": f"a bug of the planner: {error}"}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
