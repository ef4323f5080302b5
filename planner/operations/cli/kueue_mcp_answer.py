"""One call of a tool of ``planner mcp``: what may be asked, and the process that answers.

``python -m planner.operations.cli.kueue_mcp_answer`` reads a call from standard input and writes
its answer, both as JSON, within bounds that are set before (`planner.operations.serve.child`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

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


class Asked(Bounded):
    """The arguments of a tool: they name no file but the state."""

    state: str | None = Field(default=None, pattern=TEXT, max_length=4096)


class AskedWho(Asked, Who):
    """As `Asked`, and for whom to plan, under which objective."""


class AskedWhy(Asked, Why):
    """As `AskedWho`, and about which workload to ask."""


class AskedWhatIf(AskedWho):
    """What to change."""

    edits: tuple[Edit, ...] = Field(
        max_length=MOST_EDITS,
        description="Edits such as clusterqueue/team-a.preemption.reclaimWithinCohort=Any; "
        "pending_workloads lists what can be set.",
    )


class AskedLint(Asked):
    """What to leave out."""

    ignore: tuple[Code, ...] = Field(
        default=(), max_length=100, description="Codes of findings to ignore, such as KL-02."
    )


class Tool(NamedTuple):
    """A tool: what it answers, its arguments, its published schema, and the function itself.

    The function takes a state, the arguments, and the seconds that it may take.
    """

    summary: str
    asked: type[Asked]
    schema: str
    answer: Callable[[AnyState, Any, float], Answer]


def _pending(state: AnyState, _: Asked, __: float) -> Answer:
    from planner.commands.whatif.edit import settings
    from planner.objective.profiles import PROFILES

    summaries = {profile.name: profile.summary for profile in PROFILES.values()}
    return settings(state, state.pending, summaries)


def _plan(state: AnyState, asked: AskedWho, seconds: float) -> Answer:
    from planner.cli.solve import within

    who = (asked.pending, asked.objective)
    return within(planner.solve(state, *who, time_limit=seconds, stability=None))


def _explain(state: AnyState, asked: AskedWhy, seconds: float) -> Answer:
    who = (asked.pending, asked.victim, asked.objective)
    return planner.explain(state, *who, time_limit=seconds)


def _whatif(state: AnyState, asked: AskedWhatIf, seconds: float) -> Answer:
    half = seconds / 2  # of the two plans
    return planner.whatif(state, asked.edits, asked.pending, asked.objective, time_limit=half)


def _lint(state: AnyState, asked: AskedLint, _: float) -> Answer:
    return lint(state, asked.ignore)


TOOLS: Final[Mapping[str, Tool]] = {
    "pending_workloads": Tool(
        "Who waits, by the keys that other tools take, which objectives there are, and what can be "
        "set in a what-if.",
        Asked,
        "settings",
        _pending,
    ),
    "plan": Tool(
        "Whom Kueue or YuniKorn would preempt for a pending workload, and the least disruptive "
        "set of victims that its rules permit, proved.",
        AskedWho,
        "plan",
        _plan,
    ),
    "explain": Tool(
        "Why a pending workload waits or these victims must go, why another one need not, or why "
        "no preemption helps.",
        AskedWhy,
        "explanation",
        _explain,
    ),
    "whatif": Tool(
        "What edits of quota, policies or priorities change for a pending workload.",
        AskedWhatIf,
        "whatif",
        _whatif,
    ),
    "lint": Tool(
        "What the configuration makes possible, impossible or pointless in preemption.",
        AskedLint,
        "lint",
        _lint,
    ),
}
"""The tools by name."""


def asked(name: str, arguments: Mapping[str, Any]) -> Asked:
    """Return the arguments of a call, checked.

    Raises an InputError if there is no such tool, or an argument cannot be used.
    """
    if name not in TOOLS:
        close = closest(name, list(TOOLS))
        hint = f'did you mean "{close}"?' if close else ""
        raise SchemaError("tool", f"there is no tool {name!r}", ", ".join(TOOLS), hint)
    return checked(TOOLS[name].asked, arguments, name, (), "the arguments")


def answered(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text and the structured content of an answer.

    Raises an InputError if the state or an argument cannot be used.
    """
    from planner.report.render import render
    from planner.report.style import dump
    from planner.report.whatif import render_settings

    tool, arguments = TOOLS[call["tool"]], asked(call["tool"], call["arguments"])
    state, notes = _read(call)
    answer: Any = tool.answer(state, arguments, call["seconds"] * FOR_THE_PLAN)
    write = render_settings if tool.answer is _pending else render
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
