"""Print the suite of PreemptBench: its cases, and what is proved of each.

The list below was fixed before anything was solved: seeds are 1, 2, ... of their kind. Two kinds of
cases were exchanged for what came of them: `last-victim` of 60 numbers up to 10,000 had no proof
after minutes, nor had large states of fair sharing that lack 16 workloads of average size, and a
suite of proven optima cannot have them; of 24 up to 1,000, and 6, stand in their place. A change of
the list, or of a generator that changes a state, is another version of the suite.

    python instances/bench/make.py proved.jsonl > instances/bench/suite.json

What is proved is kept in the file that is named, and the next run goes on from there.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Final

from proving import proved

from planner.batch import Settings, Task, run
from planner.research.bench.record import Case, Source, Suite
from planner.research.bench.run import digest_of

HERE: Final = Path(__file__).resolve().parent
VERSION: Final = "1.0"
OBJECTIVES: Final = (
    "least-disruption",
    "min-count",
    "min-lost-work",
    "fewest-tenants",
    "exact-fit",
)
"""None has caps: a cap is the scheduler's own value, and other rivals know nothing of it."""

Knobs = dict[str, bool | int | str]
BROKEN_UP: Final[Knobs] = {"topology": True, "fragmentation": 40}
SWEEP: Final[Knobs] = {"shapes": "distinct", "victims": 16}
FAIR_SWEEP: Final[Knobs] = {"shapes": "distinct", "victims": 6, "workloads": 600}
ALL_IN: Final[Knobs] = {"opted_out": 0}
"""Whoever opted out goes only where nobody else will do: that no verdict on one set can tell."""


def drawn(  # noqa: PLR0913 - what a row of the list says
    name: str,
    kind: str,
    preset: str,
    seeds: int,
    knobs: Knobs | None = None,
    *,
    hard: bool = False,
    quick: int = 0,
    rules: str | None = None,
) -> list[Case]:
    """Return cases of a generator's preset, of seeds from 1 on; the first are for the quick run."""
    return [
        Case(
            name=f"{name}-{seed}",
            kind=kind,
            size="small",
            hard=hard,
            quick=seed <= quick,
            source=Source(preset=preset, seed=seed, knobs=knobs or {}),
            rules=rules,
        )
        for seed in range(1, seeds + 1)
    ]


def of_family(name: str, family: str, *, quick: bool = False, **numbers: int) -> Case:
    """Return a case of a theorem."""
    source = Source(family=family, numbers=numbers)
    return Case(name=name, kind="classical", size="small", hard=True, quick=quick, source=source)


def recorded(line: int, pending: str) -> Case:
    """Return a case of a recorded line with an elastic workload."""
    source = Source(file="elastic.jsonl", line=line)
    return Case(
        name=f"elastic-{line}",
        kind="elastic",
        size="small",
        quick=True,
        source=source,
        pending=pending,
    )


CASES: Final = (
    *drawn("classical-small", "classical", "small", 4, quick=4),
    *drawn("fair-small", "fair", "small", 4, {"fair": True, "weights": 40}, quick=4),
    *drawn("topology-small", "topology", "small", 4, {"topology": True}, quick=4),
    *drawn("kep83-small", "kep83", "small", 4, quick=4, rules="kep83"),
    *drawn("yunikorn-small", "yunikorn", "yunikorn-small", 4, ALL_IN, quick=4),
    *(recorded(line, pending) for line, pending in enumerate(["ns/job0-2"] * 4, start=1)),
    of_family("crowd-10", "crowd", small=10, quick=True),
    of_family("last-victim-8", "last-victim", count=8, most=20, seed=1, quick=True),
    of_family("no-last-victim-8", "last-victim", count=8, most=20, seed=1, beyond=1, quick=True),
    of_family("same-size-sum-10", "same-size-sum", count=10, most=50, seed=1, quick=True),
    *drawn("classical", "classical", "flat", 3, quick=2),
    *drawn("hierarchical", "classical", "hierarchical", 3, quick=2),
    *drawn("borrowing", "classical", "borrowing", 3, quick=1),
    *drawn("hard", "classical", "hard", 3, hard=True, quick=2),
    *drawn("fair", "fair", "fair", 3, quick=2),
    *drawn("fair-hierarchical", "fair", "fair-hierarchical", 3, quick=1),
    *drawn("topology", "topology", "flat", 3, BROKEN_UP, quick=2),
    *drawn("kep83", "kep83", "hierarchical", 3, quick=2, rules="kep83"),
    *drawn("yunikorn", "yunikorn", "yunikorn", 3, ALL_IN, quick=2),
    *drawn("yunikorn-hierarchical", "yunikorn", "yunikorn-hierarchical", 3, ALL_IN, quick=1),
    *drawn("yunikorn-hard", "yunikorn", "yunikorn-hard", 3, ALL_IN, hard=True, quick=1),
    of_family("crowd-100", "crowd", small=100, quick=True),
    of_family("last-victim-24", "last-victim", count=24, most=1_000, seed=1),
    of_family("same-size-sum-60", "same-size-sum", count=60, most=1_000, seed=1),
    *drawn("classical-large", "classical", "hierarchical", 2, SWEEP | {"workloads": 1000}),
    *drawn("fair-large", "fair", "fair-hierarchical", 2, FAIR_SWEEP),
    *drawn("topology-large", "topology", "flat", 2, BROKEN_UP | {"workloads": 600, "hosts": 8}),
    *drawn("kep83-large", "kep83", "hierarchical", 2, SWEEP | {"workloads": 1000}, rules="kep83"),
    *drawn("yunikorn-large", "yunikorn", "yunikorn-large", 2, ALL_IN),
    *drawn("kueue-baseline", "classical", "kueue-baseline", 1),
    *drawn("ten-thousand", "classical", "large", 1),
    of_family("crowd-1000", "crowd", small=1000),
)


def main(journal: str) -> None:
    """Prove every case, and print the suite."""
    rows = run(
        [Task(case.name, case, digest_of([case.model_dump_json()])) for case in CASES],
        partial(proved, OBJECTIVES, HERE),
        Settings(file=Path(journal), resume=True),
        header={"suite": VERSION, "objectives": list(OBJECTIVES)},
    )
    for row in rows:
        if row.result is None:
            sys.exit(f"{row.key}: {row.detail}")
    done = tuple(Case.model_validate(row.result) for row in rows)
    suite = Suite(name="PreemptBench", version=VERSION, objectives=OBJECTIVES, cases=done)
    # Only what is said: what is left out is what it is by default.
    value = suite.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    sys.stdout.write(json.dumps({"schema": "planner/v1"} | value, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
