"""The README's figures about traces, with 95% confidence intervals, from audits of their states.

    planner import philly philly.csv --instants 500 --seed 1 -o philly.jsonl.gz
    planner audit philly.jsonl.gz --fail-on never --format json -o philly.json
    python instances/traces/figures.py philly.json

It prints a Markdown table with a row for each audit. Shares are of the answers that evict somebody
within the rules, with the exact binomial interval; means are over the same, by the bootstrap.
"Fewer would do" may cost priority or work; "fewer, and no regret" is no worse in either.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from planner.auditing import Audit, Case
from planner.study.confidence import Interval, mean, share

COLUMNS = (
    "states",
    "cases",
    "evicting",
    "infeasible",
    "fewer would do",
    "victims",
    "too many",
    "fewer, and no regret",
    "less disruptive possible",
    "GPU-hours lost",
    "avoidable",
    "unproved",
)
HOUR_S = 3600


def figures(audits: dict[str, Audit]) -> str:
    """Return the Markdown table of some audits by name."""
    lines = [
        ("trace", *COLUMNS),
        ("---", *("--:" for _ in COLUMNS)),
        *((name, *_row(audit)) for name, audit in audits.items()),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(audit: Audit) -> Sequence[str]:
    judged = [case for case in audit.cases if case.victims and not case.outside_rules]
    lost = [case.terms["D4"] / HOUR_S for case in judged]
    return (
        f"{audit.summary.states:,}",
        f"{audit.summary.cases:,}",
        f"{len(judged):,}",
        f"{audit.summary.infeasible:,}",
        _percent(share(sum("count" in case.findings for case in judged), len(judged))),
        _number(mean([len(case.victims) for case in judged])),
        _number(mean([_gap(case, "min-count", "count") for case in judged])),
        _percent(share(sum(_gap(case, "no-regret", "D2") > 0 for case in judged), len(judged))),
        _percent(share(sum("disruption" in case.findings for case in judged), len(judged))),
        _number(mean(lost)),
        _number(mean([_gap(case, "no-regret", "D4") / HOUR_S for case in judged])),
        f"{audit.summary.unproved:,}",
    )


def _gap(case: Case, objective: str, term: str) -> int:
    """Return how much more of a term the scheduler's own answer has than the optimum."""
    return next(one.gaps[term] for one in case.judgements if one.objective == objective)


def _percent(interval: Interval) -> str:
    value, low, high = (f"{100 * bound:.1f}" for bound in interval)
    return f"{value}% ({low} to {high})"


def _number(interval: Interval) -> str:
    value, low, high = (f"{bound:.2f}" for bound in interval)
    return f"{value} ({low} to {high})"


if __name__ == "__main__":
    found = {
        Path(name).stem: Audit.model_validate_json(Path(name).read_bytes()) for name in sys.argv[1:]
    }
    sys.stdout.write(figures(found))
