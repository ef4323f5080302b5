"""Disruption terms, objectives and annotations as a page."""

from __future__ import annotations

from planner.objective import annotation, profile_file, terms
from planner.objective.profiles import PROFILES, measure_id
from planner.objective.terms import TERMS

HEAD = """# Terms and objectives

Disruption is a vector of whole numbers, the terms. Every plan reports all of them, for itself and
for the scheduler's own choice. An objective says which of them are minimised, one level after the
other, and which may not be above the scheduler's own.
"""


def page() -> str:
    """Return the page of terms, objectives, files of objectives, and annotations."""
    listed = [
        f"| {term.id} | {term.title} | {term.unit} | {'sum' if term.per_workload else 'set'} |"
        for term in TERMS.values()
    ]
    chosen = [
        f"| `{profile.name}` | {profile.summary} | {', '.join(map(measure_id, profile.levels))} | "
        f"{', '.join(map(measure_id, profile.caps)) or '-'} |"
        for profile in PROFILES.values()
    ]
    return "\n\n".join(
        [
            HEAD,
            "## Terms",
            "A term is a sum over the victims, or belongs to the set of them as a whole. "
            + (terms.__doc__ or "").partition("Amounts")[1]
            + _prose((terms.__doc__ or "").partition("Amounts")[2]),
            "\n".join(["| term | what | unit | of |", "|---|---|---|---|", *listed]),
            "## Objectives",
            "\n".join(
                [
                    "| objective | what it promises | minimised in this order | capped |",
                    "|---|---|---|---|",
                    *chosen,
                ]
            ),
            "## Files of your own",
            (profile_file.__doc__ or "").replace("::\n", ":\n"),
            "## Annotations of workloads",
            _definitions(annotation.__doc__ or ""),
        ]
    )


def _prose(text: str) -> str:
    return " ".join(text.split())


def _definitions(text: str) -> str:
    """Return a list of NumPy's form, a term and an indented text, as Markdown's."""
    lines = []
    for line in text.splitlines():
        if line.startswith("``"):
            lines += ["", line]
        elif lines and lines[-1].startswith("``"):
            lines.append(f":   {line.strip()}")
        else:
            lines.append(line)
    return "\n".join(lines)
