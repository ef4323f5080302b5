"""The README's figures about the scheduler's own answers, with 95% confidence intervals.

Run it on audits of states that were not chosen for what comes out, such as all of a recording but
the files ``small-*``, or what a seed makes::

    planner audit instances/recorded/classical-*.jsonl.gz instances/recorded/fair-*.jsonl.gz \
        --fail-on never --format json -o recorded.json
    planner generate hierarchical --count 100 -o hierarchical.jsonl.gz
    planner audit hierarchical.jsonl.gz --fail-on never --format json -o hierarchical.json
    python instances/recorded/figures.py recorded.json hierarchical.json

It prints a Markdown table, a row for each audit and rule set, and below it where the states come
from. Shares are of the answers that evict somebody within the rules, with the exact binomial
interval; "no regret" is fewer victims under the caps of no-regret. How many are too many is a mean,
by the bootstrap (BCa), then the median and the worst.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from planner.commands.audit.record import Audit, Case
from planner.commands.compare.confidence import mean, median, share

RULES = {
    "kueue-classical": "classical",
    "kueue-fair": "fair sharing",
    "yunikorn-design": "YuniKorn",
    "yunikorn-required-node": "YuniKorn, required node",
}
COLUMNS = (
    "states",
    "rules",
    "evicting",
    "fewer would do",
    "fewer, no regret",
    "too many",
    "less disruptive possible",
    "needless victims",
    "finds nobody, wrongly",
    "outside its rules",
    "not proved",
)
SELECTED = "small-"
CHOSEN = "chosen because fewer victims would often do, so that shares are too high"
MANY = 12


def figures(audits: dict[str, Audit]) -> str:
    """Return the Markdown table of some audits by name, and the sampling frame of each."""
    lines = [COLUMNS, ["---", "---", *("--:" for _ in COLUMNS[2:])]]
    for name, audit in audits.items():
        groups = {
            said: [c for c in audit.cases if c.rules == rules] for rules, said in RULES.items()
        }
        lines += [[name, said, *_row(cases)] for said, cases in groups.items() if cases]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return table + "\n" + "".join(f"* {name}: {_frame(audit)}\n" for name, audit in audits.items())


def _row(cases: Sequence[Case]) -> list[str]:
    judged = [case for case in cases if case.victims and not case.outside_rules]
    fewer = [_too_many(case) for case in judged]
    regretless = [_gap(case, "no-regret", "workloads") > 0 for case in judged]
    return [
        f"{sum(bool(case.victims) for case in cases):,} of {len(cases):,}",
        _share([case.smallest is False for case in judged]),
        _share(regretless),
        _gaps(fewer),
        _share(["disruption" in case.findings for case in judged]),
        f"{sum('redundant' in case.findings for case in judged):,}",
        f"{sum('missed' in case.findings for case in cases):,}",
        f"{sum('rules' in case.findings for case in cases):,}",
        f"{sum(not case.proved for case in cases):,}",
    ]


def _too_many(case: Case) -> int:
    """Return how many victims more than the fewest the scheduler's own answer has, if known."""
    return 0 if case.fewest is None else len(case.victims) - case.fewest


def _gap(case: Case, objective: str, term: str) -> int:
    """Return how much more of a term the scheduler's own answer has than the optimum."""
    found = [one for one in case.judgements if one.objective == objective]
    return found[0].gaps.get(term, 0) if found else 0


def _share(holds: Sequence[bool]) -> str:
    if not holds:
        return "-"
    value, low, high = (f"{100 * bound:.0f}" for bound in share(sum(holds), len(holds)))
    return f"{value}% ({low} to {high})"


def _gaps(gaps: Sequence[int]) -> str:
    if not gaps:
        return "-"
    value, low, high = mean(gaps)
    return f"{value:.2f} ({low:.2f} to {high:.2f}), {median(gaps).value:g}, {max(gaps)}"


def _frame(audit: Audit) -> str:
    """Say from which files the states are, and whether some were chosen for what came out."""
    files = sorted({Path(case.state.partition(": ")[0]).name for case in audit.cases})
    said = ", ".join(files) if len(files) <= MANY else f"{len(files):,} files"
    chosen = [file for file in files if file.startswith(SELECTED)]
    aside = f"; {', '.join(chosen)}: {CHOSEN}" if chosen else ""
    return f"{audit.summary.states:,} states of {said}{aside}"


if __name__ == "__main__":
    audits = {
        Path(name).stem: Audit.model_validate_json(Path(name).read_bytes()) for name in sys.argv[1:]
    }
    sys.stdout.write(figures(audits))
