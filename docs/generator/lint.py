"""Every kind of finding of ``planner lint`` as a page: what it finds, why it matters, what helps.

Codes, titles and severities are those of the records; a kind that nothing is said of here fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from generator.citations import linked
from planner.operations.lint.lint import KINDS, Kind

PAGE: Final = "reference/lint.md"
HEAD: Final = """# Lint codes

What [`planner lint`](../how-to/lint.md) can find. Codes are stable: one that is no longer found is
not used again. An *error* is what the scheduler refuses, or what can never do what it says; a
*warning* can surprise; a *note* is a setting that does nothing. The families:

ping-pong
:   Workloads evict one another, again and again.

impossible
:   Preemption that the configuration seems to ask for finds nobody.

useless
:   A setting changes nothing.

starvation
:   A workload waits, and the scheduler never reaches it.

nodes
:   The nodes, or what a topology makes of them, are not what is asked of them.

mistake
:   A name, a limit or an amount that cannot be meant.

Nothing is reported on suspicion: with each finding comes a smallest state, made of the objects
concerned, in which the scheduler's own algorithm does what the finding says, and does not once it
is cured. `--examples FOLDER` writes these states. What is shown below is what leads to a finding;
all else is left out.
"""


def page() -> str:
    """Return the page of all kinds of findings."""
    rows = [
        f"| [{kind.code}](#{kind.code.lower()}) | {kind.title} | {kind.family} | {kind.severity} |"
        for kind in KINDS.values()
    ]
    parts = [HEAD, "\n".join(["| code | what | family | severity |", "|---|---|---|---|", *rows])]
    schedulers = {"KL": "Kueue", "YL": "YuniKorn"}
    for prefix, name in schedulers.items():
        parts.append(f"## {name}")
        for kind in KINDS.values():
            if kind.code.startswith(prefix):
                parts.extend(_kind(kind))
    return "\n\n".join(parts) + "\n"


def _kind(kind: Kind) -> Iterator[str]:
    yield f"### {kind.code} {kind.title} {{ #{kind.code.lower()} }}"
    yield f"*{kind.severity}, {kind.family}.* {kind.why}"
    yield f"```yaml\n{kind.example}\n```"
    yield f"**What helps:** {kind.cure}"
    yield f"Source: {linked(kind.source, PAGE)}"
