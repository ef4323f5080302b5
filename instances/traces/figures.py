"""The README's figures about traces, with 95% confidence intervals, from audits of their states.

    planner import philly philly.csv --instants 500 --seed 1 -o philly.jsonl.gz
    planner audit philly.jsonl.gz --fail-on never --format json -o philly.json
    python instances/traces/figures.py philly.json

    planner import philly philly.csv --instants 500 --seed 1 --fair-sharing -o fair.jsonl.gz
    planner audit fair.jsonl.gz --fail-on never --format json -o fair.json
    python instances/traces/figures.py --paired philly.json fair.json

    planner import philly philly.csv --instants 120 --seed 1 --gang 128 -o gang128.jsonl.gz
    planner audit gang128.jsonl.gz --fail-on never --format json -o gang128.json
    python instances/traces/figures.py --shares philly.json gang128.json

It prints a Markdown table with a column for each audit; with ``--paired`` what the second of two
has more than the first, case by case: the states of both are the same but for an option; with
``--shares`` a row for each audit and only the shares, to see how they depend on an option. Shares
are of the answers that evict somebody within the rules, with the exact binomial interval; means and
medians are over the same, means by the bootstrap (BCa). "Fewer would do" may cost priority or work;
"fewer, and no regret" is no worse in either. "Hours run" is how long a victim ran, on average.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from planner.commands.audit.record import Audit, Case
from planner.commands.compare.confidence import Interval, mean, median, share

HOUR_S = 3600
PAIRED, SHARES = "--paired", "--shares"


def figures(audits: dict[str, Audit]) -> str:
    """Return the Markdown table of some audits by name, a column for each."""
    columns = [{**_shares(audit), **_means(audit)} for audit in audits.values()]
    lines = [
        ("", *audits),
        ("---", *("--:" for _ in audits)),
        *((what, *(column[what] for column in columns)) for what in columns[0]),
    ]
    return _table(lines)


def shares(audits: dict[str, Audit]) -> str:
    """Return the Markdown table of the shares alone, a row for each audit."""
    rows = {name: _shares(audit) for name, audit in audits.items()}
    titles = next(iter(rows.values()))
    lines = [("", *titles), ("---", *("--:" for _ in titles))]
    return _table([*lines, *((name, *row.values()) for name, row in rows.items())])


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _shares(audit: Audit) -> dict[str, str]:
    judged = _judged(audit)
    return {
        "states": f"{audit.summary.states:,}",
        "decisions that evict somebody": f"{len(judged):,}",
        "proved: no legal victims": f"{audit.summary.infeasible:,}",
        "not proved": f"{audit.summary.unproved:,}",
        "fewer would do": _percent([case.smallest is False for case in judged]),
        "fewer, and no regret": _percent(
            [_gap(case, "no-regret", "workloads") > 0 for case in judged]
        ),
        "less disruptive possible": _percent(["disruption" in case.findings for case in judged]),
    }


def _means(audit: Audit) -> dict[str, str]:
    judged = _judged(audit)
    of_each: dict[str, list[float]] = {
        "victims": [len(case.victims) for case in judged],
        "too many": [len(case.victims) - case.fewest for case in judged if case.fewest is not None],
        "hours that a victim ran": [
            case.terms["run_time"] / HOUR_S / len(case.victims) for case in judged
        ],
        "accelerator-hours lost": [case.terms["lost_work"] / HOUR_S for case in judged],
        "of these avoidable": [_gap(case, "no-regret", "lost_work") / HOUR_S for case in judged],
    }
    found: dict[str, str] = {}
    for name, values in of_each.items():
        found[f"{name}, mean"] = _number(mean(values)) if values else "-"
        found[f"{name}, median"] = _number(median(values)) if values else "-"
    return found


def differences(first: Audit, second: Audit) -> str:
    """Return what the scheduler's own answers of the second audit have more, on average."""
    others = {_place(case): case for case in _judged(second)}
    pairs = [(one, others[_place(one)]) for one in _judged(first) if _place(one) in others]
    lost = [(other.terms["lost_work"] - one.terms["lost_work"]) / HOUR_S for one, other in pairs]
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


def _percent(holds: Sequence[bool]) -> str:
    if not holds:
        return "-"
    value, low, high = (f"{100 * bound:.1f}" for bound in share(sum(holds), len(holds)))
    return f"{value}% ({low} to {high})"


def _number(interval: Interval) -> str:
    value, low, high = (f"{bound:.2f}" for bound in interval)
    return f"{value} ({low} to {high})"


def main(names: Sequence[str]) -> None:
    """Print a table of audits, their shares alone, or the differences of two."""
    mode = names[0] if names[0] in {PAIRED, SHARES} else ""
    audits = {
        Path(name).stem: Audit.model_validate_json(Path(name).read_bytes())
        for name in names[bool(mode) :]
    }
    if mode == PAIRED:
        sys.stdout.write(differences(*audits.values()))
    else:
        sys.stdout.write(shares(audits) if mode else figures(audits))


if __name__ == "__main__":
    main(sys.argv[1:])
