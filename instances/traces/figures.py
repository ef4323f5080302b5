"""The README's figures about traces, with 95% confidence intervals, from audits of their states.

    planner import philly philly.csv --instants 500 --seed 1 -o philly.jsonl.gz
    planner audit philly.jsonl.gz --fail-on never --format json -o philly.json
    python instances/traces/figures.py philly.json

    planner import philly philly.csv --instants 500 --seed 1 --fair-sharing -o fair.jsonl.gz
    planner audit fair.jsonl.gz --fail-on never --format json -o fair.json
    python instances/traces/figures.py --paired philly.json fair.json

It prints a Markdown table with a row for each audit, or what the second of two has more than the
first, case by case: the states of both are the same but for an option. Shares are of the answers
that evict somebody within the rules, with the exact binomial interval; means are over the same, by
the bootstrap. "Fewer would do" may cost priority or work; "fewer, and no regret" is no worse in
either. "Hours run" is how long a victim ran, on average.
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
    "hours run",
    "accelerator-hours lost",
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
    judged = _judged(audit)
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
        _number(mean([case.terms["time"] / HOUR_S / len(case.victims) for case in judged])),
        _number(mean(lost)),
        _number(mean([_gap(case, "no-regret", "D4") / HOUR_S for case in judged])),
        f"{audit.summary.unproved:,}",
    )


def differences(first: Audit, second: Audit) -> str:
    """Return what the scheduler's own answers of the second audit have more, on average."""
    others = {_place(case): case for case in _judged(second)}
    pairs = [(one, others[_place(one)]) for one in _judged(first) if _place(one) in others]
    lost = [(other.terms["D4"] - one.terms["D4"]) / HOUR_S for one, other in pairs]
    parts = {
        "victims": mean([len(other.victims) - len(one.victims) for one, other in pairs]),
        "accelerator-hours lost": mean(lost),
    }
    lines = [f"{name:<22} {_number(interval)}\n" for name, interval in parts.items()]
    return f"{'both evict':<22} {len(pairs):,}\n" + "".join(lines)


def _judged(audit: Audit) -> list[Case]:
    """Return the cases in which the scheduler evicts somebody within the rules."""
    return [case for case in audit.cases if case.victims and not case.outside_rules]


def _place(case: Case) -> tuple[str, str]:
    """Return the line or file of a state without its folder, and who waits there."""
    return case.state.rpartition(": ")[2].rpartition("/")[2], case.pending


def _gap(case: Case, objective: str, term: str) -> int:
    """Return how much more of a term the scheduler's own answer has than the optimum."""
    return next(one.gaps[term] for one in case.judgements if one.objective == objective)


def _percent(interval: Interval) -> str:
    value, low, high = (f"{100 * bound:.1f}" for bound in interval)
    return f"{value}% ({low} to {high})"


def _number(interval: Interval) -> str:
    value, low, high = (f"{bound:.2f}" for bound in interval)
    return f"{value} ({low} to {high})"


def main(names: Sequence[str]) -> None:
    """Print a table of audits, or the differences of two."""
    paired = names[0] == "--paired"
    audits = {
        Path(name).stem: Audit.model_validate_json(Path(name).read_bytes())
        for name in names[paired:]
    }
    sys.stdout.write(differences(*audits.values()) if paired else figures(audits))


if __name__ == "__main__":
    main(sys.argv[1:])
