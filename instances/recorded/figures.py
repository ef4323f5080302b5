"""The README's figures about the scheduler's own answers, from an audit of recorded states.

Run it on files of recorded states, those of this folder or more of the kind::

    planner audit instances/recorded/*.jsonl.gz --fail-on never --format json -o audit.json
    python instances/recorded/figures.py audit.json

It prints a Markdown table: one row for each rule set, one for all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from planner.auditing import Audit, Case

RULES = {
    "kueue-classical": "Kueue, classical",
    "kueue-fair": "Kueue, fair sharing",
    "yunikorn-design": "YuniKorn",
    "yunikorn-required-node": "YuniKorn, required node",
}
COLUMNS = (
    "Rules",
    "Cases",
    "Evicting",
    "Fewer would do",
    "Mean gap",
    "Worst gap",
    "Less disruption possible",
    "Needless victims",
    "Finds nobody, wrongly",
    "Outside its rules",
    "Unproved",
)


def figures(audit: Audit) -> str:
    """Return the Markdown table of an audit."""
    groups = [(name, [c for c in audit.cases if c.rules == rules]) for rules, name in RULES.items()]
    rows = [_row(name, cases) for name, cases in groups if cases]
    rows.append(_row("all", audit.cases))
    lines = [COLUMNS, ["---"] + ["--:"] * (len(COLUMNS) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(name: str, cases: Sequence[Case]) -> list[str]:
    gaps = [
        judgement.gaps["count"]
        for case in cases
        for judgement in case.judgements
        if judgement.objective == "min-count" and judgement.gaps and not case.outside_rules
    ]
    mean = sum(gaps) / len(gaps) if gaps else 0.0
    return [
        name,
        f"{len(cases):,}",
        _share(cases, len(cases), (bool(case.victims) for case in cases)),
        _share(cases, len(gaps), ("count" in case.findings for case in cases)),
        f"{mean:.2f}",
        f"{max(gaps, default=0)}",
        _share(cases, len(gaps), ("disruption" in case.findings for case in cases)),
        _share(cases, len(gaps), ("redundant" in case.findings for case in cases)),
        f"{sum('missed' in case.findings for case in cases):,}",
        f"{sum('rules' in case.findings for case in cases):,}",
        f"{sum(not case.proved for case in cases):,}",
    ]


def _share(cases: Sequence[Case], whole: int, holds: Iterable[bool]) -> str:
    count = sum(holds)
    return f"{count:,} ({count / whole:.1%})" if whole and cases else "0"


if __name__ == "__main__":
    sys.stdout.write(figures(Audit.model_validate_json(Path(sys.argv[1]).read_bytes())))
